#include "disruption/methods/consolidation/superfluous.hpp"

#include "disruption/candidates/selection.hpp"
#include "disruption/methods/prices/price_bounds.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

namespace millwright::disruption {
namespace {

// One simulation plans the pods of so many nodes anew, and no more pods than these: it takes about
// as long as one pass over a large cluster then.
constexpr std::size_t kMostAtOnce = 100;
constexpr std::size_t kMostPods = 2000;
constexpr int kMostTrials = 3;

std::vector<const Candidate*> first_set(const Survey& survey, const RemovalOrder& order) {
  Allowance allowance(survey, Reason::Underutilized);
  std::vector<const Candidate*> set;
  std::size_t pods = 0;
  for (std::size_t i = 0; i < order.gone && set.size() < kMostAtOnce; ++i) {
    const auto* candidate = order.nodes[i];
    if (pods + candidate->pods().size() <= kMostPods && allowance.take(*candidate->pool)) {
      pods += candidate->pods().size();
      set.push_back(candidate);
    }
  }
  return set;
}

// Per hour, by pod: its part of the new node that it would be on.
std::map<std::string_view, double> paid_by_pod(const Command& command) {
  std::map<std::string_view, double> paid;
  for (const auto& claim : command.replacements) {
    for (const auto& uid : claim.pod_uids) {
      paid[uid] = claim.price / static_cast<double>(claim.pod_uids.size());
    }
  }
  return paid;
}

// Those whose pods pay less on new nodes than is saved by their going.
std::vector<const Candidate*> without_bargains(const std::vector<const Candidate*>& set,
                                               const Command& command) {
  const auto paid = paid_by_pod(command);
  std::vector<const Candidate*> rest;
  for (const auto* candidate : set) {
    double sum = candidate->evictions.sum();
    for (const auto& pod : candidate->pods()) {
      const auto found = paid.find(pod->meta.uid);
      sum += found == paid.end() ? 0 : found->second;
    }
    if (sum < candidate->cost()) {
      rest.push_back(candidate);
    }
  }
  return rest;
}

// Nodes that go for nothing are for the sweep to find; and less than new nodes must save cannot be
// saved by any of them.
bool is_worth_trying(const std::vector<const Candidate*>& set, const RemovalOrder& order) {
  double cost = 0;
  for (const auto* candidate : set) {
    cost += candidate->cost();
  }
  return order.bought > 0 && order.saved >= kWorthMore * cost;
}

}  // namespace

std::optional<Command> replace_superfluous(Survey& survey, const RemovalOrder& order) {
  auto set = first_set(survey, order);
  if (!is_worth_trying(set, order)) {
    return std::nullopt;
  }
  std::optional<Command> best;
  for (int trial = 0; trial < kMostTrials && set.size() > 1; ++trial) {
    auto found = consolidate(survey, set, kMostAtOnce).command;
    if (!found) {
      set.resize(set.size() / 2);
      continue;
    }
    auto fewer = without_bargains(set, *found);
    if (!best || is_better(*found, *best)) {
      best = std::move(found);
    }
    if (fewer.size() == set.size()) {
      break;
    }
    set = std::move(fewer);
  }
  return best;
}

}  // namespace millwright::disruption
