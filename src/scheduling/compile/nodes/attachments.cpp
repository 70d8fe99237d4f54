#include "millwright/scheduling/attachments.hpp"

#include "scheduling/compile/pods/volumes.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

namespace millwright::scheduling {
namespace {

const model::CSINode* csi_node_of(const Snapshot& snapshot, std::string_view node) {
  const auto found = std::lower_bound(
      snapshot.csi_nodes.begin(), snapshot.csi_nodes.end(), node,
      [](const auto& each, std::string_view name) { return each->meta.name < name; });
  return found != snapshot.csi_nodes.end() && (*found)->meta.name == node ? found->get() : nullptr;
}

// So many of those that need a place, or all: no more are touched, since a large group may have
// room on many nodes, each for a few.
std::vector<PodPtr> last_pods(const GroupDemand& demand, std::int32_t pods) {
  const auto wanted = static_cast<std::size_t>(std::max(pods, 0));
  const std::size_t of_leaving = std::min(wanted, demand.leaving.size());
  const std::size_t of_waiting = std::min(wanted - of_leaving, demand.waiting.size());
  std::vector<PodPtr> result(demand.waiting.end() - static_cast<std::ptrdiff_t>(of_waiting),
                             demand.waiting.end());
  result.insert(result.end(), demand.leaving.end() - static_cast<std::ptrdiff_t>(of_leaving),
                demand.leaving.end());
  return result;
}

VolumeCounts by_driver(const std::set<AttachedVolume>& volumes) {
  VolumeCounts result;
  for (const AttachedVolume& volume : volumes) {
    ++result[volume.driver];
  }
  return result;
}

}  // namespace

struct Attachments::Impl {
  explicit Impl(const Snapshot& snapshot) : volumes(&snapshot) {}

  std::set<AttachedVolume> of(const std::vector<PodPtr>& pods) const {
    std::set<AttachedVolume> distinct;
    for (const auto& pod : pods) {
      if (has_claims(pod->spec)) {
        const auto attached = volumes.attached(*pod);
        distinct.insert(attached.begin(), attached.end());
      }
    }
    return distinct;
  }

  Volumes volumes;
};

Attachments::Attachments(const Snapshot& snapshot) : snapshot_(snapshot) {}
Attachments::~Attachments() = default;

VolumeCounts Attachments::of_group(const GroupId& group, std::int32_t pods,
                                   const NodeRecord* node) {
  const GroupDemand* demand = find_demand(snapshot_.demand, group);
  if (demand == nullptr || !demand->sample || !has_claims(demand->sample->spec)) {
    return {};
  }
  if (!impl_) {
    impl_ = std::make_unique<Impl>(snapshot_);
  }
  std::set<AttachedVolume> volumes = impl_->of(last_pods(*demand, pods));
  if (node != nullptr) {
    for (const AttachedVolume& there : impl_->of(node->pods)) {
      volumes.erase(there);
    }
  }
  return by_driver(volumes);
}

VolumeCounts Attachments::free_on(const NodeRecord& node) {
  const model::CSINode* csi_node = csi_node_of(snapshot_, node.name());
  VolumeCounts result;
  for (const auto& driver :
       csi_node == nullptr ? std::vector<model::CSINodeDriver>() : csi_node->drivers) {
    if (driver.allocatable_count) {
      result[driver.name] = *driver.allocatable_count;
    }
  }
  if (result.empty()) {
    return result;
  }
  if (!impl_) {
    impl_ = std::make_unique<Impl>(snapshot_);
  }
  const VolumeCounts used = by_driver(impl_->of(node.pods));
  for (auto& [driver, count] : result) {
    const auto found = used.find(driver);
    count = std::max(count - (found == used.end() ? 0 : found->second), 0);
  }
  return result;
}

bool fits(const VolumeCounts& volumes, const VolumeCounts& limits) {
  return std::all_of(volumes.begin(), volumes.end(), [&](const auto& item) {
    const auto limit = limits.find(item.first);
    return limit == limits.end() || item.second <= limit->second;
  });
}

}  // namespace millwright::scheduling
