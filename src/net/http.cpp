#include "millwright/net/http.hpp"

#include <openssl/crypto.h>

#include <algorithm>

namespace millwright::net {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

// The value of one hexadecimal digit; -1 for any other character.
int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char l = lower(c);
  return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

bool is_unreserved(char c) {
  return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

std::string decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out.push_back(static_cast<char>(high * 16 + low));
        i += 2;
        continue;
      }
    }
    out.push_back(plus_is_space && text[i] == '+' ? ' ' : text[i]);
  }
  return out;
}

Response with_type(int status, std::string body, std::string type) {
  Response response;
  response.status = status;
  response.headers.set("Content-Type", std::move(type));
  response.body = std::move(body);
  return response;
}

}  // namespace

void Headers::set(std::string name, std::string value) {
  std::erase_if(entries_, [&](const auto& entry) { return same_name(entry.first, name); });
  entries_.emplace_back(std::move(name), std::move(value));
}

void Headers::add(std::string name, std::string value) {
  entries_.emplace_back(std::move(name), std::move(value));
}

const std::string* Headers::find(std::string_view name) const {
  for (const auto& [key, value] : entries_) {
    if (same_name(key, name)) {
      return &value;
    }
  }
  return nullptr;
}

std::string_view Headers::get(std::string_view name) const {
  const std::string* value = find(name);
  return value != nullptr ? std::string_view(*value) : std::string_view();
}

std::string_view Request::path() const {
  return std::string_view(target).substr(0, target.find('?'));
}

std::optional<std::string> Request::query(std::string_view name) const {
  const std::size_t mark = target.find('?');
  if (mark == std::string::npos) {
    return std::nullopt;
  }
  std::string_view rest = std::string_view(target).substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (decode(pair.substr(0, equals), true) == name) {
      return equals == std::string_view::npos ? std::string()
                                              : decode(pair.substr(equals + 1), true);
    }
  }
  return std::nullopt;
}

Response Response::text(int status, std::string body) {
  return with_type(status, std::move(body), "text/plain; charset=utf-8");
}

Response Response::json(int status, std::string body) {
  return with_type(status, std::move(body), "application/json");
}

bool is_same_secret(std::string_view told, std::string_view secret) {
  return told.size() == secret.size() &&
         CRYPTO_memcmp(told.data(), secret.data(), secret.size()) == 0;
}

std::string url_encode(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c)) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.push_back('%');
      out.push_back(kDigits[byte >> 4U]);
      out.push_back(kDigits[byte & 15U]);
    }
  }
  return out;
}

std::string url_decode(std::string_view text) {
  return decode(text, false);
}

}  // namespace millwright::net
