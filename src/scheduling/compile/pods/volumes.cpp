#include "scheduling/compile/pods/volumes.hpp"

#include "millwright/model/volume_claims.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace millwright::scheduling {
namespace {

// Bounds the cross product of alternatives of one pod's volumes.
constexpr std::size_t kMaxAlternatives = 32;
constexpr std::string_view kOnePod = "ReadWriteOncePod";
constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";

std::string claim_text(const model::ObjectKey& key) {
  return "PersistentVolumeClaim " + key.to_string();
}

bool is_exclusive_claim(const model::PersistentVolumeClaim& claim) {
  const auto& modes = claim.access_modes;
  return std::find(modes.begin(), modes.end(), kOnePod) != modes.end();
}

// One set of requirements per term. A term that only names a host of a local volume constrains
// nothing: the volume goes where the pod goes or the pod cannot move at all.
std::vector<Requirements> alternatives_of(const std::vector<model::NodeSelectorTerm>& terms,
                                          bool ignore_hostname) {
  std::vector<Requirements> result;
  for (const auto& term : terms) {
    Requirements requirements(term.match_expressions);
    if (ignore_hostname) {
      requirements.remove(model::kHostnameLabel);
    }
    if (requirements.size() == 0) {
      return {};
    }
    result.push_back(std::move(requirements));
  }
  return result;
}

// Every pair that does not exclude itself; none when each does.
std::vector<Requirements> combined(const std::vector<Requirements>& a,
                                   const std::vector<Requirements>& b) {
  if (a.empty() || b.empty()) {
    return a.empty() ? b : a;
  }
  std::vector<Requirements> result;
  for (const Requirements& left : a) {
    for (const Requirements& right : b) {
      if (result.size() < kMaxAlternatives && left.intersects(right)) {
        result.push_back(left);
        result.back().add(right);
      }
    }
  }
  return result;
}

// In-tree provisioners are served by CSI drivers nowadays (CSI migration).
std::string csi_name(std::string_view provisioner) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kMigrated = {{
      {"kubernetes.io/aws-ebs", "ebs.csi.aws.com"},
      {"kubernetes.io/azure-disk", "disk.csi.azure.com"},
      {"kubernetes.io/azure-file", "file.csi.azure.com"},
      {"kubernetes.io/cinder", "cinder.csi.openstack.org"},
      {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io"},
      {"kubernetes.io/portworx-volume", "pxd.portworx.com"},
      {"kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"},
  }};
  for (const auto& [in_tree, driver] : kMigrated) {
    if (provisioner == in_tree) {
      return std::string(driver);
    }
  }
  return std::string(provisioner);
}

}  // namespace

bool has_claims(const model::PodSpec& spec) {
  return std::any_of(spec.volumes.begin(), spec.volumes.end(), [](const model::PodVolume& volume) {
    return volume.ephemeral || !volume.claim_name.empty();
  });
}

Volumes::Volumes(const Snapshot* cluster) : known_(cluster != nullptr) {
  if (!known_) {
    return;
  }
  for (const auto& claim : cluster->volume_claims) {
    claims_.emplace(model::key_of(claim->meta), claim.get());
  }
  for (const auto& volume : cluster->volumes) {
    volumes_.emplace(volume->meta.name, volume.get());
  }
  for (const auto& storage_class : cluster->storage_classes) {
    classes_.emplace(storage_class->meta.name, storage_class.get());
  }
}

void VolumeSlots::set_limits(const model::CSINode& node) {
  for (const model::CSINodeDriver& driver : node.drivers) {
    if (driver.allocatable_count) {
      limits_[driver.name] = static_cast<std::size_t>(std::max(0, *driver.allocatable_count));
    }
  }
}

bool VolumeSlots::fit(const std::vector<AttachedVolume>& volumes) const {
  std::map<std::string_view, std::size_t> more;
  for (const AttachedVolume& volume : volumes) {
    const auto used = used_.find(volume.driver);
    if (used == used_.end() || !used->second.contains(volume.claim)) {
      ++more[volume.driver];
    }
  }
  return std::all_of(more.begin(), more.end(), [&](const auto& item) {
    const auto limit = limits_.find(item.first);
    const auto used = used_.find(item.first);
    const auto kept = kept_.find(item.first);
    return limit == limits_.end() || item.second + (used == used_.end() ? 0 : used->second.size()) +
                                             (kept == kept_.end() ? 0 : kept->second) <=
                                         limit->second;
  });
}

void VolumeSlots::keep(const VolumeCounts& volumes) {
  for (const auto& [driver, count] : volumes) {
    kept_[driver] += static_cast<std::size_t>(std::max(count, 0));
  }
}

void VolumeSlots::add(const std::vector<AttachedVolume>& volumes) {
  for (const AttachedVolume& volume : volumes) {
    used_[volume.driver].insert(volume.claim);
  }
}

