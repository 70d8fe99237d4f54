#include "disruption/candidates/candidate_search.hpp"

#include "disruption/candidates/held_back.hpp"
#include "disruption/simulation/destinations.hpp"
#include "millwright/disruption/protection.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace millwright::disruption {
namespace {

// What keeps a node, and when that may end by itself.
struct NodeObstacle {
  Why why;
  std::optional<base::TimePoint> until;
};

NodeObstacle obstacle(Cause cause, std::string message,
                      std::optional<base::TimePoint> until = std::nullopt) {
  return {{cause, std::move(message)}, until};
}

using ReservedTargets = std::map<std::string_view, const scheduling::Reservation*>;

class CandidateFinder {
 public:
  explicit CandidateFinder(const CandidateSearch& search) : search_(search), input_(search.input) {
    for (const auto& reservation : search.reservations) {
      reserved_.try_emplace(reservation.target, &reservation);
    }
    for (const auto& room : input_.virtual_pods) {
      virtual_pods_[room.target].push_back(room.pod);
    }
  }

  std::optional<NodeObstacle> find_obstacle(const scheduling::NodeRecord& record) const {
    if (auto found = missing_fact(record)) {
      return found;
    }
    if (auto found = node_protection(record)) {
      return obstacle(Cause::DoNotDisrupt, std::move(found->message));
    }
    if (auto found = promise(record)) {
      return found;
    }
    if (auto found = doubt(record)) {
      return found;
    }
    if (auto found = failure(record)) {
      return found;
    }
    if (record.fenced && !search_.own_claims.contains(record.claim_name())) {
      return obstacle(Cause::Fenced, "its node is fenced already");
    }
    return std::nullopt;
  }

  Candidate make_candidate(const scheduling::NodeRecordPtr& record) const {
    Candidate candidate;
    const auto& pool_name = record->node_pool();
    const auto& labels = record->labels();
    candidate.record = record;
    candidate.pool = search_.pools.find(pool_name);
    candidate.preferences = &search_.pools.preferences_of(*candidate.pool);
    candidate.types = input_.catalog.find(pool_name)->second;
    candidate.instance_type = label_of(labels, model::kInstanceTypeLabel);
    candidate.capacity_type = label_of(labels, model::kCapacityTypeLabel);
    if (const auto found = virtual_pods_.find(record->name()); found != virtual_pods_.end()) {
      candidate.virtual_pods = found->second;
    }
    const auto price = search_.prices.price_of(candidate.types, *record);
    candidate.priced = price.has_value();
    candidate.price = price.value_or(0);
    candidate.overhead = search_.prices.overhead_of(*candidate.preferences);
    candidate.facts = search_.facts_of(record);
    const bool budgeted = search_.pod_obstacles.any_in(candidate.facts->namespaces);
    candidate.evictions = evictions_of(candidate, budgeted);
    candidate.consolidatable = consolidatable(*record->claim, *candidate.pool, input_.now);
    const auto unchanged_since = pods_unchanged_since(*record->claim);
    if (unchanged_since) {
      candidate.settles_at = settles_at(candidate, *unchanged_since);
      if (input_.now < *candidate.settles_at) {
        candidate.unsettled_until = candidate.settles_at;
      }
    }
    if (budgeted || candidate.facts->any_annotated) {
      candidate.pods_obstacle = search_.pod_obstacles.find(record->pods);
    }
    candidate.node_too_young = node_too_young(candidate, input_.now);
    candidate.pods_too_young = pods_too_young(candidate, input_.now);
    candidate.too_full = too_full(candidate);
    return candidate;
  }

 private:
  EvictionPrice evictions_of(const Candidate& candidate, bool budgeted) const {
    const PodFacts& facts = *candidate.facts;
    const bool any_young = facts.last_start && *facts.last_start > input_.now - kYoung;
    if (!budgeted && !facts.any_of_job && !any_young) {
      return {.trouble = facts.ordinary_trouble};
    }
    EvictionPrice sum;
    const auto allocatable = candidate.record->allocatable();
    for (const auto& pod : facts.movable) {
      sum += eviction_price(*pod, {.node_price = candidate.price,
                                   .allocatable = allocatable,
                                   .evictions_left = search_.pod_obstacles.evictions_left(*pod),
                                   .now = input_.now});
    }
    return sum;
  }

  base::Duration settle_time_of(const Candidate& candidate) const {
    const auto& times = candidate.empty() ? input_.idle_times : input_.settle_times;
    const auto found = times.find(candidate.pool->meta.name);
    return found == times.end() ? input_.options.settle_time : found->second;
  }

  base::TimePoint settles_at(const Candidate& candidate, base::TimePoint unchanged_since) const {
    const auto after_changes = candidate.pool->consolidate_after.value();
    const auto consolidatable_at =
        after_changes ? base::sum_of(unchanged_since, *after_changes) : std::nullopt;
    const auto at_rest = unchanged_since + settle_time_of(candidate);
    return std::max(at_rest, consolidatable_at.value_or(at_rest));
  }

