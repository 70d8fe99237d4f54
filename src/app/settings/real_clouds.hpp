// The clouds that --clouds may name: those with an adapter that launches instances. The controller
// and `millwright install` read the same list by the same rules.
#pragma once

#include "millwright/cloud/simulated.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::app {

// What is wrong with `text`, a list separated by commas, or empty; then `clouds` has each once.
std::string read_real_clouds(std::string_view text, std::vector<cloud::Profile>& clouds);

// What is wrong with serving both, one line for each cloud that is in both lists: its NodeClasses
// can have one of them.
std::vector<std::string> named_twice(std::span<const cloud::Profile> real,
                                     std::span<const cloud::Profile> simulated);

// "aws,huawei"
std::string cloud_list(std::span<const cloud::Profile> clouds, std::string_view separator = ",");

}  // namespace millwright::app
