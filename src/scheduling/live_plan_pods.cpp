// The part of LivePlan that takes pods in and lets them go.
#include "scheduling/live_plan.hpp"
#include "scheduling/pod_fingerprint.hpp"
#include "scheduling/signature.hpp"
#include "scheduling/topology_roles.hpp"

#include <algorithm>
#include <tuple>

namespace millwright::scheduling {

bool LivePlan::add_pod(const PodPtr& pod) {
  kept_pods_.push_back(pod);
  PodClasses& pods = compiled_.pods;
  if (pod->meta.uid.empty() || is_held(pod->meta.uid) || !let_go(pod->meta.uid) ||
      // It is counted where it runs, and would have to be taken out of the census.
      (pods.topology && !pod->spec.node_name.empty())) {
    return false;
  }
  const auto pod_class = class_of(*pod);
  if (!pod_class) {
    return false;
  }
  const auto index = static_cast<std::uint32_t>(pods.pods.size());
  pods.pods.push_back({.pod = pod.get(), .pod_class = *pod_class});
  gone_.push_back(false);
  pods_by_uid_.emplace(pod->meta.uid, index);
  packing_->grow();
  return settle({&index, 1});
}

bool LivePlan::settle(std::span<const std::uint32_t> pods) {
  const auto placed = packing_->arrive(pods);
  moved_.insert(moved_.end(), placed.begin(), placed.end());
  return std::all_of(pods.begin(), pods.end(), [&](std::uint32_t pod) {
    if (packing_->outcomes()[pod].kind != Outcome::Kind::Refused) {
      return true;
    }
    refused_.push_back(pod);
    return !constraint_at(pod).refusal.empty() ||
           refused_classes_.contains(compiled_.pods.pods[pod].pod_class);
  });
}

bool LivePlan::may_leave(std::uint32_t pod) const {
  const PlannedPod& planned = compiled_.pods.pods[pod];
  if (compiled_.pods.topology && !planned.pod->spec.node_name.empty()) {
    return false;  // then it counts where it runs
  }
  const Outcome outcome = packing_->outcomes()[pod];
  if (outcome.kind == Outcome::Kind::Refused) {
    return true;
  }
  const Constraint& constraint = constraint_at(pod);
  if (constraint.has_topology() || !constraint.ports.empty() || planned.volumes != 0) {
    return false;
  }
  // A reservation is not given back.
  const auto& claims = packing_->drafts().claims();
  return outcome.kind == Outcome::Kind::Node || !claims[outcome.index].reserved ||
         claims[outcome.index].pods.size() > 1;
}

bool LivePlan::let_go(std::string_view uid) {
  const auto found = pods_by_uid_.find(uid);
  if (found == pods_by_uid_.end()) {
    return true;
  }
  const std::uint32_t pod = found->second;
  if (!may_leave(pod) || is_held(uid)) {
    return false;
  }
  const Outcome outcome = packing_->outcomes()[pod];
  if (outcome.kind == Outcome::Kind::Node) {
    note_room(outcome.index);
  } else if (outcome.kind == Outcome::Kind::Claim) {
    expected_ -= most_saved_by(compiled_.pods.classes[compiled_.pods.pods[pod].pod_class].requests);
  }
  packing_->take_out(pod);
  gone_[pod] = true;
  ++gone_count_;
  pods_by_uid_.erase(found);
  return true;
}

bool LivePlan::remove_pod(std::string_view uid) {
  return let_go(uid) && settle({});
}

bool LivePlan::bind_pod(std::string_view uid, const NodeRecordPtr& before,
                        const NodeRecordPtr& node) {
  const auto found = pods_by_uid_.find(uid);
  if (found != pods_by_uid_.end() && stays_counted(found->second, before, node)) {
    return bind_where_planned(found->second, node);
  }
  return let_go(uid) && set_node(before, node);
}

std::uint64_t LivePlan::key_of(const model::Pod& pod) const {
  const std::uint64_t key = hash_constraints(pod.spec) * 31 + hash_requests(pod);
  return compiled_.pods.topology ? key * 31 + hash_identity(pod.meta) : key;
}

void LivePlan::note_example(const model::Pod& pod, std::uint32_t pod_class) {
  auto& examples = examples_[key_of(pod)];
  const bool known = std::any_of(examples.begin(), examples.end(), [&](const auto& example) {
    return example.second == pod_class &&
           (!compiled_.pods.topology || same_identity(example.first->meta, pod.meta));
  });
  if (!known) {
    examples.emplace_back(&pod, pod_class);
  }
}

std::optional<std::uint32_t> LivePlan::class_of(const model::Pod& pod) {
  PodClasses& pods = compiled_.pods;
  if (has_claims(pod.spec)) {
    return std::nullopt;
  }
  for (const auto& [example, pod_class] : examples_[key_of(pod)]) {
    if (same_constraints(example->spec, pod.spec) && same_requests(*example, pod) &&
        (!pods.topology || same_identity(example->meta, pod.meta))) {
      return pod_class;
    }
  }
  model::ResourceList requests = effective_requests(pod);
  const bool known = std::all_of(requests.begin(), requests.end(), [&](const auto& item) {
    return item.second.is_zero() || pods.columns.find(item.first);
  });
  const auto constraint = known ? constraint_of(pod) : std::nullopt;
  if (!constraint) {
    return std::nullopt;
  }
  Amounts amounts = pods.columns.amounts(requests);
  pods.classes.push_back({*constraint, std::move(requests), std::move(amounts)});
  const auto pod_class = static_cast<std::uint32_t>(pods.classes.size() - 1);
  note_example(pod, pod_class);
  return pod_class;
}

std::optional<std::uint32_t> LivePlan::constraint_of(const model::Pod& pod) {
  PodClasses& pods = compiled_.pods;
  const HostPorts ports(pod.spec);
  const bool ports_known =
      ports.empty() || std::any_of(pods.constraints.begin(), pods.constraints.end(),
                                   [](const Constraint& each) { return !each.ports.empty(); });
  if (!ports_known || (!pods.topology && has_topology(pod.spec))) {
    return std::nullopt;
  }
  TopologyRole role;
  if (pods.topology && !take_role(pod, role)) {
    return std::nullopt;
  }
  Constraint made = make_constraint(pod, role, {}, pods.topology.get(),
                                    problem_.options.preferences, pods.soft_taints);
  if (!number_rungs(made)) {
    return std::nullopt;
  }
  pods.constraints.push_back(std::move(made));
  return static_cast<std::uint32_t>(pods.constraints.size() - 1);
}

bool LivePlan::take_role(const model::Pod& pod, TopologyRole& role) {
  TopologyGroups& groups = *compiled_.pods.topology;
  const auto uses = [&] {
    std::vector<std::pair<bool, bool>> result;
    for (const TopologyGroup& group : groups.groups()) {
      result.emplace_back(group.constrains, group.repels);
    }
    return result;
  };
  // A group that is new, or new in what it does, was not counted.
  const auto before = uses();
  role.held = groups.hold(pod);
  if (uses() != before) {
    return false;
  }
  for (const std::uint32_t id : groups.selecting(pod)) {
    if (groups.groups()[id].constrains) {
      role.counted.push_back(id);
    }
    if (groups.groups()[id].repels) {
      role.repelling.push_back(id);
    }
  }
  return true;
}

bool LivePlan::number_rungs(Constraint& constraint) {
  if (rung_ids_.empty()) {
    for (const Constraint& each : compiled_.pods.constraints) {
      for (const Rung& rung : each.ladder) {
        std::string signature;
        append_signature(signature, rung.requirements);
        rung_ids_.emplace(std::move(signature), rung.id);
      }
    }
  }
  for (Rung& rung : constraint.ladder) {
    std::string signature;
    append_signature(signature, rung.requirements);
    const auto [found, added] = rung_ids_.try_emplace(std::move(signature), next_rung_);
    next_rung_ += added ? 1 : 0;
    rung.id = found->second;
  }
  return next_rung_ <= compiled_.pods.rung_count;
}

}  // namespace millwright::scheduling
