#include "app/settings/setting_file.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <ios>

namespace millwright::app {

base::Result<std::string> read_setting_file(const std::string& path) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMost + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  if (file.bad() || !file.eof()) {
    return base::fail(base::ErrorKind::Invalid,
                      "names " + path + ", which cannot be read or has more than 1 MiB");
  }
  return text;
}

}  // namespace millwright::app
