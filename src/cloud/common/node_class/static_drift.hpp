// Whether a claim was made by its NodeClass as the class is now: the hash that was written on the
// claim is compared with the class's. Pure.
#pragma once

#include "millwright/model/karpenter.hpp"

#include <string>

namespace millwright::cloud {

// "NodeClassDrift" when the claim's hash says that its class was another one; otherwise empty. A
// hash of another version says nothing: until the claim is stamped anew, what was found before
// stays.
std::string static_drift(const model::NodeClaim& claim, const model::HashStamp& stamp);

// Why the claim is drifted, as was found before; empty when it is not.
std::string drift_so_far(const model::NodeClaim& claim);

}  // namespace millwright::cloud
