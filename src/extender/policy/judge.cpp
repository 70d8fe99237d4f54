#include "extender/policy/judge.hpp"

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

// What a node has left for pods, resource by resource.
class Room {
 public:
  Room(const scheduling::NodeRecord& node, const model::ResourceList& freed)
      : node_(node), freed_(freed) {
    if (!node.initialized()) {
      starting_ = node.allocatable();
    }
  }
  void take(const model::ResourceList& more) { model::add_to(taken_, more); }

  model::Quantity free(std::string_view resource) const {
    const model::ResourceList& all = starting_ ? *starting_ : node_.node->allocatable;
    return model::get(all, resource) - model::get(node_.pod_requests, resource) +
           model::get(freed_, resource) - model::get(taken_, resource);
  }
  // kube-scheduler has found room for the request; only what is held can make it too little.
  bool lacks(const model::ResourceList& requests, const model::ResourceList& held) const {
    return std::any_of(requests.begin(), requests.end(), [&](const auto& request) {
      const model::Quantity kept = model::get(held, request.first);
      return request.second.milli() > 0 && kept.milli() > 0 &&
             free(request.first) - kept < request.second;
    });
  }

 private:
  const scheduling::NodeRecord& node_;
  const model::ResourceList& freed_;
  std::optional<model::ResourceList> starting_;
  model::ResourceList taken_;
};

// The lists of holds that concern the node: under its name and, should the ledger not have
// followed yet, under its claim's.
template <class Visit>
void visit_holds(const cluster::LedgerView& ledger, const scheduling::NodeRecord& node,
                 Visit visit) {
  if (const HoldList* const holds = holds_on(ledger, node.name())) {
    visit(*holds);
  }
  if (node.node != nullptr && node.claim != nullptr && node.claim_name() != node.name()) {
    if (const HoldList* const holds = holds_on(ledger, node.claim_name())) {
      visit(*holds);
    }
  }
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
    : pod_(pod), scene_(scene), hold_(scene.ledger.hold_of(pod.uid)) {
  const bool is_over =
      hold_ == nullptr || hold_->deadline <= scene.now ||
      scene.ledger.fences_by_node.contains(hold_->target) ||
      (own_target != nullptr &&
       (own_target->marked_for_deletion || is_past_grace(*own_target, scene.policy, scene.now)));
  own_ = is_over ? nullptr : hold_;
}

bool Judge::keeps_to_its_hold() const {
  return own_ != nullptr && scene_.policy.pods_keep_to_their_hold && !pod_.is_daemon;
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
  if (node != nullptr && keeps_to_its_hold()) {
    return kHeldElsewhere;
  }
  if (node != nullptr && lacks_room(*node, freed)) {
    return kHeldForOthers;
  }
  return std::nullopt;
}

bool Judge::counts(const scheduling::Hold& hold) const {
  if (hold.is_of(pod_.uid) || hold.deadline <= scene_.now ||
      (only_buffers_count_ && hold.kind != scheduling::HoldKind::Buffer)) {
    return false;
  }
  if (scene_.policy.priority_overrides_holds && pod_.priority > hold.priority) {
    return false;
  }
  // The pod may be the very successor that the room is kept for.
  return pod_.owner_uid.empty() || hold.owner_uid != pod_.owner_uid ||
         hold.kind == scheduling::HoldKind::Pod;
}

// Without looking at each.
bool Judge::all_count(const HoldList& holds) const {
  const HoldList::Summary& summary = holds.summary();
  const bool own = hold_ != nullptr && hold_->target == holds.front().target;
  const bool lower =
      scene_.policy.priority_overrides_holds && pod_.priority > summary.lowest_priority;
  return !own && !lower && !only_buffers_count_ && summary.earliest_deadline > scene_.now &&
         (!summary.awaits_heir || pod_.owner_uid.empty());
}

const model::ResourceList& Judge::held_for_others(const scheduling::NodeRecord& node,
                                                  model::ResourceList& scratch) const {
  const model::ResourceList* shared = nullptr;
  scratch.clear();
  visit_holds(scene_.ledger, node, [&](const HoldList& holds) {
    if (shared == nullptr && scratch.empty() && all_count(holds)) {
      shared = &holds.summary().requests;
      return;
    }
    for (const scheduling::Hold& hold : holds) {
      if (counts(hold)) {
        model::add_to(scratch, hold.requests);
      }
    }
  });
  if (shared != nullptr && !scratch.empty()) {
    model::add_to(scratch, *shared);
    shared = nullptr;
  }
  return shared == nullptr ? scratch : *shared;
}

model::ResourceList Judge::awaited(const scheduling::NodeRecord& node) const {
  model::ResourceList held;
  visit_holds(scene_.ledger, node, [&](const HoldList& holds) {
    for (const scheduling::Hold& hold : holds) {
      const bool arrived = hold.kind == scheduling::HoldKind::Pod && runs_there(node, hold.pod_uid);
      if (counts(hold) && !arrived) {
        model::add_to(held, hold.requests);
      }
    }
  });
  return held;
}

bool Judge::lacks_room(const scheduling::NodeRecord& node, const model::ResourceList& freed) {
  model::ResourceList scratch;
  if (held_for_others(node, scratch).empty()) {
    return false;
  }
  only_buffers_count_ = is_past_grace(node, scene_.policy, scene_.now);
  const bool lacks = lacks_room_beside_holds(node, freed);
  only_buffers_count_ = false;
  return lacks;
}

bool Judge::lacks_room_beside_holds(const scheduling::NodeRecord& node,
                                    const model::ResourceList& freed) {
  model::ResourceList scratch;
  const model::ResourceList& held = held_for_others(node, scratch);
  if (held.empty()) {
    return false;
  }
  Room room(node, freed);
  if (scene_.daemons != nullptr && scene_.snapshot != nullptr) {
    room.take(scene_.daemons->missing(node, *scene_.snapshot));
  }
  // From the cheapest question to the dearest; most nodes are done after the first.
  if (room.lacks(pod_.requests, held)) {
    return room.lacks(pod_.requests, awaited(node));
  }
  if (scene_.attempts == nullptr) {
    return false;
  }
  Room crowded = room;
  crowded.take(in_flight(node, true));
  if (!crowded.lacks(pod_.requests, held)) {
    return false;
  }
  room.take(in_flight(node, false));
  return room.lacks(pod_.requests, awaited(node));
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

}  // namespace millwright::extender
