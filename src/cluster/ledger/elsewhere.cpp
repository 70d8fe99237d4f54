#include "cluster/ledger/elsewhere.hpp"

#include <algorithm>
#include <map>

namespace millwright::cluster {
namespace {

std::int32_t needed(const scheduling::Demand& demand, const scheduling::GroupId& group) {
  const auto* const found = scheduling::find_demand(demand, group);
  return found == nullptr ? 0 : found->needed();
}

}  // namespace

// Beyond those that their groups needed more than was reserved, now or when the scheduler chose the
// node.
std::uint64_t count_elsewhere(const JustBound& bound) {
  struct Counts {
    std::int32_t all = 0;
    std::int32_t elsewhere = 0;
  };
  std::map<scheduling::GroupId, Counts> by_group;
  for (const Ledger::Arrival& arrival : bound.arrivals) {
    if (!arrival.node.empty() && !bound.view.targets_of(arrival.group).empty()) {
      Counts& counts = by_group[arrival.group];
      ++counts.all;
      const PassPtr pass = bound.ledger.pass_of(arrival.pod_uid);
      const bool let_go = pass != nullptr && pass->beyond_reserved;
      counts.elsewhere +=
          bound.view.find(arrival.group, arrival.node) == nullptr && !let_go ? 1 : 0;
    }
  }
  std::uint64_t total = 0;
  for (const auto& [group, counts] : by_group) {
    const std::int32_t most =
        std::max(needed(bound.before, group), needed(bound.after, group) + counts.all);
    const std::int32_t beyond = std::max(0, most - bound.view.reserved(group));
    total += static_cast<std::uint64_t>(std::max(0, counts.elsewhere - beyond));
  }
  return total;
}

}  // namespace millwright::cluster
