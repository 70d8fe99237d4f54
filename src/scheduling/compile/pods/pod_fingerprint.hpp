// Which pods are alike to the planner. Pods of one workload differ in name and uid only; finding
// that out must cost far less than planning each of them.
#pragma once

#include "millwright/model/pod.hpp"

#include <cstdint>

namespace millwright::scheduling {

// Selectors, affinities, tolerations, host ports, topology: everything that limits where a pod may
// go, except its volumes and what other pods forbid it.
std::uint64_t hash_constraints(const model::PodSpec& spec);
bool same_constraints(const model::PodSpec& a, const model::PodSpec& b);

// Whatever effective_requests() looks at.
std::uint64_t hash_requests(const model::Pod& pod);
bool same_requests(const model::Pod& a, const model::Pod& b);

}  // namespace millwright::scheduling
