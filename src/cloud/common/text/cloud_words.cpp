#include "cloud/common/text/cloud_words.hpp"

#include "cloud/common/text/text.hpp"

#include <algorithm>
#include <array>

namespace millwright::cloud {
namespace {

constexpr std::size_t kMostWords = 1000;
constexpr std::string_view kMask = "***";
// In lower case, as ends of names: "adminPass", "X-Auth-Token".
constexpr std::array<std::string_view, 12> kSecretNames{
    "password", "passwd",    "pass",      "pwd",       "secret",     "token",
    "userdata", "user_data", "accesskey", "secretkey", "preinstall", "postinstall"};
constexpr std::string_view kBlanks = " \t";

bool ends_with_secret_name(std::string_view lower) {
  return std::any_of(kSecretNames.begin(), kSecretNames.end(),
                     [lower](std::string_view name) { return lower.ends_with(name); });
}

// Where the name before the ':' or '=' at `sign` ends, quotes (escaped or not) and blanks left out.
std::size_t end_of_name(std::string_view text, std::size_t sign) {
  const auto last = text.substr(0, sign).find_last_not_of(" \t\"'\\");
  return last == std::string_view::npos ? 0 : last + 1;
}

// Where the value that begins at `begin` ends. One in quotes ends at the same quote; its
// backslashes may be part of the quotes, as in JSON inside of JSON.
std::size_t end_of_value(std::string_view text, std::size_t begin) {
  const auto quote = text.find_first_not_of('\\', begin);
  if (quote != std::string_view::npos && (text[quote] == '"' || text[quote] == '\'')) {
    const auto mark = text.substr(begin, quote + 1 - begin);
    auto end = text.find(mark, quote + 1);
    while (end != std::string_view::npos && mark.size() == 1 && text[end - 1] == '\\') {
      end = text.find(mark, end + 1);
    }
    return end == std::string_view::npos ? text.size() : end + mark.size();
  }
  return std::min(text.find_first_of(" \t\r\n,;&}])", begin), text.size());
}

}  // namespace

std::string without_secrets(std::string_view text) {
  const auto lower = lower_case(text);
  std::string result;
  std::size_t copied = 0;
  for (auto sign = text.find_first_of(":="); sign != std::string_view::npos;
       sign = text.find_first_of(":=", sign + 1)) {
    const auto name = std::string_view(lower).substr(0, end_of_name(text, sign));
    const auto value = text.find_first_not_of(kBlanks, sign + 1);
    // The names within an object tell for themselves.
    if (sign < copied || value == std::string_view::npos || text[value] == '{' ||
        !ends_with_secret_name(name)) {
      continue;
    }
    result.append(text.substr(copied, value - copied)).append(kMask);
    copied = end_of_value(text, value);
  }
  result.append(text.substr(copied));
  if (result.size() > kMostWords) {
    auto end = kMostWords;
    while (end > 0 && (static_cast<unsigned char>(result[end]) & 0xC0U) == 0x80U) {
      --end;  // no character is cut in two
    }
    result.resize(end);
    result.append("...");
  }
  return result;
}

}  // namespace millwright::cloud
