#include "extender/policy/judge.hpp"

#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace millwright::extender {
namespace {

using cluster::ReservationList;

const ReservationList* reserved_on(const cluster::LedgerView& ledger, std::string_view target) {
  const auto found = ledger.by_target.find(target);
  return found == ledger.by_target.end() ? nullptr : &found->second;
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
  // kube-scheduler has found room for the request; only what is kept for others can make it
  // too little.
  bool lacks(const model::ResourceList& requests, const model::ResourceList& others) const {
    return std::any_of(requests.begin(), requests.end(), [&](const auto& request) {
      const model::Quantity kept = model::get(others, request.first);
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

// The lists of reservations that concern the node: under its name and, should the ledger not have
// followed yet, under its claim's.
template <class Visit>
void visit_reservations(const cluster::LedgerView& ledger, const scheduling::NodeRecord& node,
                        Visit visit) {
  if (const ReservationList* const list = reserved_on(ledger, node.name())) {
    visit(*list);
  }
  if (node.node != nullptr && node.claim != nullptr && node.claim_name() != node.name()) {
    if (const ReservationList* const list = reserved_on(ledger, node.claim_name())) {
      visit(*list);
    }
  }
}

}  // namespace

Judge::Judge(const PodFacts& pod, const Scene& scene)
    : pod_(pod), scene_(scene), ledger_(*scene.seen.ledger) {
  if (!pod_.is_daemon) {
    find_targets();
    keeps_ = !targets_.empty() && scene_.policy.pods_keep_to_their_room && whole_need_is_reserved();
  }
}

// Those that may still take the pod.
void Judge::find_targets() {
  for (const std::string& name : ledger_.targets_of(pod_.group)) {
    const scheduling::Reservation& reservation = *ledger_.find(pod_.group, name);
    const IndexedNode* const indexed = scene_.seen.nodes->find_target(name);
    const scheduling::NodeRecord* const node = indexed == nullptr ? nullptr : indexed->record.get();
    const bool is_over = reservation.until <= scene_.now || ledger_.fences_by_node.contains(name) ||
                         (node != nullptr && node->marked_for_deletion);
    if (!is_over) {
      awaits_node_ = awaits_node_ || node == nullptr || node->node == nullptr;
      targets_.push_back({.name = node == nullptr ? name : node->name(),
                          .node = node,
                          .count = reservation.count});
    }
  }
  std::sort(targets_.begin(), targets_.end(),
            [](const Target& a, const Target& b) { return a.name < b.name; });
}

// Not while more of the group's pods may go elsewhere than are on their way there.
bool Judge::whole_need_is_reserved() const {
  const auto* const demand = scheduling::find_demand(scene_.seen.snapshot().demand, pod_.group);
  const std::int32_t reserved =
      std::accumulate(targets_.begin(), targets_.end(), 0,
                      [](std::int32_t sum, const Target& target) { return sum + target.count; });
  const std::int32_t beyond = (demand == nullptr ? 0 : demand->needed()) - reserved;
  if (beyond <= 0) {
    return true;
  }
  const auto elsewhere =
      std::count_if(scene_.passes.begin(), scene_.passes.end(), [&](const cluster::PassPtr& pass) {
        const bool waits =
            std::any_of(demand->waiting.begin(), demand->waiting.end(),
                        [&](const auto& pod) { return pod->meta.uid == pass->pod_uid; });
        const auto is_own = [this](std::uint64_t hash) {
          return std::any_of(targets_.begin(), targets_.end(), [hash](const Target& target) {
            return cluster::Ledger::node_hash(target.name) == hash;
          });
        };
        return pass->group == pod_.group && waits &&
               !std::all_of(pass->node_hashes.begin(), pass->node_hashes.end(), is_own);
      });
  return elsewhere >= beyond;
}

const Judge::Target* Judge::find_target(std::string_view node_name) const {
  const auto found =
      std::partition_point(targets_.begin(), targets_.end(),
                           [node_name](const Target& target) { return target.name < node_name; });
  return found != targets_.end() && found->name == node_name ? &*found : nullptr;
}

bool Judge::is_own_target(std::string_view node_name) const {
  return find_target(node_name) != nullptr;
}

// Pods of the group that are on their way to the target.
std::int32_t Judge::coming_to(const Target& target) const {
  const std::uint64_t hash = cluster::Ledger::node_hash(target.name);
  return static_cast<std::int32_t>(
      std::count_if(scene_.passes.begin(), scene_.passes.end(), [&](const cluster::PassPtr& pass) {
        return pass->group == pod_.group && !pass->everywhere && pass->may_land_on(hash) &&
               !(target.node != nullptr && runs_there(*target.node, pass->pod_uid));
      }));
}

// The one with most room left for the group.
void Judge::choose_among(const std::vector<std::string_view>& offered) {
  if (!scene_.policy.pods_keep_to_their_room) {
    return;
  }
  std::int32_t most = 0;
  for (const Target& target : targets_) {
    if (std::find(offered.begin(), offered.end(), target.name) == offered.end()) {
      continue;
    }
    const std::int32_t left = target.count - coming_to(target);
    if (left > most) {
      most = left;
      chosen_ = target.name;
    }
  }
}

std::vector<std::string> Judge::ready_targets_beside(
    const std::vector<std::string_view>& offered) const {
  std::vector<std::string> names;
  for (const Target& target : targets_) {
    if (target.node != nullptr && target.node->node != nullptr && target.node->initialized() &&
        model::is_true(target.node->node->conditions, model::kReady) &&
        std::find(offered.begin(), offered.end(), target.name) == offered.end()) {
      names.push_back(target.name);
    }
  }
  return names;
}

std::optional<std::string_view> Judge::refusal(const scheduling::NodeRecord* node,
                                               std::string_view node_name,
                                               const model::ResourceList& freed) {
  if (pod_.is_daemon) {
    return std::nullopt;
  }
  if (ledger_.fences_by_node.contains(node_name) ||
      (node != nullptr && node->marked_for_deletion)) {
    return kBeingRemoved;
  }
  if (!chosen_.empty() && chosen_ == node_name) {
    return std::nullopt;
  }
  const Target* const own = find_target(node_name);
  if (own != nullptr && chosen_.empty() && own->count > coming_to(*own)) {
    return std::nullopt;
  }
  // A node that is not known may be one of the pod's own that is known as a claim only.
  if ((node != nullptr || !awaits_node_) && keeps_to_its_room()) {
    return kReservedElsewhere;
  }
  if (node != nullptr && lacks_room(*node, freed)) {
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

const model::ResourceList& Judge::reserved_for_others(const scheduling::NodeRecord& node,
                                                      model::ResourceList& scratch) const {
  const model::ResourceList* shared = nullptr;
  scratch.clear();
  visit_reservations(ledger_, node, [&](const ReservationList& reservations) {
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

bool Judge::lacks_room(const scheduling::NodeRecord& node, const model::ResourceList& freed) {
  model::ResourceList scratch;
  const model::ResourceList& others = reserved_for_others(node, scratch);
  if (others.empty()) {
    return false;
  }
  Room room(node, freed);
  if (scene_.daemons != nullptr) {
    room.take(scene_.daemons->missing(node, scene_.seen.snapshot()));
  }
  // From the cheapest question to the dearest; most nodes are done after the first.
  if (room.lacks(pod_.requests, others)) {
    return true;
  }
  if (scene_.passes.empty()) {
    return false;
  }
  if (!all_passes_) {
    all_passes_.emplace();
    for (const cluster::PassPtr& pass : scene_.passes) {
      model::add_to(*all_passes_, pass->requests);
    }
  }
  Room crowded = room;
  crowded.take(*all_passes_);
  if (!crowded.lacks(pod_.requests, others)) {
    return false;
  }
  room.take(in_flight(node));
  return room.lacks(pod_.requests, others);
}

// What the pod of the attempt would use on the node: room of its group, else of its controller's.
const scheduling::Reservation* Judge::used_by(const cluster::Pass& pass,
                                              const scheduling::NodeRecord& node) const {
  const auto whole_owner = scheduling::GroupId::of_owner(pass.group.owner_uid());
  for (const std::string& target : {node.name(), node.claim_name()}) {
    for (const auto* group : {&pass.group, &whole_owner}) {
      if (const auto* const found = ledger_.find(*group, target)) {
        return found;
      }
    }
  }
  return nullptr;
}

// What pods that were let through may still take from the node, beside what is reserved there for
// their groups. Those that are here already are counted by their binding.
model::ResourceList Judge::in_flight(const scheduling::NodeRecord& node) const {
  model::ResourceList total;
  std::map<std::string_view, std::int32_t> by_group;
  const std::uint64_t hash = cluster::Ledger::node_hash(node.name());
  for (const cluster::PassPtr& pass : scene_.passes) {
    if (!pass->may_land_on(hash) || runs_there(node, pass->pod_uid)) {
      continue;
    }
    const std::int32_t before = by_group[pass->group.text()]++;
    const scheduling::Reservation* const reservation = used_by(*pass, node);
    const bool uses_it =
        reservation != nullptr && counts(*reservation) && before < reservation->count;
    if (!uses_it) {
      model::add_to(total, pass->requests);
    }
  }
  return total;
}

}  // namespace millwright::extender
