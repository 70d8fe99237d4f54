// The objects that make pods by number, as far as it tells how many pods are still to come:
// ReplicationControllers, ReplicaSets, StatefulSets and Jobs.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/model/kinds.hpp"
#include "millwright/model/meta.hpp"

#include <boost/json/value.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace millwright::model {

struct Workload {
  std::string kind;
  ObjectMeta meta;  // without labels, annotations and owners: there are many of these objects
  // How many pods that are not over it wants to exist now; from 0 to kMostPods.
  std::int32_t pods = 0;
  // It creates all that are missing together. Otherwise one waits for another, or for a delay.
  bool at_once = false;
  friend bool operator==(const Workload&, const Workload&) = default;
};

// More are not counted: no plan is made for that many pods that may never come.
inline constexpr std::int32_t kMostPods = 100'000;

// The kinds that are read as a Workload.
inline constexpr std::array kWorkloadResources{kReplicationControllerResource, kReplicaSetResource,
                                               kStatefulSetResource, kJobResource};

// The owner is of one of these kinds. A kind of the same name in another API group is another kind.
bool is_workload(const OwnerReference& owner);

// `kind` is one of these. It is passed in, since the items of a list do not name their kind.
base::Result<Workload> decode_workload(std::string_view kind, const boost::json::value& json);

}  // namespace millwright::model
