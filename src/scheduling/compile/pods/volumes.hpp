// Where a pod's volumes let it go: bound volumes by their node affinity, unbound ones by their
// class's allowed topologies (Karpenter's volume topology).
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <compare>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::scheduling {

struct VolumeNeeds {
  // Node requirements of which any will do; empty when the volumes need nothing.
  std::vector<Requirements> alternatives;
  std::string refusal;  // why the pod cannot be planned at all; empty when it can
  std::string remedy;
};

// A claim whose volume a CSI driver attaches to the node.
struct AttachedVolume {
  std::string driver;
  model::ObjectKey claim;
  friend auto operator<=>(const AttachedVolume&, const AttachedVolume&) = default;
};

// How many volumes each driver may still attach to one node. A claim counts once, however many
// pods use it.
class VolumeSlots {
 public:
  void set_limits(const model::CSINode& node);
  // A limit that counts as long as the node has not told one.
  void expect_limit(const std::string& driver, std::size_t limit) {
    limits_.try_emplace(driver, limit);
  }
  // Leaves so many to others.
  void keep(const VolumeCounts& volumes);
  bool fit(const std::vector<AttachedVolume>& volumes) const;
  void add(const std::vector<AttachedVolume>& volumes);

 private:
  std::map<std::string, std::size_t, std::less<>> limits_;
  std::map<std::string, std::set<model::ObjectKey>, std::less<>> used_;
  std::map<std::string, std::size_t, std::less<>> kept_;
};

class Volumes {
 public:
  // `cluster` may be null: then pods with claims are refused.
  explicit Volumes(const Snapshot* cluster);
  // Says which bound pods keep others from their volumes: kube-scheduler puts no second pod of a
  // claim that is ReadWriteOncePod on any node. Those in `moving` do not, by uid, nor do those that
  // are about to go: what is bought for their successors is of use once they are gone.
  void note_users(const std::vector<NodeRecordPtr>& nodes,
                  const std::set<std::string_view>& moving);
  VolumeNeeds needs(const model::Pod& pod) const;
  // Sorted. Volumes whose driver is not known (no claim, no class, not CSI) are left out.
  std::vector<AttachedVolume> attached(const model::Pod& pod) const;

 private:
  struct One {
    std::vector<Requirements> alternatives;
    std::string refusal;
    std::string remedy;
  };
  One needs_of_claim(const model::ObjectKey& key) const;
  One needs_of_volume(const model::ObjectKey& claim, const std::string& volume) const;
  One needs_of_class(const std::string& owner, const std::string& storage_class) const;

  std::string driver_of(const model::PersistentVolumeClaim& claim) const;
  bool is_exclusive(const model::ObjectKey& claim) const;
  // nullptr: none keeps the pod from the claim.
  const model::Pod* other_user(const model::ObjectKey& claim, const model::Pod& pod) const;

  bool known_ = false;
  std::map<model::ObjectKey, const model::PersistentVolumeClaim*> claims_;
  std::map<model::ObjectKey, const model::Pod*> users_;  // of claims that one pod may use
  std::map<std::string, const model::PersistentVolume*, std::less<>> volumes_;
  std::map<std::string, const model::StorageClass*, std::less<>> classes_;
};

bool has_claims(const model::PodSpec& spec);

}  // namespace millwright::scheduling
