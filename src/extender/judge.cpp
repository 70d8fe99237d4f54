#include "extender/judge.hpp"

#include "millwright/scheduling/solve.hpp"

#include <algorithm>

namespace millwright::extender {
namespace {

using cluster::HoldList;

const HoldList* holds_on(const cluster::LedgerView& ledger, std::string_view target) {
  const auto found = ledger.holds_by_target.find(target);
  return found == ledger.holds_by_target.end() ? nullptr : &found->second;
}

bool runs_there(const scheduling::NodeRecord& node, std::string_view pod_uid) {
  const auto at = std::partition_point(
      node.pods.begin(), node.pods.end(),
      [pod_uid](const scheduling::PodPtr& pod) { return pod->meta.uid < pod_uid; });
  return at != node.pods.end() && (*at)->meta.uid == pod_uid;
}

// kube-scheduler has found room for the request; only what is held can make it too little.
bool takes_held_room(const model::ResourceList& requests, const model::ResourceList& free,
                     const model::ResourceList& held) {
  return std::any_of(requests.begin(), requests.end(), [&](const auto& request) {
    const auto& [name, quantity] = request;
    const model::Quantity kept = model::get(held, name);
    return quantity.milli() > 0 && kept.milli() > 0 && model::get(free, name) - kept < quantity;
  });
}

std::optional<base::TimePoint> true_since(const std::vector<model::Condition>& conditions,
                                          std::string_view type) {
  const model::Condition* const condition = model::find_condition(conditions, type);
  if (condition == nullptr || condition->status != model::ConditionStatus::True) {
    return std::nullopt;
  }
  return condition->last_transition_time;
}

}  // namespace

bool is_past_grace(const scheduling::NodeRecord& node, const Policy& policy, base::TimePoint now) {
  if (node.node == nullptr) {
    return false;
  }
  auto since = true_since(node.node->conditions, model::kReady);
  if (node.claim != nullptr) {
    const auto initialized = true_since(node.claim->conditions, model::kInitialized);
    since = since && initialized ? std::max(since, initialized) : std::nullopt;
  }
  return since && now >= *since + policy.hold_after_ready;
}

Judge::Judge(const PodFacts& pod, const Scene& scene, const scheduling::NodeRecord* own_target)
    : pod_(pod), scene_(scene) {
  const scheduling::Hold* const hold = scene.ledger.hold_of(pod.uid);
  const bool expired = hold == nullptr || hold->deadline <= scene.now;
  const bool target_is_going =
      hold != nullptr &&
      (scene.ledger.fences_by_node.contains(hold->target) ||
       (own_target != nullptr &&
        (own_target->marked_for_deletion || is_past_grace(*own_target, scene.policy, scene.now))));
  own_ = expired || target_is_going ? nullptr : hold;
}

bool Judge::is_own_target(const scheduling::NodeRecord* node, std::string_view node_name) const {
  return own_ != nullptr &&
         (own_->target == node_name || (node != nullptr && own_->target == node->claim_name()));
}

std::optional<std::string_view> Judge::refusal(const scheduling::NodeRecord* node,
                                               std::string_view node_name,
                                               const model::ResourceList& freed) {
  if (pod_.is_daemon) {
    return std::nullopt;
  }
  if (scene_.ledger.fences_by_node.contains(node_name) ||
      (node != nullptr && node->marked_for_deletion)) {
    return kBeingRemoved;
  }
  if (is_own_target(node, node_name)) {
    return std::nullopt;
  }
  if (own_ != nullptr && scene_.policy.pods_keep_to_their_hold && node != nullptr) {
    return kHeldElsewhere;
  }
  if (node != nullptr && lacks_room(*node, freed)) {
    return kHeldForOthers;
  }
  return std::nullopt;
}

bool Judge::counts(const scheduling::Hold& hold, const scheduling::NodeRecord& node) const {
  if (hold.pod_uid == pod_.uid || hold.deadline <= scene_.now) {
    return false;
  }
  if (scene_.policy.priority_overrides_holds && pod_.priority > hold.priority) {
    return false;
  }
  // The pod may be the very successor that the room is kept for.
  const bool heir = !pod_.owner_uid.empty() && hold.owner_uid == pod_.owner_uid &&
                    hold.pod_uid.starts_with(cluster::kSuccessorOf);
  return !heir && !runs_there(node, hold.pod_uid);
}

model::ResourceList Judge::held_for_others(const scheduling::NodeRecord& node) const {
  model::ResourceList held;
  if (scene_.ledger.holds_by_target.empty()) {
    return held;
  }
  const auto add = [&](std::string_view target) {
    const HoldList* const holds = holds_on(scene_.ledger, target);
    if (holds == nullptr) {
      return;
    }
    for (const scheduling::Hold& hold : *holds) {
      if (counts(hold, node)) {
        model::add_to(held, hold.requests);
      }
    }
  };
  add(node.name());
  if (node.node != nullptr && !node.claim_name().empty() && node.claim_name() != node.name()) {
    add(node.claim_name());
  }
  if (!held.empty() && is_past_grace(node, scene_.policy, scene_.now)) {
    held.clear();
  }
  return held;
}

bool Judge::lacks_room(const scheduling::NodeRecord& node, const model::ResourceList& freed) {
  model::ResourceList held = held_for_others(node);
  if (held.empty()) {
    return false;
  }
  model::ResourceList free = node.allocatable();
  model::subtract_from(free, node.pod_requests);
  model::add_to(free, freed);
  if (scene_.daemons != nullptr && scene_.snapshot != nullptr) {
    model::subtract_from(free, scene_.daemons->missing(node, *scene_.snapshot));
  }
  if (takes_held_room(pod_.requests, free, held)) {
    return true;
  }
  if (scene_.attempts == nullptr) {
    return false;
  }
  // Most often there is room even if every attempt in flight should end here.
  model::ResourceList without = free;
  model::subtract_from(without, in_flight(node, true));
  if (!takes_held_room(pod_.requests, without, held)) {
    return false;
  }
  model::subtract_from(free, in_flight(node, false));
  return takes_held_room(pod_.requests, free, held);
}

// What pods that were let through may still take from the node. Those with a hold here are counted
// by it, those that are here already by their binding.
model::ResourceList Judge::in_flight(const scheduling::NodeRecord& node, bool anywhere) {
  if (!passes_) {
    passes_ = scene_.attempts->passes(scene_.now);
    std::erase_if(*passes_, [this](const auto& pass) { return pass->pod_uid == pod_.uid; });
    all_passes_.emplace();
    for (const cluster::PassPtr& pass : *passes_) {
      model::add_to(*all_passes_, pass->requests);
    }
  }
  if (anywhere) {
    return *all_passes_;
  }
  model::ResourceList total;
  const std::uint64_t hash = cluster::Ledger::node_hash(node.name());
  for (const cluster::PassPtr& pass : *passes_) {
    if (!pass->may_land_on(hash) || runs_there(node, pass->pod_uid)) {
      continue;
    }
    const scheduling::Hold* const hold = scene_.ledger.hold_of(pass->pod_uid);
    const bool held_here = hold != nullptr && hold->deadline > scene_.now &&
                           (hold->target == node.name() || hold->target == node.claim_name());
    if (!held_here) {
      model::add_to(total, pass->requests);
    }
  }
  return total;
}

std::optional<std::string_view> refusal(const PodFacts& pod, const scheduling::NodeRecord* node,
                                        std::string_view node_name,
                                        const cluster::LedgerView& ledger, const Policy& policy,
                                        base::TimePoint now) {
  const Scene scene{.ledger = ledger, .policy = policy, .now = now};
  const scheduling::Hold* const hold = ledger.hold_of(pod.uid);
  const bool is_target = hold != nullptr && node != nullptr &&
                         (hold->target == node_name || hold->target == node->claim_name());
  return Judge(pod, scene, is_target ? node : nullptr).refusal(node, node_name);
}

}  // namespace millwright::extender
