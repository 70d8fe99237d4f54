// How a path belongs to a prefix: by whole segments.
#pragma once

#include <string_view>

namespace millwright::net {

// "/a" covers "/a" and "/a/b", not "/ab". No prefix ends with a slash; the empty one covers all.
inline bool covers(std::string_view prefix, std::string_view path) {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

}  // namespace millwright::net
