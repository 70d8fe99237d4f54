// How many files and connections the process may have open.
#pragma once

#include <cstddef>

namespace millwright::app {

// More than all ports admit together, and what the API server and the clouds are called by.
inline constexpr std::size_t kOpenFiles = 4096;

// Lifts this process's own limit to kOpenFiles, as far as the system lets it; a higher one stays.
// Many container runtimes start a process with 1024, which callers of our ports could use up: then
// no call to the API server finds a descriptor. Returns the limit that holds now.
std::size_t allow_open_files();

}  // namespace millwright::app
