// Alibaba Cloud has two providers for Karpenter, each with an ECSNodeClass in a group of its own:
// CloudPilot's (karpenter.k8s.alibabacloud), whose terms the adapter works in, and Alibaba Cloud's
// (karpenter.alibabacloud.com), the official one. Here an object of one becomes one of the other.
// Pure: JSON in, JSON out.
#pragma once

#include <boost/json/value.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace millwright::cloud {

enum class EcsGroup : std::uint8_t { Served, Official };

struct EcsTranslation {
  boost::json::value object;
  std::vector<std::string> notes;  // what is left out or told otherwise; nodes are much as before
  // What the other group cannot say: nodes would be other than the object asks for, or none. Each
  // names the field and what to do.
  std::vector<std::string> problems;
};

// An ECSNodeClass of one group as one of the other, which is `to`. Status, and what a controller
// has written on the object, is left out.
EcsTranslation translate_ecs_class(const boost::json::value& node_class, EcsGroup to);

// Whether a NodePool names an ECSNodeClass of the group.
bool names_ecs_class(const boost::json::value& node_pool, EcsGroup group);
// A NodePool that names a class of one group as one that names the class of the same name in the
// other, which is `to`, with the labels that nodes have there.
EcsTranslation translate_ecs_pool(const boost::json::value& node_pool, EcsGroup to);

}  // namespace millwright::cloud
