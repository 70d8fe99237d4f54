// What is told about a node on its way out: metrics, and events on the Node.
#pragma once

#include "millwright/controllers/services.hpp"

#include <string>
#include <vector>

namespace millwright::controllers {

// `error`: why the eviction was not granted; nullptr when it was.
void count_eviction(Services& services, const base::Error* error);
void count_terminated(Services& services, const model::Node& node);

void tell_deadline(Services& services, const model::Node& node, base::TimePoint deadline);
void tell_waiting(Services& services, const model::Node& node, std::size_t pods);
// At most five are named.
void tell_attached(Services& services, const model::Node& node,
                   const std::vector<std::string>& volumes);

}  // namespace millwright::controllers
