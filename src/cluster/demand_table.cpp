#include "cluster/demand_table.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace millwright::cluster {

namespace {

// As far as their group goes.
bool is_alike(const model::Pod& a, const model::Pod& b) {
  return a.spec == b.spec && a.meta.owner_references == b.meta.owner_references &&
         a.status.container_statuses == b.status.container_statuses &&
         a.status.resize == b.status.resize;
}

}  // namespace

const scheduling::GroupId& DemandTable::group_of_waiting(const scheduling::PodPtr& pod) {
  Known& known = waiting_[pod->meta.uid];
  if (known.pod == nullptr || (known.pod != pod && !is_alike(*known.pod, *pod))) {
    known.group = scheduling::group_of(*pod);
  }
  known.pod = pod;
  return known.group;
}

scheduling::GroupDemand& DemandTable::demand_of(const scheduling::GroupId& group,
                                                const scheduling::PodPtr& sample) {
  const auto [entry, added] = index_.try_emplace(group.text(), demand_.size());
  if (added) {
    demand_.push_back({.group = group, .sample = sample});
  }
  return demand_[entry->second];
}

void DemandTable::add_waiting(const scheduling::PodPtr& pod) {
  demand_of(group_of_waiting(pod), pod).waiting.push_back(pod);
}

void DemandTable::add_leaving(const scheduling::PodPtr& pod) {
  demand_of(scheduling::group_of(*pod), pod).leaving.push_back(pod);
}

void DemandTable::add_expected(const scheduling::PodPtr& sample, std::int32_t count, bool at_once) {
  if (count <= 0) {
    return;
  }
  scheduling::GroupDemand& demand = demand_of(scheduling::group_of(*sample), sample);
  (at_once ? demand.expected : demand.later) += count;
}

void DemandTable::add_later(const scheduling::PodPtr& pod) {
  ++demand_of(scheduling::group_of(*pod), pod).later;
}

scheduling::Demand DemandTable::take() {
  std::size_t waiting = 0;
  for (scheduling::GroupDemand& each : demand_) {
    std::sort(each.leaving.begin(), each.leaving.end(),
              [](const auto& a, const auto& b) { return a->meta.uid < b->meta.uid; });
    waiting += each.waiting.size();
  }
  // Pods that wait no longer are forgotten now and then.
  if (waiting_.size() > 2 * waiting + 64) {
    waiting_.clear();
  }
  std::sort(demand_.begin(), demand_.end(),
            [](const auto& a, const auto& b) { return a.group < b.group; });
  index_.clear();
  return std::exchange(demand_, {});
}

namespace {

// The higher, the more a reservation there would be missed.
int worth_of(const scheduling::NodeRecord* record) {
  if (record != nullptr && (record->marked_for_deletion || record->fenced)) {
    return 0;
  }
  if (record == nullptr) {
    return 1;  // a claim that is being created
  }
  if (record->node == nullptr) {
    return model::is_true(record->claim->conditions, model::kLaunched) ? 2 : 1;
  }
  return record->initialized() ? 4 : 3;
}

struct Place {
  int worth = 0;
  std::int32_t all = 0;  // reserved there for anybody: little of it may become nothing
  std::string target;
  std::int32_t count = 0;
};

std::vector<Place> places_of(
    const LedgerView& view, const scheduling::GroupId& group,
    const std::map<std::string_view, const scheduling::NodeRecord*>& nodes) {
  std::vector<Place> places;
  for (const std::string& target : view.targets_of(group)) {
    const auto node = nodes.find(target);
    Place place{.worth = worth_of(node == nodes.end() ? nullptr : node->second), .target = target};
    const ReservationList& list = view.by_target.find(target)->second;
    for (const scheduling::Reservation& reservation : list) {
      place.all += reservation.count;
    }
    place.count = list.find(group)->count;
    places.push_back(std::move(place));
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.worth, a.all, a.target) < std::tie(b.worth, b.all, b.target);
  });
  return places;
}

}  // namespace

void free_surplus(Ledger& ledger, const scheduling::Snapshot& snapshot) {
  const LedgerViewPtr view = ledger.view();
  std::map<std::string_view, const scheduling::NodeRecord*> nodes;
  for (const auto& [text, targets] : view->targets_by_group) {
    const scheduling::GroupId group(text);
    const auto* const demand = scheduling::find_demand(snapshot.demand, group);
    std::int32_t surplus =
        view->reserved(group) - (demand == nullptr ? 0 : demand->most_reserved());
    if (group.is_whole_owner() || surplus <= 0) {
      continue;
    }
    if (nodes.empty()) {
      for (const auto& record : snapshot.nodes) {
        nodes.emplace(record->name(), record.get());
        nodes.emplace(record->claim_name(), record.get());
      }
    }
    for (const Place& place : places_of(*view, group, nodes)) {
      const std::int32_t freed = std::min(surplus, place.count);
      ledger.lower(group, place.target, freed);
      surplus -= freed;
    }
  }
}

}  // namespace millwright::cluster
