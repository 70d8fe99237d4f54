// The objects that select a workload's pods: Services, ReplicationControllers, ReplicaSets and
// StatefulSets. kube-scheduler's default topology spread constraints use their selectors.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/model/kinds.hpp"
#include "millwright/model/meta.hpp"
#include "millwright/model/selector.hpp"

#include <boost/json/value.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::model {

struct PodSelector {
  std::string kind;
  ObjectMeta meta;  // without labels, annotations and owners: there are many of these objects
  std::optional<LabelSelector> selector;  // absent: it selects nothing
  friend bool operator==(const PodSelector&, const PodSelector&) = default;
};

// The kinds that are read as a PodSelector.
inline constexpr std::array kPodSelectorResources{kServiceResource, kReplicationControllerResource,
                                                  kReplicaSetResource, kStatefulSetResource};

// `kind` is one of these. It is passed in, since the items of a list do not name their kind.
base::Result<PodSelector> decode_pod_selector(std::string_view kind,
                                              const boost::json::value& json);

}  // namespace millwright::model
