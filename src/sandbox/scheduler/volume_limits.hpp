// NodeVolumeLimits: a node attaches no more volumes of a CSI driver than its CSINode says.
#pragma once

#include "sandbox/apiserver/store/store.hpp"
#include "sandbox/scheduler/cache.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace millwright::sandbox {

// For one pod: made once per scheduling cycle. Keeps a reference to the store.
class VolumeLimits {
 public:
  VolumeLimits(const Store& store, const model::Pod& pod);
  bool admit(const NodeInfo& node) const;

 private:
  using Claims = std::set<std::string>;
  using ByDriver = std::map<std::string, Claims>;

  ByDriver volumes_of(const model::Pod& pod) const;
  std::string driver_of(const model::ObjectKey& claim) const;

  const Store& store_;
  ByDriver wanted_;
};

}  // namespace millwright::sandbox
