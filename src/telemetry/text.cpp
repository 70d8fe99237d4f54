#include "telemetry/text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace millwright::telemetry {
namespace {

constexpr double kExact = 1e15;  // integers below are written as such

void append_escaped(std::string& text, std::string_view value) {
  if (value.find_first_of("\\\"\n") == std::string_view::npos) {
    text += value;
    return;
  }
  for (const char c : value) {
    if (c == '\n') {
      text += "\\n";
    } else {
      if (c == '\\' || c == '"') {
        text += '\\';
      }
      text += c;
    }
  }
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

Labels& Labels::add(std::string_view name, std::string_view value) {
  if (!text_.empty()) {
    text_ += ',';
  }
  text_.append(name).append("=\"");
  append_escaped(text_, value);
  text_ += '"';
  return *this;
}

void Text::gauge(std::string_view name, std::string_view help) {
  name_ = name;
  text_.append("# HELP ").append(name).append(" ").append(help);
  text_.append("\n# TYPE ").append(name).append(" gauge\n");
}

void Text::number(double value) {
  std::array<char, 32> digits{};
  const auto written = value == std::floor(value) && std::abs(value) < kExact
                           ? std::to_chars(digits.data(), digits.data() + digits.size(),
                                           static_cast<std::int64_t>(value))
                           : std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text_.append(digits.data(), written.ptr);
  text_ += '\n';
}

void Text::sample(const Labels& labels, double value) {
  text_.append(name_).append("{").append(labels.text()).append("} ");
  number(value);
}

void Text::sample(const Labels& labels, std::string_view name, std::string_view value,
                  double amount) {
  text_.append(name_).append("{").append(labels.text()).append(",");
  text_.append(name).append("=\"").append(value).append("\"} ");
  number(amount);
}

void Text::sample(double value) {
  text_.append(name_).append(" ");
  number(value);
}

std::string resource_label(std::string_view resource) {
  std::string text(resource);
  for (char& c : text) {
    c = c == '-' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

std::string label_name(std::string_view key) {
  std::string text(key);
  for (char& c : text) {
    c = is_letter_or_digit(c) ? c : '_';
  }
  return text;
}

}  // namespace millwright::telemetry
