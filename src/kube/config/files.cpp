#include "kube/config/files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace millwright::kube {
namespace {

using base::ErrorKind;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

base::Error file_error(const std::string& path, int code) {
  const auto kind = code == ENOENT ? ErrorKind::NotFound : ErrorKind::Invalid;
  return {kind, "cannot read " + path + ": " + std::strerror(code)};
}

}  // namespace

base::Result<std::string> read_file(const std::string& path) {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rbe"), close);
  if (!file) {
    return tl::unexpected(file_error(path, errno));
  }
  std::string text;
  std::array<char, 16'384> buffer{};
  while (true) {
    const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get());
    text.append(buffer.data(), count);
    if (text.size() > kMaxFileSize) {
      return base::fail(ErrorKind::Invalid, "cannot read " + path + ": it is larger than 4 MiB");
    }
    if (count < buffer.size()) {
      break;
    }
  }
  if (std::ferror(file.get()) != 0) {
    return tl::unexpected(file_error(path, errno));
  }
  return text;
}

std::string resolve_path(const std::string& directory, const std::string& path) {
  if (path.empty() || path.front() == '/' || directory.empty()) {
    return path;
  }
  return directory + "/" + path;
}

base::Result<std::string> clean_token(std::string_view text) {
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  if (text.empty()) {
    return base::fail(ErrorKind::Invalid, "the token is empty");
  }
  if (!std::ranges::all_of(text, [](unsigned char c) { return c > 0x20 && c < 0x7f; })) {
    return base::fail(ErrorKind::Invalid,
                      "the token has characters that cannot be sent in a header");
  }
  return std::string(text);
}

bool has_pem(std::string_view text, std::string_view label) {
  std::string end(label);
  end.append("-----");
  for (auto at = text.find("-----BEGIN "); at != std::string_view::npos;
       at = text.find("-----BEGIN ", at + 1)) {
    const auto line = text.substr(at + 11, text.substr(at + 11).find('\n'));
    if (line.find(end) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace millwright::kube
