#include "cloud/common/environment.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <utility>

namespace millwright::cloud {
namespace {
constexpr std::streamsize kMaxFileSize = 4 << 20;
}

ProcessEnvironment process_environment(
    std::function<std::optional<std::string>(const std::string& name)> variable,
    std::map<std::string, std::string> settings) {
  std::erase_if(settings, [](const auto& setting) { return setting.second.empty(); });
  return {.variable = [variable = std::move(variable), settings = std::move(settings)](
                          const std::string& name) -> std::optional<std::string> {
            const auto set = settings.find(name);
            return set == settings.end() ? variable(name) : std::optional(set->second);
          },
          .read_file = read_small_file,
          .write_file = write_small_file};
}

base::Result<std::string> read_small_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const auto kind = errno == ENOENT ? base::ErrorKind::NotFound : base::ErrorKind::Invalid;
    return base::fail(kind, "cannot read " + path + ": " + std::strerror(errno));
  }
  std::string text(kMaxFileSize, '\0');
  file.read(text.data(), kMaxFileSize);
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (!file.eof()) {
    return base::fail(base::ErrorKind::Invalid,
                      "cannot read " + path + ": it is larger than 4 MiB or not a file");
  }
  return text;
}

base::Result<> write_small_file(const std::string& path, const std::string& text) {
  const std::string beside = path + ".new";
  errno = 0;
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file || std::rename(beside.c_str(), path.c_str()) != 0) {
    return base::fail(base::ErrorKind::Invalid,
                      "cannot write " + path + ": " + std::strerror(errno));
  }
  return {};
}

}  // namespace millwright::cloud
