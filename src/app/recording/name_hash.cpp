#include "app/recording/name_hash.hpp"

#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace millwright::app {
namespace {

constexpr std::size_t kKeyLength = 32;
// 35 bits: of a thousand parts in one place two are alike once in 70,000 recordings.
constexpr std::size_t kPartLength = 7;
constexpr std::size_t kWholeLength = 24;
constexpr std::size_t kMostOfAName = 63;

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_common(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kCommon{"default",
                                                           "kube-system",
                                                           "kube-public",
                                                           "kube-node-lease",
                                                           "true",
                                                           "false",
                                                           "system-cluster-critical",
                                                           "system-node-critical"};
  return text.empty() || is_number(text) ||
         std::find(kCommon.begin(), kCommon.end(), text) != kCommon.end();
}

}  // namespace

NameHash NameHash::make() {
  std::array<unsigned char, kKeyLength> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    throw std::runtime_error("OpenSSL cannot make a key");
  }
  return NameHash(std::string(bytes.begin(), bytes.end()));
}

std::string NameHash::part(std::string_view text, std::size_t length) const {
  static constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(),
           &size) == nullptr) {
    throw std::runtime_error("OpenSSL cannot compute an HMAC");
  }
  std::string out;
  for (std::size_t i = 0; i < length; ++i) {
    out += kAlphabet[digest[i] % kAlphabet.size()];
  }
  return out;
}

std::string NameHash::name(std::string_view name) const {
  std::string out;
  const auto dash = name.rfind('-');
  const bool numbered = dash != std::string_view::npos && is_number(name.substr(dash + 1));
  const auto end = numbered ? dash : name.size();
  const std::string number(name.substr(end));
  std::size_t begin = 0;
  while (begin <= end) {
    const auto next = std::min(name.find_first_of("-.", begin), end);
    if (next > begin) {
      out += part(name.substr(begin, next - begin), kPartLength);
    }
    if (next < end) {
      out += name[next];
    }
    begin = next + 1;
  }
  if (out.size() + number.size() > kMostOfAName) {
    out = part(name.substr(0, end), kWholeLength);
  }
  return out + number;
}

std::string NameHash::unless_common(std::string_view text) const {
  return is_common(text) ? std::string(text) : name(text);
}

}  // namespace millwright::app
