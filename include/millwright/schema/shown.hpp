// A value in a message.
#pragma once

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <cstddef>
#include <string>

namespace millwright::schema {

// Its JSON text, at most 120 bytes of it, cut between two characters.
inline std::string shown(const boost::json::value& value) {
  constexpr std::size_t kMostShown = 120;
  std::string text = boost::json::serialize(value);
  if (text.size() > kMostShown) {
    std::size_t cut = kMostShown;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) {
      --cut;
    }
    text.resize(cut);
    text += "...";
  }
  return text;
}

}  // namespace millwright::schema
