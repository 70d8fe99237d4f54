// `millwright what-if`: what would happen to a cluster, from files alone.
#pragma once

#include "app/whatif/forecast.hpp"

#include <string>
#include <vector>

namespace millwright::app {

// What the command prints.
base::Result<std::string> answer_what_if(const std::vector<std::string>& words,
                                         const ReadFile& read);

// Exit status 0 with a forecast, 1 when the question or the files are wrong.
int run_what_if(const std::vector<std::string>& words);

}  // namespace millwright::app
