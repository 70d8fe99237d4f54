#include "controllers/disruption/command_checks.hpp"

#include "millwright/disruption/protection.hpp"

#include <utility>

namespace millwright::controllers {

base::Result<std::vector<std::shared_ptr<const model::NodePool>>> unedited_pools(
    const scheduling::Snapshot& snapshot, const disruption::Command& command) {
  std::vector<std::shared_ptr<const model::NodePool>> pools;
  for (const auto& planned : command.replacements) {
    auto pool = find_pool(snapshot, planned.node_pool);
    if (!pool) {
      return base::fail(base::ErrorKind::NotFound, "NodePool " + planned.node_pool + " is gone");
    }
    const auto hash = planned.annotations.find(model::kNodePoolHashAnnotation);
    if (hash == planned.annotations.end() ||
        hash->second != model::nodepool_hash(pool->template_)) {
      return base::fail(
          base::ErrorKind::Conflict,
          "NodePool " + planned.node_pool + " was edited meanwhile; the decision is made again");
    }
    pools.push_back(std::move(pool));
  }
  return pools;
}

std::optional<std::string> protection_of(const std::vector<scheduling::NodeRecordPtr>& records,
                                         disruption::Reason reason, base::TimePoint now) {
  for (const auto& record : records) {
    if (const auto found = disruption::protection(*record, reason, now)) {
      return "NodeClaim " + record->claim_name() + " has to stay, as " + found->message;
    }
  }
  return std::nullopt;
}

}  // namespace millwright::controllers
