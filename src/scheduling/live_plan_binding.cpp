// The part of LivePlan for pods that others are placed by and that are bound where they were
// planned: they go on counting where they count, so nobody has to be placed anew.
//
// Only that they are there before their turn may matter to pods that come earlier; see minds().
// Where that is a pod of the same class, the two change their turns.
#include "scheduling/current_problem.hpp"
#include "scheduling/live_plan.hpp"
#include "scheduling/pod_fingerprint.hpp"

#include <algorithm>

namespace millwright::scheduling {

std::int32_t LivePlan::domain_of(std::uint32_t pod, std::uint32_t key) {
  const Outcome outcome = packing_->outcomes()[pod];
  if (outcome.kind == Outcome::Kind::Node) {
    return compiled_.topology.domain_of(key, outcome.index);
  }
  ClaimDrafts& drafts = packing_->drafts();
  return drafts.domain_of(drafts.claims()[outcome.index].shape, key);
}

// In one domain of the group, as far as is known.
bool LivePlan::may_share(std::uint32_t a, std::uint32_t b, const TopologyGroup& group) {
  return group.by_host ? same_host(a, b)
                       : domain_of(a, group.key_index) == domain_of(b, group.key_index) ||
                             domain_of(a, group.key_index) == kUnknownDomain;
}

bool LivePlan::may_part(std::uint32_t a, std::uint32_t b, const TopologyGroup& group) {
  return group.by_host ? !same_host(a, b)
                       : domain_of(a, group.key_index) != domain_of(b, group.key_index);
}

bool LivePlan::same_host(std::uint32_t a, std::uint32_t b) const {
  const Outcome one = packing_->outcomes()[a];
  const Outcome other = packing_->outcomes()[b];
  return one.kind == other.kind && one.index == other.index;
}

// Whether it matters to `other` that `pod` is there before it: one pod more where it is to be
// spread; somebody to be beside, elsewhere, where it was to be the first.
bool LivePlan::minds(std::uint32_t other, std::uint32_t pod) {
  const auto& groups = compiled_.topology.groups();
  const Constraint& theirs = constraint_at(other);
  const auto& counted = constraint_at(pod).counted;
  return std::any_of(counted.begin(), counted.end(), [&](std::uint32_t id) {
    const TopologyKind kind = groups[id].kind;
    const bool held =
        std::any_of(theirs.ladder.begin(), theirs.ladder.end(), [&](const Rung& rung) {
          return std::find(rung.groups.begin(), rung.groups.end(), id) != rung.groups.end();
        });
    return held && ((kind == TopologyKind::Spread && may_share(other, pod, groups[id])) ||
                    (kind == TopologyKind::Affinity && may_part(other, pod, groups[id])));
  });
}

// Either may stand for the other wherever pods are counted.
bool LivePlan::interchangeable(std::uint32_t a, std::uint32_t b) {
  if (compiled_.pods.pods[a].pod_class != compiled_.pods.pods[b].pod_class) {
    return false;
  }
  const auto& groups = compiled_.topology.groups();
  const Constraint& constraint = constraint_at(a);
  return std::none_of(constraint.counted.begin(), constraint.counted.end(),
                      [&](std::uint32_t id) { return groups[id].by_host; }) &&
         std::all_of(constraint.keys.begin(), constraint.keys.end(), [&](std::uint32_t key) {
           const std::int32_t domain = domain_of(a, key);
           return domain >= 0 && domain == domain_of(b, key);
         });
}

bool LivePlan::comes_first(std::uint32_t pod) {
  const auto& steps = packing_->steps();
  std::vector<std::uint32_t> minding;
  std::uint32_t first = pod;
  for (std::uint32_t other = 0; other < steps.size(); ++other) {
    if (packing_->outcomes()[other].kind == Outcome::Kind::Refused || steps[other] >= steps[pod] ||
        !minds(other, pod)) {
      continue;
    }
    minding.push_back(other);
    if (steps[other] < steps[first] && interchangeable(other, pod)) {
      first = other;
    }
  }
  const bool free = std::none_of(minding.begin(), minding.end(),
                                 [&](std::uint32_t other) { return steps[other] < steps[first]; });
  if (free && first != pod) {
    packing_->swap_steps(first, pod);
    restepped_.push_back(first);
  }
  return free;
}

// The node is as it was, but that the pod runs there now.
bool LivePlan::only_bound(const model::Pod& pod, const NodeRecord& before,
                          const NodeRecord& after) {
  const auto is_it = [&](const PodPtr& each) {
    return each->meta.uid == pod.meta.uid && same_identity(each->meta, pod.meta) &&
           same_constraints(each->spec, pod.spec) && !each->meta.is_deleting() &&
           !model::is_terminal(*each);
  };
  auto without = after;
  const auto bound = std::find_if(without.pods.begin(), without.pods.end(), is_it);
  if (bound == without.pods.end()) {
    return false;
  }
  without.pods.erase(bound);
  return changes_in_place(&before, &without);
}

bool LivePlan::stays_counted(std::uint32_t pod, const NodeRecordPtr& before,
                             const NodeRecordPtr& node) {
  const PlannedPod& planned = compiled_.pods.pods[pod];
  const Outcome outcome = packing_->outcomes()[pod];
  if (!before || outcome.kind != Outcome::Kind::Node || !constraint_at(pod).has_topology() ||
      planned.volumes != 0 || !planned.pod->spec.node_name.empty() ||
      is_held(planned.pod->meta.uid) || !takes_pods(*node)) {
    return false;
  }
  const ExistingNode& target = compiled_.nodes.nodes()[outcome.index];
  return target.record->name() == node->name() &&
         target.taints == node->taints() &&  // whoever heeds taints sees the same
         only_bound(*planned.pod, *before, *node) && comes_first(pod);
}

bool LivePlan::bind_where_planned(std::uint32_t pod, const NodeRecordPtr& node) {
  const std::uint32_t target = packing_->outcomes()[pod].index;
  kept_nodes_.push_back(node);
  note_room(target);
  pods_by_uid_.erase(compiled_.pods.pods[pod].pod->meta.uid);
  gone_[pod] = true;
  ++gone_count_;
  packing_->bound(pod);
  compiled_.nodes.replace(target, node, compiled_.daemons, holds_on(*node));
  return move_displaced(target);
}

}  // namespace millwright::scheduling
