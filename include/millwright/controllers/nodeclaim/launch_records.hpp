// What the statuses of NodeClaims say of launches.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <string_view>

namespace millwright::controllers {

// As cloud::Provider::set_recorded() asks: whether some claim has the provider id, or the claim of
// that UID has any.
bool is_launch_recorded(const scheduling::Snapshot& snapshot, std::string_view id);

}  // namespace millwright::controllers