  // Without these facts the node cannot be judged.
  std::optional<NodeObstacle> missing_fact(const scheduling::NodeRecord& record) const {
    if (!record.node || !record.initialized()) {
      return obstacle(Cause::NotInitialized, "its node is not initialized yet");
    }
    if (record.shares_machine) {
      return obstacle(Cause::SharesMachine, "another Node has its machine's provider id " +
                                                record.node->provider_id +
                                                ", so its pods may not be all that run there");
    }
    const auto& pool = record.node_pool();
    if (!search_.pools.find(pool)) {
      return obstacle(Cause::NoNodePool,
                      pool.empty() ? "it has no label " + std::string(model::kNodePoolLabel)
                                   : "its NodePool " + pool + " does not exist");
    }
    const auto types = input_.catalog.find(pool);
    if (types == input_.catalog.end() || !types->second) {
      return obstacle(Cause::TypesUnknown,
                      "the instance types of NodePool " + pool + " are not known yet");
    }
    return std::nullopt;
  }

  // Pods are on their way to the node, or room there is reserved for some.
  std::optional<NodeObstacle> promise(const scheduling::NodeRecord& record) const {
    if (record.nominated_until && *record.nominated_until > input_.now) {
      return obstacle(Cause::Nominated,
                      "its node is nominated for a pending pod until " +
                          base::format_rfc3339(*record.nominated_until),
                      record.nominated_until);
    }
    for (const auto& target : {record.name(), record.claim_name()}) {
      const auto found = reserved_.find(target);
      if (found != reserved_.end()) {
        const scheduling::Reservation& reservation = *found->second;
        return obstacle(Cause::RoomKept,
                        "its node keeps room for " + scheduling::describe_pods(reservation) +
                            " until " + base::format_rfc3339(reservation.until),
                        reservation.until);
      }
    }
    return std::nullopt;
  }

  // Without a pause a node in doubt would be closed nearly all the time.
  std::optional<NodeObstacle> doubt(const scheduling::NodeRecord& record) const {
    const auto found = input_.doubted.find(record.claim_name());
    if (found == input_.doubted.end() || found->second <= input_.now) {
      return std::nullopt;
    }
    return obstacle(Cause::InDoubt,
                    "pods that kube-scheduler was about to place may still come: its node was "
                    "fenced, is open again, and stays until " +
                        base::format_rfc3339(found->second),
                    found->second);
  }

  // The same decision would fail again, and keep the others from being tried.
  std::optional<NodeObstacle> failure(const scheduling::NodeRecord& record) const {
    const auto found = input_.failed.find(record.claim_name());
    if (found == input_.failed.end() || found->second.until <= input_.now) {
      return std::nullopt;
    }
    const auto& [until, error] = found->second;
    return obstacle(Cause::WriteFailed,
                    "its removal failed and is not tried again before " +
                        base::format_rfc3339(until) + ": " + error,
                    until);
  }

  const CandidateSearch& search_;
  const Input& input_;
  ReservedTargets reserved_;
  std::map<std::string_view, std::vector<scheduling::PodPtr>> virtual_pods_;  // by target
};

using TimesByPool = std::map<const model::NodePool*, std::set<base::TimePoint>>;

// Each node with pods waits for those of its pool that settle within Options::settle_together of
// it. `settling` has the times of those that are no candidates yet.
void let_wait_for_each_other(const Input& input, TimesByPool settling,
                             std::vector<Candidate>& candidates) {
  for (const auto& candidate : candidates) {
    if (!candidate.empty() && candidate.settles_at && *candidate.settles_at > input.now) {
      settling[candidate.pool.get()].insert(*candidate.settles_at);
    }
  }
  for (auto& candidate : candidates) {
    const auto found = settling.find(candidate.pool.get());
    if (found == settling.end() || candidate.empty() || !candidate.settles_at) {
      continue;
    }
    const auto& times = found->second;
    const auto after = times.upper_bound(*candidate.settles_at + input.options.settle_together);
    if (after != times.begin()) {
      candidate.unsettled_until = *std::prev(after);
    }
  }
}

}  // namespace

std::vector<Candidate> find_candidates(const CandidateSearch& search, Findings& findings) {
  const CandidateFinder finder(search);
  std::vector<Candidate> candidates;
  candidates.reserve(search.input.snapshot->nodes.size());
  TimesByPool settling;
  for (const auto& record : search.input.snapshot->nodes) {
    if (!record->managed() || is_going(search.input, *record)) {
      continue;
    }
    if (auto found = finder.find_obstacle(*record)) {
      findings.wake_at(found->until);
      // Pods are planned onto a node until the last of them is; it may be the one to give up.
      if (found->why.cause == Cause::Nominated && found->until) {
        settling[search.pools.find(record->node_pool()).get()].insert(*found->until);
      }
      findings.block(record->claim_name(), std::move(found->why));
    } else {
      candidates.push_back(finder.make_candidate(record));
    }
  }
  if (search.input.options.settle_together > base::Duration::zero()) {
    let_wait_for_each_other(search.input, std::move(settling), candidates);
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const auto& a, const auto& b) { return a.claim_name() < b.claim_name(); });
  return candidates;
}

}  // namespace millwright::disruption
