// What the fuzz targets of several folders share.
#pragma once

#include <boost/json.hpp>

#include <optional>
#include <string_view>
#include <utility>

namespace millwright::fuzz {

// Ends the run like a crash; the stack names the line.
inline void expect(bool holds) {
  if (!holds) {
    __builtin_trap();
  }
}

// nullopt: it is no JSON, or deeper than anything that is read here may be.
inline std::optional<boost::json::value> read_json(std::string_view text) {
  boost::json::parse_options options;
  options.max_depth = 128;
  boost::json::error_code error;
  boost::json::value value =
      boost::json::parse(boost::json::string_view(text.data(), text.size()), error, {}, options);
  if (error) {
    return std::nullopt;
  }
  return value;
}

}  // namespace millwright::fuzz
