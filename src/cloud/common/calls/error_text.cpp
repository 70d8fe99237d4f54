#include "millwright/cloud/error_text.hpp"

namespace millwright::cloud {
namespace {

constexpr std::string_view kIdBegins = " (request id ";
constexpr std::string_view kIdEnds = ")";
constexpr std::string_view kCopyBegins = " Encoded authorization failure message: ";
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=";

void erase_ids(std::string& text) {
  auto begin = text.find(kIdBegins);
  while (begin != std::string::npos) {
    const auto end = text.find(kIdEnds, begin + kIdBegins.size());
    text.erase(begin, end == std::string::npos ? end : end + kIdEnds.size() - begin);
    begin = text.find(kIdBegins, begin);
  }
}

void erase_copies(std::string& text) {
  auto begin = text.find(kCopyBegins);
  while (begin != std::string::npos) {
    const auto end = text.find_first_not_of(kBase64, begin + kCopyBegins.size());
    text.erase(begin, end == std::string::npos ? end : end - begin);
    begin = text.find(kCopyBegins, begin);
  }
}

}  // namespace

std::string request_id_note(std::string_view id) {
  return id.empty() ? std::string() : std::string(kIdBegins).append(id).append(kIdEnds);
}

std::string lasting_text(std::string_view message) {
  std::string text(message);
  erase_ids(text);
  erase_copies(text);
  return text;
}

}  // namespace millwright::cloud
