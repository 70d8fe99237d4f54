#include "extender/policy/judge.hpp"

#include "millwright/model/conditions.hpp"
#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace millwright::extender {
namespace {

using cluster::ReservationList;

// The lists of reservations that concern the node: under its name and, should the ledger not have
// followed yet, under its claim's.
template <class Visit>
void visit_reservations(const PolicySnapshot& seen, const AskedNode& node, Visit visit) {
  if (const ReservationList* const list = seen.reserved_on(node.hash, node.name)) {
    visit(*list);
  }
  if (!seen.any_unknown_target() || node.record == nullptr || node.record->node == nullptr ||
      node.record->claim == nullptr || node.record->claim_name() == node.name) {
    return;
  }
  const std::string& claim = node.record->claim_name();
  if (const auto* const list = seen.reserved_on(cluster::Ledger::node_hash(claim), claim)) {
    visit(*list);
  }
}

}  // namespace

Judge::Judge(const PodFacts& pod, const Scene& scene)
    : pod_(pod), scene_(scene), ledger_(*scene.seen.ledger) {
  if (pod_.is_daemon) {
    return;
  }
  find_targets();
  find_traffic();
  keeps_ = !targets_.empty() && scene_.policy.pods_keep_to_their_room && whole_need_is_reserved();
  for (const auto& [resource, amount] : pod_.requests) {
    if (amount.milli() > 0) {
      asked_.push_back({.resource = resource, .amount = amount, .left = {}, .kept = {}});
    }
  }
}

// Those that may still take the pod. One whose launch fails holds nobody: when it comes after all,
// what its pods have not used elsewhere is still reserved there.
void Judge::find_targets() {
  for (const std::string& name : ledger_.targets_of(pod_.group)) {
    const scheduling::Reservation& reservation = *ledger_.find(pod_.group, name);
    const IndexedNode* const indexed = scene_.seen.nodes->find_target(name);
    const scheduling::NodeRecord* const node = indexed == nullptr ? nullptr : indexed->record.get();
    const bool is_over = reservation.until <= scene_.now || ledger_.fences_by_node.contains(name) ||
                         (node != nullptr && node->marked_for_deletion);
    const bool is_failing = node != nullptr && node->claim != nullptr && node->node == nullptr &&
                            model::is_launch_failing(node->claim->conditions);
    if (!is_over && !is_failing) {
      awaits_node_ = awaits_node_ || node == nullptr || node->node == nullptr;
      targets_.push_back({.name = node == nullptr ? name : node->name(),
                          .node = node,
                          .count = reservation.count});
    }
  }
  std::sort(targets_.begin(), targets_.end(),
            [](const Target& a, const Target& b) { return a.name < b.name; });
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    targets_[i].hash = cluster::Ledger::node_hash(targets_[i].name);
    own_.put(targets_[i].hash, static_cast<std::uint32_t>(i));
  }
}

void Judge::find_traffic() {
  if (scene_.traffic != nullptr) {
    own_pass_ = scene_.traffic->of_pod(pod_.uid);
    group_crowd_ = scene_.traffic->crowd_of(pod_.group);
  }
}

// Not while more of the group's pods may go elsewhere than are on their way there.
bool Judge::whole_need_is_reserved() const {
  const auto* const demand = scheduling::find_demand(scene_.seen.snapshot().demand, pod_.group);
  const std::int32_t reserved =
      std::accumulate(targets_.begin(), targets_.end(), 0,
                      [](std::int32_t sum, const Target& target) { return sum + target.count; });
  const std::int32_t beyond = (demand == nullptr ? 0 : demand->needed()) - reserved;
  return beyond <= 0 || as_many_go_elsewhere(*demand, beyond);
}

bool Judge::as_many_go_elsewhere(const scheduling::GroupDemand& demand, std::int32_t beyond) const {
  if (scene_.traffic == nullptr) {
    return false;
  }
  std::unordered_set<std::string_view> elsewhere;
  for (const cluster::PassPtr& pass : scene_.traffic->of_group(pod_.group)) {
    const bool to_its_own = std::all_of(pass->node_hashes.begin(), pass->node_hashes.end(),
                                        [this](std::uint64_t hash) { return own_.contains(hash); });
    if (!to_its_own && pass->pod_uid != pod_.uid) {
      elsewhere.insert(pass->pod_uid);
    }
  }
  if (elsewhere.size() < static_cast<std::size_t>(beyond)) {
    return false;
  }
  return std::count_if(demand.waiting.begin(), demand.waiting.end(), [&](const auto& pod) {
           return elsewhere.contains(pod->meta.uid);
         }) >= beyond;
}

