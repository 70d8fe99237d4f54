// The labels of ECS instance types. Pure.
#pragma once

#include "cloud/alibaba/calls/ecs_types.hpp"
#include "cloud/alibaba/node_class/node_class_spec.hpp"
#include "millwright/scheduling/requirements.hpp"

#include <string>
#include <string_view>

namespace millwright::cloud::alibaba {

inline constexpr std::string_view kZoneIdLabel = "topology.k8s.alibabacloud/zone-id";
inline constexpr std::string_view kNodeClassLabel = "karpenter.k8s.alibabacloud/ecsnodeclass";
inline constexpr std::string_view kOfficialNodeClassLabel =
    "karpenter.alibabacloud.com/ecsnodeclass";

// Of "ecs.g7ne.2xlarge": "ecs.g7ne", "g", "7", "2xlarge". What the name does not show is empty.
struct NameParts {
  std::string family;
  std::string category;
  std::string generation;
  std::string size;
};
NameParts parts_of_name(std::string_view name);

// Everything but zones and capacity types. The labels of the other group than the class's do not
// exist: whoever asks for them gets no node of the class.
scheduling::Requirements labels_of(const TypeFacts& type, const NodeClassSpec& node_class,
                                   std::string_view region);

// Makes the labels well known. Call at start-up, before other threads run.
void register_labels();

}  // namespace millwright::cloud::alibaba