std::vector<AttachedVolume> Volumes::attached(const model::Pod& pod) const {
  std::vector<AttachedVolume> result;
  for (const model::PodVolume& volume : pod.spec.volumes) {
    if (!volume.ephemeral && volume.claim_name.empty()) {
      continue;
    }
    model::ObjectKey key = model::volume_claim(pod, volume);
    const auto found = claims_.find(key);
    std::string driver = found == claims_.end() ? std::string() : driver_of(*found->second);
    if (!driver.empty()) {
      result.push_back({std::move(driver), std::move(key)});
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::string Volumes::driver_of(const model::PersistentVolumeClaim& claim) const {
  if (const auto volume = volumes_.find(claim.volume_name); volume != volumes_.end()) {
    return volume->second->csi_driver;
  }
  const auto found = classes_.find(claim.storage_class);
  return found == classes_.end() ? std::string() : csi_name(found->second->provisioner);
}

bool Volumes::is_exclusive(const model::ObjectKey& claim) const {
  const auto found = claims_.find(claim);
  return found != claims_.end() && is_exclusive_claim(*found->second);
}

void Volumes::note_users(const std::vector<NodeRecordPtr>& nodes,
                         const std::set<std::string_view>& moving) {
  // Few clusters have any: their pods need not be looked through.
  if (std::none_of(claims_.begin(), claims_.end(),
                   [](const auto& item) { return is_exclusive_claim(*item.second); })) {
    return;
  }
  for (const auto& node : nodes) {
    if (node->marked_for_deletion) {
      continue;
    }
    for (const auto& pod : node->pods) {
      if (pod->meta.is_deleting() || moving.contains(pod->meta.uid)) {
        continue;
      }
      for (const model::PodVolume& volume : pod->spec.volumes) {
        model::ObjectKey key = model::volume_claim(*pod, volume);
        if (is_exclusive(key)) {
          users_.emplace(std::move(key), pod.get());
        }
      }
    }
  }
}

const model::Pod* Volumes::other_user(const model::ObjectKey& claim, const model::Pod& pod) const {
  const auto found = users_.find(claim);
  return found == users_.end() || found->second->meta.uid == pod.meta.uid ? nullptr : found->second;
}

VolumeNeeds Volumes::needs(const model::Pod& pod) const {
  VolumeNeeds result;
  for (const model::PodVolume& volume : pod.spec.volumes) {
    if (!volume.ephemeral && volume.claim_name.empty()) {
      continue;
    }
    if (!known_) {
      result.refusal = "its volumes cannot be looked up";
      result.remedy = "wait until the volumes of the cluster are known";
      return result;
    }
    const model::ObjectKey key = model::volume_claim(pod, volume);
    One one = needs_of_claim(key);
    if (!one.refusal.empty()) {
      return {{}, std::move(one.refusal), std::move(one.remedy)};
    }
    if (const model::Pod* user = other_user(key, pod)) {
      const std::string name = "pod " + model::key_of(user->meta).to_string();
      return {{},
              claim_text(key) + " is ReadWriteOncePod and in use by " + name,
              "wait until " + name + " is gone, or delete it"};
    }
    auto both = combined(result.alternatives, one.alternatives);
    if (both.empty() && !one.alternatives.empty()) {
      return {{},
              "its volumes are in different places: " + result.alternatives.front().to_string() +
                  " and " + one.alternatives.front().to_string(),
              "use volumes that one node can reach"};
    }
    result.alternatives = std::move(both);
  }
  return result;
}

Volumes::One Volumes::needs_of_claim(const model::ObjectKey& key) const {
  const auto found = claims_.find(key);
  if (found == claims_.end()) {
    return {{}, claim_text(key) + " does not exist", "create " + claim_text(key)};
  }
  const model::PersistentVolumeClaim& claim = *found->second;
  if (claim.meta.is_deleting()) {
    return {{},
            claim_text(key) + " is being deleted",
            "create " + claim_text(key) + " anew once it is gone"};
  }
  if (claim.phase == "Lost") {
    return {{},
            claim_text(key) + " has lost its volume " + claim.volume_name,
            "create " + claim_text(key) + " anew with another volume"};
  }
  if (!claim.volume_name.empty()) {
    if (!claim.meta.annotations.contains(kBindCompleted)) {
      return {{}, claim_text(key) + " is not fully bound yet", "wait until it is bound"};
    }
    return needs_of_volume(key, claim.volume_name);
  }
  if (claim.storage_class.empty()) {
    return {{},
            claim_text(key) + " is unbound and has no storage class",
            "set storageClassName of " + claim_text(key) + ", or bind it to a volume"};
  }
  return needs_of_class(claim_text(key), claim.storage_class);
}

Volumes::One Volumes::needs_of_volume(const model::ObjectKey& claim,
                                      const std::string& volume) const {
  const auto found = volumes_.find(volume);
  if (found == volumes_.end()) {
    return {{},
            claim_text(claim) + " is bound to volume " + volume + ", which does not exist",
            "create PersistentVolume " + volume};
  }
  if (found->second->meta.is_deleting()) {
    return {{},
            "PersistentVolume " + volume + " is being deleted",
            "bind " + claim_text(claim) + " to another volume"};
  }
  const model::PersistentVolume& pv = *found->second;
  return {alternatives_of(pv.required_node_terms, pv.local_or_host_path), "", ""};
}

Volumes::One Volumes::needs_of_class(const std::string& owner,
                                     const std::string& storage_class) const {
  const auto found = classes_.find(storage_class);
  if (found == classes_.end()) {
    return {{},
            owner + " names StorageClass " + storage_class + ", which does not exist",
            "create StorageClass " + storage_class};
  }
  if (found->second->volume_binding_mode != "WaitForFirstConsumer") {
    return {{},
            owner + " waits for StorageClass " + storage_class + " to bind it at once",
            "use volumeBindingMode WaitForFirstConsumer in StorageClass " + storage_class +
                ", so that the volume follows the pod"};
  }
  return {alternatives_of(found->second->allowed_topologies, false), "", ""};
}

}  // namespace millwright::scheduling