const Judge::Target* Judge::find_target(const AskedNode& node) const {
  const std::uint32_t number = own_.find(node.hash);
  return number != base::HashIndex::kNone && targets_[number].name == node.name ? &targets_[number]
                                                                                : nullptr;
}

// Pods of the group that are on their way to the target.
std::int32_t Judge::coming_to(const Target& target) const {
  if (group_crowd_ == nullptr) {
    return 0;
  }
  const bool itself = own_pass_ != nullptr && own_pass_->group == pod_.group &&
                      !own_pass_->everywhere && own_pass_->may_land_on(target.hash);
  return group_crowd_->naming(scene_.traffic->number_of(target.hash)) - (itself ? 1 : 0);
}

// The one with most room left for the group.
void Judge::choose_among(std::span<const std::uint64_t> offered) {
  for (const std::uint64_t hash : offered) {
    if (const auto number = own_.find(hash); number != base::HashIndex::kNone) {
      targets_[number].offered = true;
    }
  }
  if (!scene_.policy.pods_keep_to_their_room) {
    return;
  }
  std::int32_t most = 0;
  for (const Target& target : targets_) {
    const std::int32_t left = target.offered ? target.count - coming_to(target) : 0;
    if (left > most) {
      most = left;
      chosen_ = &target;
    }
  }
}

std::vector<std::string> Judge::ready_targets_not_offered() const {
  std::vector<std::string> names;
  for (const Target& target : targets_) {
    // One that is full once those on their way have arrived cannot be offered.
    const bool has_room = target.count > coming_to(target);
    if (has_room && !target.offered && target.node != nullptr && target.node->node != nullptr &&
        target.node->initialized() &&
        model::is_true(target.node->node->conditions, model::kReady)) {
      names.push_back(target.name);
    }
  }
  return names;
}

bool Judge::is_closed(const AskedNode& node) const {
  return ledger_.fences_by_node.contains(node.name) ||
         (node.record != nullptr && node.record->marked_for_deletion);
}

std::optional<std::string_view> Judge::refusal(const AskedNode& node,
                                               const model::ResourceList& freed) {
  if (pod_.is_daemon) {
    return std::nullopt;
  }
  if (is_closed(node)) {
    return kBeingRemoved;
  }
  const Target* const own = find_target(node);
  if (own != nullptr && (own == chosen_ || (chosen_ == nullptr && own->count > coming_to(*own)))) {
    return std::nullopt;
  }
  // A node that is not known may be one of the pod's own that is known as a claim only.
  if ((node.record != nullptr || !awaits_node_) && keeps_to_its_room()) {
    return kReservedElsewhere;
  }
  if (node.record != nullptr && lacks_room(node, freed)) {
    return kReservedForOthers;
  }
  return std::nullopt;
}

bool Judge::counts(const scheduling::Reservation& reservation) const {
  if (reservation.until <= scene_.now ||
      (scene_.policy.priority_overrides_reservations && pod_.priority > reservation.priority)) {
    return false;
  }
  return reservation.open ? pod_.priority < reservation.priority
                          : !reservation.group.includes(pod_.group);
}

// Without looking at each.
bool Judge::all_count(const ReservationList& reservations) const {
  const ReservationList::Summary& summary = reservations.summary();
  const bool lower =
      scene_.policy.priority_overrides_reservations && pod_.priority > summary.lowest_priority;
  return !lower && summary.earliest_end > scene_.now && !summary.any_whole_owner &&
         reservations.find(pod_.group) == nullptr;
}

const model::ResourceList& Judge::reserved_for_others(const AskedNode& node,
                                                      model::ResourceList& scratch) const {
  const model::ResourceList* shared = nullptr;
  scratch.clear();
  visit_reservations(scene_.seen, node, [&](const ReservationList& reservations) {
    if (shared == nullptr && scratch.empty() && all_count(reservations)) {
      shared = &reservations.summary().requests;
      return;
    }
    for (const scheduling::Reservation& reservation : reservations) {
      if (counts(reservation)) {
        model::add_to(scratch, model::multiplied(reservation.requests, reservation.count));
      }
    }
  });
  if (shared != nullptr && !scratch.empty()) {
    model::add_to(scratch, *shared);
    shared = nullptr;
  }
  return shared == nullptr ? scratch : *shared;
}

