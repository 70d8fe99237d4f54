#include "disruption/simulation/same_shape.hpp"

#include <algorithm>

namespace millwright::disruption {
namespace {

// The types of `then` were chosen for their price, so each must still be an option.
bool covers(const scheduling::PlannedClaim& now, const scheduling::PlannedClaim& then) {
  const auto& options = now.instance_types;
  return now.node_pool == then.node_pool &&
         std::all_of(then.instance_types.begin(), then.instance_types.end(), [&](const auto& type) {
           return std::find(options.begin(), options.end(), type) != options.end();
         });
}

}  // namespace

bool same_shape(Reason reason, const std::vector<scheduling::PlannedClaim>& then,
                SimulatedRemoval now) {
  if (now.problem || now.claims.size() != then.size()) {
    return false;
  }
  if (reason == Reason::Drifted) {
    return true;
  }
  return std::all_of(then.begin(), then.end(), [&left = now.claims](const auto& claim) {
    const auto found = std::find_if(left.begin(), left.end(),
                                    [&](const auto& each) { return covers(each, claim); });
    if (found == left.end()) {
      return false;
    }
    left.erase(found);
    return true;
  });
}

}  // namespace millwright::disruption
