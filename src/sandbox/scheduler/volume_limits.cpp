#include "sandbox/scheduler/volume_limits.hpp"

#include "millwright/model/codec.hpp"

#include <algorithm>

namespace millwright::sandbox {

namespace {

template <class T>
std::optional<T> stored(const Store& store, const model::Resource& resource,
                        const model::ObjectKey& key) {
  const auto object = store.find(info_of(resource), key);
  if (object == nullptr) {
    return std::nullopt;
  }
  auto decoded = model::decode<T>(*object);
  return decoded ? std::optional(*std::move(decoded)) : std::nullopt;
}

}  // namespace

VolumeLimits::VolumeLimits(const Store& store, const model::Pod& pod)
    : store_(store), wanted_(volumes_of(pod)) {}

bool VolumeLimits::admit(const NodeInfo& node) const {
  if (wanted_.empty()) {
    return true;
  }
  const auto csi_node =
      stored<model::CSINode>(store_, model::kCSINodeResource, {{}, node.node->meta.name});
  if (!csi_node) {
    return true;
  }
  ByDriver attached = wanted_;
  for (const auto& [uid, pod] : node.pods) {
    for (const auto& [driver, claims] : volumes_of(*pod)) {
      attached[driver].insert(claims.begin(), claims.end());
    }
  }
  return std::all_of(csi_node->drivers.begin(), csi_node->drivers.end(), [&](const auto& driver) {
    return !driver.allocatable_count || !wanted_.contains(driver.name) ||
           attached[driver.name].size() <= static_cast<std::size_t>(*driver.allocatable_count);
  });
}

VolumeLimits::ByDriver VolumeLimits::volumes_of(const model::Pod& pod) const {
  ByDriver result;
  for (const auto& volume : pod.spec.volumes) {
    if (!volume.ephemeral && volume.claim_name.empty()) {
      continue;
    }
    const model::ObjectKey claim{pod.meta.namespace_, volume.ephemeral
                                                          ? pod.meta.name + "-" + volume.name
                                                          : volume.claim_name};
    if (auto driver = driver_of(claim); !driver.empty()) {
      result[std::move(driver)].insert(claim.to_string());
    }
  }
  return result;
}

std::string VolumeLimits::driver_of(const model::ObjectKey& claim) const {
  const auto found =
      stored<model::PersistentVolumeClaim>(store_, model::kPersistentVolumeClaimResource, claim);
  if (!found) {
    return {};
  }
  if (const auto volume = stored<model::PersistentVolume>(store_, model::kPersistentVolumeResource,
                                                          {{}, found->volume_name})) {
    return volume->csi_driver;
  }
  const auto storage_class =
      stored<model::StorageClass>(store_, model::kStorageClassResource, {{}, found->storage_class});
  return storage_class ? storage_class->provisioner : std::string();
}

}  // namespace millwright::sandbox
