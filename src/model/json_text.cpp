// JSON text to values, with limits.
#include "millwright/model/codec.hpp"

#include <boost/json/parser.hpp>

namespace millwright::model {
namespace {

// "line 3, column 7" of an offset into the text.
std::string position_text(std::string_view text, std::size_t offset) {
  std::size_t line = 1;
  std::size_t column = 1;
  for (const char c : text.substr(0, offset)) {
    if (c == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

}  // namespace

base::Result<boost::json::value> parse_json(std::string_view text,
                                            boost::json::storage_ptr storage) {
  // Deep enough for a CustomResourceDefinition inside an AdmissionReview.
  constexpr std::size_t kMaxDepth = 64;
  boost::json::parse_options options;
  options.max_depth = kMaxDepth;
  boost::json::parser parser({}, options);
  parser.reset(std::move(storage));
  boost::json::error_code error;
  const std::size_t consumed = parser.write_some(text.data(), text.size(), error);
  if (!error) {
    const std::size_t rest = text.find_first_not_of(" \t\r\n", consumed);
    if (rest == std::string_view::npos) {
      return parser.release();
    }
    return base::fail(base::ErrorKind::Invalid,
                      "JSON: " + position_text(text, rest) + ": unexpected text after the value");
  }
  return base::fail(base::ErrorKind::Invalid,
                    "JSON: " + position_text(text, consumed) + ": " + error.message());
}

bool has_more_values(std::string_view text, std::size_t most) {
  if (text.size() / 2 < most) {
    return false;  // a value and what parts it from the next one are two bytes at least
  }
  std::size_t values = 1;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size() && values <= most; ++i) {
    const char c = text[i];
    if (in_text) {
      i += c == '\\' ? 1 : 0;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == ',' || c == '[' || c == '{') {
      ++values;
    }
  }
  return values > most;
}

}  // namespace millwright::model
