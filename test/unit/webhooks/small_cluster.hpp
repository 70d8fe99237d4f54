// A cluster of two NodeClasses and three instance types, and pools to put into it.
#pragma once

#include "reviews.hpp"

#include <chrono>

namespace millwright::webhooks {

inline scheduling::InstanceType instance_type(const std::string& name, const std::string& cpu,
                                              const std::string& arch,
                                              const std::vector<std::string>& capacity_types) {
  scheduling::InstanceType type;
  type.name = name;
  for (scheduling::Requirement requirement :
       {scheduling::Requirement::in("node.kubernetes.io/instance-type", {name}),
        scheduling::Requirement::in("kubernetes.io/arch", {arch}),
        scheduling::Requirement::in("kubernetes.io/os", {"linux"}),
        scheduling::Requirement::in("karpenter.kwok.sh/instance-cpu", {cpu}),
        scheduling::Requirement::in("topology.kubernetes.io/zone", {"zone-a", "zone-b"}),
        scheduling::Requirement::in("karpenter.sh/capacity-type", capacity_types)}) {
    type.requirements.add(std::move(requirement));
  }
  for (const char* zone : {"zone-a", "zone-b"}) {
    for (const std::string& capacity_type : capacity_types) {
      scheduling::Offering offering;
      offering.requirements.add(scheduling::Requirement::in("topology.kubernetes.io/zone", {zone}));
      offering.requirements.add(
          scheduling::Requirement::in("karpenter.sh/capacity-type", {capacity_type}));
      type.offerings.push_back(std::move(offering));
    }
  }
  return type;
}

inline ClusterSnapshot small_cluster() {
  ClusterSnapshot cluster;
  cluster.now = base::TimePoint(std::chrono::hours(24 * 20000));
  for (const char* name : {"default", "storage"}) {
    model::NodeClass node_class;
    node_class.api_version = "karpenter.kwok.sh/v1alpha1";
    node_class.kind = "KWOKNodeClass";
    node_class.meta.name = name;
    cluster.node_classes.push_back(node_class);
  }
  const auto served = model::node_class_resources();
  cluster.served_node_classes.assign(served.begin(), served.end());
  const auto types = std::make_shared<const std::vector<scheduling::InstanceType>>(
      std::vector<scheduling::InstanceType>{
          instance_type("c-2x-amd64-linux", "2", "amd64", {"spot", "on-demand"}),
          instance_type("c-4x-amd64-linux", "4", "amd64", {"spot", "on-demand"}),
          instance_type("c-8x-arm64-linux", "8", "arm64", {"on-demand"})});
  cluster.instance_types = [types](const model::NodeClassReference&) { return types; };
  return cluster;
}

inline json::value base_pool() {
  return test::admission_bases().at("nodepool");
}

inline std::vector<std::string> warnings_for(const json::value& object,
                                             const ClusterSnapshot& cluster) {
  const Admission admission([&] { return std::make_shared<const ClusterSnapshot>(cluster); });
  return warnings_of(admission.validate(creation(object)));
}

inline json::value with_requirements(const std::string& yaml) {
  json::value pool = base_pool();
  pool.at_pointer("/spec/template/spec").as_object()["requirements"] =
      model::parse_yaml(yaml)->at(0);
  return pool;
}

inline json::value with_disruption(const std::string& yaml) {
  json::value pool = base_pool();
  pool.at("spec").as_object()["disruption"] = model::parse_yaml(yaml)->at(0);
  return pool;
}

}  // namespace millwright::webhooks
