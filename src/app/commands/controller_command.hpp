// `millwright controller`: the long-running program beside a cluster.
#pragma once

#include "millwright/app/settings.hpp"

#include <map>
#include <string>

namespace millwright::app {

// The process's exit status; returns after SIGINT or SIGTERM, or when it could not start.
int run_controller(const std::map<std::string, std::string>& flags, const Environment& environment);

}  // namespace millwright::app