// kube-scheduler has found room for the request; only what is kept for others can make it too
// little. From the cheapest question to the dearest; most nodes are done after the first.
bool Judge::lacks_room(const AskedNode& node, const model::ResourceList& freed) {
  model::ResourceList scratch;
  const model::ResourceList& others = reserved_for_others(node, scratch);
  if (others.empty()) {
    return false;
  }
  const scheduling::NodeRecord& record = *node.record;
  std::optional<model::ResourceList> starting;
  if (!record.initialized()) {
    starting = record.allocatable();
  }
  const model::ResourceList& all = starting ? *starting : record.node->allocatable;
  model::ResourceList daemons;
  if (scene_.daemons != nullptr) {
    daemons = scene_.daemons->missing(record, scene_.seen.snapshot());
  }
  bool any_kept = false;
  for (Asked& asked : asked_) {
    asked.kept = model::get(others, asked.resource);
    if (asked.kept.milli() <= 0) {
      continue;
    }
    any_kept = true;
    asked.left = model::get(all, asked.resource) - model::get(record.pod_requests, asked.resource) +
                 model::get(freed, asked.resource) - model::get(daemons, asked.resource) -
                 asked.amount;
    if (asked.left < asked.kept) {
      return true;
    }
  }
  return any_kept && scene_.traffic != nullptr && is_crowded(node);
}

// Whether pods that were let through, beside what is reserved on the node for their groups, may
// take the room from under the pod.
bool Judge::is_crowded(const AskedNode& node) {
  add_in_flight(node);
  bool all_fit = true;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    if (asked_[i].kept.milli() <= 0) {
      continue;
    }
    if (asked_[i].left < in_flight_[i]) {
      return true;  // whatever room they use
    }
    all_fit = all_fit && in_flight_[i] <= asked_[i].left - asked_[i].kept;
  }
  if (all_fit) {
    return false;
  }
  subtract_what_uses_its_own(node);
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    if (asked_[i].kept.milli() > 0 && asked_[i].left - asked_[i].kept < in_flight_[i]) {
      return true;
    }
  }
  return false;
}

// What all pods that may land on the node request.
void Judge::add_in_flight(const AskedNode& node) {
  const auto amounts_of = [this](const model::ResourceList& requests) {
    std::vector<model::Quantity> amounts;
    for (const Asked& asked : asked_) {
      amounts.push_back(model::get(requests, asked.resource));
    }
    return amounts;
  };
  if (flocks_.empty()) {
    for (const auto& [requests, crowd] : scene_.traffic->crowds()) {
      flocks_.push_back({&crowd, amounts_of(requests)});
    }
  }
  in_flight_.assign(asked_.size(), {});
  const std::uint32_t number = scene_.traffic->number_of(node.hash);
  for (const Flock& flock : flocks_) {
    if (const std::int32_t pods = flock.crowd->on(number); pods > 0) {
      for (std::size_t i = 0; i < asked_.size(); ++i) {
        model::Quantity requests = flock.requests[i];
        in_flight_[i] += requests *= pods;
      }
    }
  }
  if (own_pass_ != nullptr && own_pass_->may_land_on(node.hash)) {
    const auto own = amounts_of(own_pass_->requests);
    for (std::size_t i = 0; i < own.size(); ++i) {
      in_flight_[i] -= own[i];
    }
  }
}

// A pod uses what is reserved for its group, else what is reserved for its controller.
void Judge::subtract_what_uses_its_own(const AskedNode& node) {
  const std::uint32_t number = scene_.traffic->number_of(node.hash);
  std::vector<scheduling::GroupId> known;
  const auto use = [&](const scheduling::GroupId& group,
                       const scheduling::Reservation& reservation) {
    if (std::find(known.begin(), known.end(), group) != known.end()) {
      return;
    }
    known.push_back(group);
    const cluster::Crowd* const crowd = scene_.traffic->crowd_of(group);
    if (crowd == nullptr || !counts(reservation)) {
      return;
    }
    const std::int32_t pods = std::min(crowd->on(number), reservation.count);
    const model::ResourceList& requests = (*scene_.traffic->of_group(group).begin())->requests;
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      model::Quantity used = model::get(requests, asked_[i].resource);
      in_flight_[i] -= used *= pods;
    }
  };
  visit_reservations(scene_.seen, node, [&](const ReservationList& reservations) {
    for (const scheduling::Reservation& reservation : reservations) {
      if (!reservation.group.is_whole_owner()) {
        use(reservation.group, reservation);
      }
    }
    for (const scheduling::Reservation& reservation : reservations) {
      if (reservation.group.is_whole_owner()) {
        for (const auto& group : scene_.traffic->groups_of_owner(reservation.group.owner_uid())) {
          use(group, reservation);
        }
      }
    }
  });
}

}  // namespace millwright::extender
