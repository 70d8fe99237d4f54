#include "app/program/open_files.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace millwright::app {

std::size_t allow_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return 0;
  }
  const rlim_t wanted = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, kOpenFiles));
  const rlimit raised{.rlim_cur = wanted, .rlim_max = limit.rlim_max};
  return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? wanted : limit.rlim_cur;
}

}  // namespace millwright::app
