// The parts of a URL that signatures are made of.
#pragma once

#include <string_view>

namespace millwright::cloud {

struct UrlParts {
  std::string_view authority;  // without the scheme's own port, which clients leave out of Host
  std::string_view path;       // empty when there is none
  std::string_view query;      // without the question mark
};

// Views into `url`, whose fragment is ignored.
UrlParts split_url(std::string_view url);

}  // namespace millwright::cloud
