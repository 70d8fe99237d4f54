// Metrics and events about a node that is terminating and about its pods.
#pragma once

#include "millwright/controllers/services.hpp"

#include <string>
#include <vector>

namespace millwright::controllers {

// `error`: why the eviction was not granted; nullptr when it was.
void count_eviction(Services& services, const base::Error* error);
void count_terminated(Services& services, const model::Node& node);

void tell_evicted(Services& services, const model::Pod& pod, const std::string& reason);
void tell_force_deleted(Services& services, const model::Pod& pod, std::int64_t grace_seconds,
                        base::TimePoint deadline);
void tell_eviction_refused(Services& services, const model::Pod& pod, const std::string& node,
                           const base::Error& error);
void tell_deadline(Services& services, const model::Node& node, base::TimePoint deadline);
void tell_waiting(Services& services, const model::Node& node, std::size_t pods);
// At most five are named.
void tell_attached(Services& services, const model::Node& node,
                   const std::vector<std::string>& volumes);

}  // namespace millwright::controllers
