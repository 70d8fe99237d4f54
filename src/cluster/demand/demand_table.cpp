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

void DemandTable::add_expected(const scheduling::PodPtr& sample, std::int32_t count) {
  if (count > 0) {
    demand_of(scheduling::group_of(*sample), sample).expected += count;
  }
}

void DemandTable::add_later(const scheduling::PodPtr& pod, std::int32_t count) {
  if (count > 0) {
    demand_of(scheduling::group_of(*pod), pod).later += count;
  }
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

}  // namespace millwright::cluster
