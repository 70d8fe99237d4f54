#include "cloud/common/node_class/static_drift.hpp"

namespace millwright::cloud {

std::string static_drift(const model::NodeClaim& claim, const model::HashStamp& stamp) {
  const auto& hash = claim.meta.annotation(stamp.key);
  const auto& version = claim.meta.annotation(stamp.version_key);
  if (hash.empty() || version.empty()) {
    return {};
  }
  if (version == stamp.version) {
    return model::is_stamped_otherwise(claim.meta, stamp) ? "NodeClassDrift" : "";
  }
  return drift_so_far(claim);
}

std::string drift_so_far(const model::NodeClaim& claim) {
  const auto* drifted = model::find_condition(claim.conditions, model::kDrifted);
  return drifted != nullptr && drifted->status == model::ConditionStatus::True ? drifted->reason
                                                                               : "";
}

}  // namespace millwright::cloud
