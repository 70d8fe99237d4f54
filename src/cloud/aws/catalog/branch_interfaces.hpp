// How many branch network interfaces a type's trunk carries: each pod with a security group of its
// own takes one (the resource vpc.amazonaws.com/pod-eni).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace millwright::cloud::aws {

// Zero for types without a trunk interface, and for families that are not known.
std::int64_t branch_interfaces(std::string_view type);

}  // namespace millwright::cloud::aws
