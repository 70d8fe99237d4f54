#include "cloud/aws/node_class/kubelet_text.hpp"

#include "millwright/model/json_fields.hpp"

#include <boost/json.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

namespace millwright::cloud::aws {
namespace {

namespace json = boost::json;

// Beside what JSON requires, Go escapes what has a meaning in HTML, and the two line separators
// that JavaScript does not allow in a string.
std::string go_string(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kEscapes{
      {{"<", "\\u003c"},
       {">", "\\u003e"},
       {"&", "\\u0026"},
       {"\u2028", "\\u2028"},
       {"\u2029", "\\u2029"}}};
  std::string result = json::serialize(json::string(text));
  for (const auto& [plain, escaped] : kEscapes) {
    for (auto at = result.find(plain); at != std::string::npos; at = result.find(plain, at)) {
      result.replace(at, plain.size(), escaped);
      at += escaped.size();
    }
  }
  return result;
}

// The shortest text that reads back as itself, with an exponent only where Go writes one.
std::string go_number(double number) {
  const double size = std::abs(number);
  const bool has_exponent = size != 0 && (size < 1e-6 || size >= 1e21);
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                    has_exponent ? std::chars_format::scientific : std::chars_format::fixed);
  std::string text(buffer.data(), end.ptr);
  if (const auto zero = text.find("e-0"); zero != std::string::npos) {
    text.erase(zero + 2, 1);
  }
  return text;
}

void write_go(const json::value& value, std::string& out) {
  if (const auto* object = value.if_object()) {
    std::map<std::string_view, const json::value*> sorted;
    for (const auto& [key, each] : *object) {
      sorted.emplace(key, &each);
    }
    out += '{';
    for (const auto& [key, each] : sorted) {
      out += out.back() == '{' ? "" : ",";
      out += go_string(key) + ":";
      write_go(*each, out);
    }
    out += '}';
  } else if (const auto* array = value.if_array()) {
    out += '[';
    for (const auto& each : *array) {
      out += &each == &array->front() ? "" : ",";
      write_go(each, out);
    }
    out += ']';
  } else if (value.is_string()) {
    out += go_string(model::as_text(&value));
  } else {
    out += value.is_double() ? go_number(value.get_double()) : json::serialize(value);
  }
}

}  // namespace

std::string kubelet_text(const json::value& spec) {
  const auto* kubelet = model::member(spec, "kubelet");
  if (kubelet == nullptr || !kubelet->is_object() || kubelet->get_object().empty()) {
    return "null";
  }
  std::string text;
  write_go(*kubelet, text);
  return text;
}

}  // namespace millwright::cloud::aws
