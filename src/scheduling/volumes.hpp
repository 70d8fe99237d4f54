// Where a pod's volumes let it go: bound volumes by their node affinity, unbound ones by their
// class's allowed topologies (Karpenter's volume topology).
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <map>
#include <string>
#include <vector>

namespace millwright::scheduling {

struct VolumeNeeds {
  // Node requirements of which any will do; empty when the volumes need nothing.
  std::vector<Requirements> alternatives;
  std::string refusal;  // why the pod cannot be planned at all; empty when it can
  std::string remedy;
};

class Volumes {
 public:
  // `surroundings` may be null: then pods with claims are refused.
  explicit Volumes(const Snapshot* surroundings);
  VolumeNeeds needs(const model::Pod& pod) const;

 private:
  struct One {
    std::vector<Requirements> alternatives;
    std::string refusal;
    std::string remedy;
  };
  One needs_of_claim(const model::ObjectKey& key) const;
  One needs_of_volume(const model::ObjectKey& claim, const std::string& volume) const;
  One needs_of_class(const std::string& owner, const std::string& storage_class) const;

  bool known_ = false;
  std::map<model::ObjectKey, const model::PersistentVolumeClaim*> claims_;
  std::map<std::string, const model::PersistentVolume*, std::less<>> volumes_;
  std::map<std::string, const model::StorageClass*, std::less<>> classes_;
};

bool has_claims(const model::PodSpec& spec);

}  // namespace millwright::scheduling
