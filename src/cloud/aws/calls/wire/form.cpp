#include "cloud/aws/calls/wire/form.hpp"

#include "millwright/net/http.hpp"

#include <array>
#include <charconv>

namespace millwright::cloud::aws {
namespace {

void append_encoded(std::string& out, std::string_view text) {
  while (true) {
    const auto space = text.find(' ');
    out += net::url_encode(text.substr(0, space));
    if (space == std::string_view::npos) {
      return;
    }
    out += '+';
    text.remove_prefix(space + 1);
  }
}

}  // namespace

Form::Form(std::string_view action, std::string_view version) : action_(action) {
  add("Action", action);
  add("Version", version);
}

Form& Form::add(std::string_view name, std::string_view value) {
  if (!body_.empty()) {
    body_ += '&';
  }
  append_encoded(body_, name);
  body_ += '=';
  append_encoded(body_, value);
  return *this;
}

Form& Form::add(std::string_view name, bool value) {
  return add(name, std::string_view(value ? "true" : "false"));
}

Form& Form::add_list(std::string_view name, std::span<const std::string> values) {
  int position = 0;
  for (const auto& value : values) {
    add(std::string(name).append(".").append(std::to_string(++position)), value);
  }
  return *this;
}

Form& Form::add_filter(std::string_view name, std::span<const std::string> values) {
  const auto prefix = "Filter." + std::to_string(++filters_);
  add(prefix + ".Name", name);
  return add_list(prefix + ".Value", values);
}

std::string decimal_text(double value) {
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

}  // namespace millwright::cloud::aws
