// A resource list: resource name to quantity, sorted by name.
#pragma once

#include "millwright/model/quantity.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace millwright::model {

using ResourceList = std::map<std::string, Quantity, std::less<>>;

inline constexpr std::string_view kCpu = "cpu";
inline constexpr std::string_view kMemory = "memory";
inline constexpr std::string_view kPods = "pods";
inline constexpr std::string_view kEphemeralStorage = "ephemeral-storage";
inline constexpr std::string_view kNodes = "nodes";  // only in NodePool limits and usage

// Missing means zero.
Quantity get(const ResourceList& list, std::string_view name);
void add_to(ResourceList& total, const ResourceList& more);
void subtract_from(ResourceList& total, const ResourceList& less);
// Saturates.
ResourceList multiplied(const ResourceList& list, std::int64_t times);
// Per resource the larger of the two.
void max_into(ResourceList& total, const ResourceList& other);
// Every requested resource is at most the total (a missing total is zero) and no total is negative.
bool fits(const ResourceList& requested, const ResourceList& total);
// "{cpu: 500m, memory: 1Gi}"
std::string to_string(const ResourceList& list);

}  // namespace millwright::model
