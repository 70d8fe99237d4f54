#include "millwright/base/base64.hpp"

#include <array>
#include <cstdint>

namespace millwright::base {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kInvalid = 255;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kInvalid);
  for (std::uint8_t i = 0; i < 64; ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = i;
  }
  return values;
}
constexpr auto kValues = make_values();

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += j <= count ? kAlphabet[group >> (18 - 6 * j) & 63U] : '=';
    }
  }
  return text;
}

Result<std::string> decode_base64(std::string_view text) {
  const auto refuse = [] { return fail(ErrorKind::Invalid, "it is not valid base64"); };
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  int digits = 0;
  int padding = 0;
  for (const char c : text) {
    if (is_space(c)) {
      continue;
    }
    const std::uint8_t value = kValues[static_cast<unsigned char>(c)];
    if (c == '=') {
      ++padding;
    } else if (value == kInvalid || padding > 0) {
      return refuse();
    }
    group = group << 6 | (c == '=' ? 0U : value);
    if (++digits == 4) {
      if (padding > 2) {
        return refuse();
      }
      for (int i = 0; i < 3 - padding; ++i) {
        bytes += static_cast<char>(group >> (16 - 8 * i) & 255U);
      }
      if (padding > 0) {
        digits = -1;  // nothing may follow
      } else {
        digits = 0;
      }
      group = 0;
    } else if (digits == 0) {
      return refuse();
    }
  }
  if (digits > 0) {
    return refuse();
  }
  return bytes;
}

}  // namespace millwright::base
