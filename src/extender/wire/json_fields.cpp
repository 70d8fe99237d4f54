#include "extender/wire/json_fields.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::extender {
namespace {

// Some thousand pods to be evicted, each of which may be told of in full.
constexpr std::size_t kMostValues = 500'000;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

bool same_field_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

const boost::json::value* find_field(const boost::json::object& object, std::string_view name) {
  const boost::json::value* found = object.if_contains(name);
  if (found == nullptr) {
    const auto other = std::find_if(object.begin(), object.end(), [name](const auto& field) {
      return same_field_name({field.key().data(), field.key().size()}, name);
    });
    found = other == object.end() ? nullptr : &other->value();
  }
  return found == nullptr || found->is_null() ? nullptr : found;
}

base::Result<boost::json::value> parse_request(std::string_view text, RequestMemory& memory) {
  if (model::has_more_values(text, kMostValues)) {
    return base::fail(base::ErrorKind::Invalid, "more than 500,000 JSON values");
  }
  boost::json::parse_options options;
  options.max_depth = 64;
  boost::json::parser parser(memory.storage(), options);
  boost::json::error_code error;
  const std::size_t read = parser.write(text.data(), text.size(), error);
  if (error) {
    return base::fail(base::ErrorKind::Invalid,
                      "not JSON at byte " + std::to_string(read) + ": " + error.message());
  }
  return parser.release();
}

void append_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace millwright::extender
