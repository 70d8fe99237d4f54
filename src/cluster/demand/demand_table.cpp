#include "cluster/demand/demand_table.hpp"

#include <algorithm>
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

DemandTable::Groups::iterator DemandTable::find_group(const model::Pod& pod) {
  return groups_.try_emplace(scheduling::group_of(pod)).first;
}

DemandTable::Groups::iterator DemandTable::group_of_waiting(const scheduling::PodPtr& pod) {
  Known& known = waiting_[pod->meta.uid];
  if (known.pod == nullptr || (known.pod != pod && !is_alike(*known.pod, *pod))) {
    known.group = find_group(*pod);
  }
  known.pod = pod;
  return known.group;
}

scheduling::GroupDemand& DemandTable::demand_of(Groups::iterator group,
                                                const scheduling::PodPtr& sample) {
  Gathered& gathered = group->second;
  if (gathered.round != round_) {
    gathered.round = round_;
    gathered.demand = {.group = group->first, .sample = sample};
    ++in_round_;
  }
  return gathered.demand;
}

void DemandTable::add_waiting(const scheduling::PodPtr& pod) {
  demand_of(group_of_waiting(pod), pod).waiting.push_back(pod);
}

void DemandTable::add_leaving(const scheduling::PodPtr& pod) {
  demand_of(find_group(*pod), pod).leaving.push_back(pod);
}

void DemandTable::add_expected(const scheduling::PodPtr& sample, std::int32_t count) {
  if (count > 0) {
    demand_of(find_group(*sample), sample).expected += count;
  }
}

void DemandTable::add_later(const scheduling::PodPtr& pod, std::int32_t count) {
  if (count > 0) {
    demand_of(find_group(*pod), pod).later += count;
  }
}

scheduling::Demand DemandTable::take() {
  scheduling::Demand demand;
  demand.reserve(in_round_);
  std::size_t waiting = 0;
  for (auto& [group, gathered] : groups_) {
    if (gathered.round != round_) {
      continue;
    }
    auto& leaving = gathered.demand.leaving;
    std::sort(leaving.begin(), leaving.end(),
              [](const auto& a, const auto& b) { return a->meta.uid < b->meta.uid; });
    waiting += gathered.demand.waiting.size();
    demand.push_back(std::move(gathered.demand));
  }
  // Pods that wait no longer, and groups that need nothing, are forgotten now and then.
  if (waiting_.size() > 2 * waiting + 64 || groups_.size() > 2 * in_round_ + 64) {
    waiting_.clear();
    groups_.clear();
  }
  ++round_;
  in_round_ = 0;
  return demand;
}

}  // namespace millwright::cluster
