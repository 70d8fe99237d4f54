#include "cloud/common/text/digest.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <stdexcept>

namespace millwright::cloud {
namespace {

// OpenSSL wants bytes as unsigned char.
const unsigned char* bytes_of(std::string_view data) {
  return reinterpret_cast<const unsigned char*>(data.data());
}

std::string to_text(const std::array<unsigned char, EVP_MAX_MD_SIZE>& bytes, unsigned int size) {
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

std::string hmac(const EVP_MD* digest, std::string_view key, std::string_view data) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned int size = 0;
  if (HMAC(digest, key.data(), static_cast<int>(key.size()), bytes_of(data), data.size(),
           out.data(), &size) == nullptr) {
    throw std::runtime_error("OpenSSL cannot compute an HMAC");
  }
  return to_text(out, size);
}

}  // namespace

std::string sha256(std::string_view data) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned int size = 0;
  if (EVP_Digest(data.data(), data.size(), out.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL cannot compute SHA-256");
  }
  return to_text(out, size);
}

std::string hmac_sha256(std::string_view key, std::string_view data) {
  return hmac(EVP_sha256(), key, data);
}

std::string hmac_sha1(std::string_view key, std::string_view data) {
  return hmac(EVP_sha1(), key, data);
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto value = static_cast<unsigned char>(c);
    text += kDigits[value >> 4U];
    text += kDigits[value & 15U];
  }
  return text;
}

}  // namespace millwright::cloud
