// Small builders for the objects that the cluster and extender tests feed in.
#pragma once

#include "millwright/cluster/ledger.hpp"
#include "millwright/model/core.hpp"
#include "millwright/model/karpenter.hpp"
#include "millwright/scheduling/demand.hpp"
#include "millwright/scheduling/solve.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace millwright::testing {

inline base::TimePoint at(std::int64_t seconds) {
  return base::TimePoint(std::chrono::seconds(1'767'225'600 + seconds));  // 2026-01-01
}

inline model::ResourceList resources(std::int64_t milli_cpu, std::int64_t mebibytes = 0) {
  model::ResourceList list;
  if (milli_cpu != 0) {
    list.emplace(model::kCpu, model::Quantity::from_milli(milli_cpu));
  }
  if (mebibytes != 0) {
    list.emplace(model::kMemory, model::Quantity::from_units(mebibytes * 1024 * 1024,
                                                             model::Quantity::Format::BinarySI));
  }
  return list;
}

// What a node offers: the resources and room for 110 pods.
inline model::ResourceList offered(std::int64_t milli_cpu, std::int64_t mebibytes = 0) {
  model::ResourceList list = resources(milli_cpu, mebibytes);
  list.emplace(model::kPods, model::Quantity::from_units(110));
  return list;
}

class PodBuilder {
 public:
  explicit PodBuilder(const std::string& name) {
    pod_.meta.name = name;
    pod_.meta.namespace_ = "default";
    pod_.meta.uid = "uid-" + name;
    pod_.status.phase = "Pending";
    pod_.spec.containers.push_back(model::Container{.name = "main"});
  }
  PodBuilder& in(std::string ns) { return set(pod_.meta.namespace_, std::move(ns)); }
  PodBuilder& uid(std::string uid) { return set(pod_.meta.uid, std::move(uid)); }
  PodBuilder& version(int version) {
    return set(pod_.meta.resource_version, std::to_string(version));
  }
  PodBuilder& created(std::int64_t seconds) {
    pod_.meta.creation_timestamp = at(seconds);
    return *this;
  }
  PodBuilder& on(std::string node) { return set(pod_.spec.node_name, std::move(node)); }
  PodBuilder& phase(std::string phase) { return set(pod_.status.phase, std::move(phase)); }
  PodBuilder& conditions(std::vector<model::Condition> conditions) {
    return set(pod_.status.conditions, std::move(conditions));
  }
  PodBuilder& priority(std::int32_t priority) { return set(pod_.spec.priority, priority); }
  PodBuilder& requests(std::int64_t milli_cpu, std::int64_t mebibytes = 0) {
    return set(pod_.spec.containers[0].requests, resources(milli_cpu, mebibytes));
  }
  PodBuilder& deleting() {
    pod_.meta.deletion_timestamp = at(0);
    return *this;
  }
  PodBuilder& gated() {
    pod_.spec.scheduling_gates.emplace_back("example.com/not-yet");
    return *this;
  }
  PodBuilder& finalizer(std::string name) {
    pod_.meta.finalizers.push_back(std::move(name));
    return *this;
  }
  PodBuilder& claim(std::string name) {
    pod_.spec.volumes.push_back({.name = "data", .claim_name = std::move(name)});
    return *this;
  }
  PodBuilder& owned_by(const std::string& name, const std::string& kind = "ReplicaSet",
                       const std::string& api_version = "apps/v1") {
    pod_.meta.owner_references.push_back(model::OwnerReference{
        .api_version = api_version, .kind = kind, .name = name, .uid = name, .controller = true});
    return *this;
  }
  PodBuilder& owned_by_daemon_set() { return owned_by("agent", "DaemonSet"); }
  const model::Pod& value() const { return pod_; }
  std::shared_ptr<const model::Pod> build() const { return std::make_shared<model::Pod>(pod_); }

 private:
  template <class T>
  PodBuilder& set(T& field, T value) {
    field = std::move(value);
    return *this;
  }
  model::Pod pod_;
};

class NodeBuilder {
 public:
  explicit NodeBuilder(const std::string& name) {
    node_.meta.name = name;
    node_.meta.uid = "uid-" + name;
  }
  NodeBuilder& uid(const std::string& uid) {
    node_.meta.uid = uid;
    return *this;
  }
  NodeBuilder& version(int version) {
    node_.meta.resource_version = std::to_string(version);
    return *this;
  }
  NodeBuilder& created(std::int64_t seconds) {
    node_.meta.creation_timestamp = at(seconds);
    return *this;
  }
  NodeBuilder& deleting() {
    node_.meta.deletion_timestamp = at(0);
    return *this;
  }
  NodeBuilder& provider(const std::string& id) {
    node_.provider_id = id;
    return *this;
  }
  // Labels of a node that Karpenter's pool owns, registered and initialised.
  NodeBuilder& managed(const std::string& pool = "default") {
    return label(model::kNodePoolLabel, pool)
        .label(model::kInstanceTypeLabel, "c9.large")
        .label(model::kRegisteredLabel, "true")
        .label(model::kInitializedLabel, "true");
  }
  NodeBuilder& label(std::string_view key, const std::string& value) {
    node_.meta.labels.insert_or_assign(std::string(key), value);
    return *this;
  }
  NodeBuilder& annotation(std::string_view key, const std::string& value) {
    node_.meta.annotations.insert_or_assign(std::string(key), value);
    return *this;
  }
  NodeBuilder& allocatable(std::int64_t milli_cpu, std::int64_t mebibytes = 0) {
    node_.allocatable = offered(milli_cpu, mebibytes);
    node_.capacity = node_.allocatable;
    return *this;
  }
  NodeBuilder& ready_since(std::int64_t seconds) {
    node_.conditions.push_back(model::Condition{.type = "Ready",
                                                .status = model::ConditionStatus::True,
                                                .last_transition_time = at(seconds)});
    return *this;
  }
  std::shared_ptr<const model::Node> build() const { return std::make_shared<model::Node>(node_); }

 private:
  model::Node node_;
};

class ClaimBuilder {
 public:
  explicit ClaimBuilder(const std::string& name) {
    claim_.meta.name = name;
    claim_.meta.uid = "uid-" + name;
    claim_.meta.labels.emplace(model::kNodePoolLabel, "default");
  }
  ClaimBuilder& uid(const std::string& uid) {
    claim_.meta.uid = uid;
    return *this;
  }
  ClaimBuilder& version(int version) {
    claim_.meta.resource_version = std::to_string(version);
    return *this;
  }
  ClaimBuilder& created(std::int64_t seconds) {
    claim_.meta.creation_timestamp = at(seconds);
    return *this;
  }
  ClaimBuilder& deleting() {
    claim_.meta.deletion_timestamp = at(0);
    return *this;
  }
  ClaimBuilder& provider(const std::string& id) {
    claim_.provider_id = id;
    return *this;
  }
  ClaimBuilder& condition(std::string_view type) {
    claim_.conditions.push_back(model::Condition{.type = std::string(type),
                                                 .status = model::ConditionStatus::True,
                                                 .last_transition_time = at(0)});
    return *this;
  }
  ClaimBuilder& annotation(std::string_view key, const std::string& value) {
    claim_.meta.annotations.insert_or_assign(std::string(key), value);
    return *this;
  }
  ClaimBuilder& expire_after(const std::string& text) {
    claim_.expire_after.text = text;
    return *this;
  }
  std::shared_ptr<const model::NodeClaim> build() const {
    return std::make_shared<model::NodeClaim>(claim_);
  }

 private:
  model::NodeClaim claim_;
};

// Room for pods of the group of `pod`.
inline scheduling::Reservation reservation_for(const model::Pod& pod, const std::string& target,
                                               std::int64_t until_seconds, std::int32_t count = 1) {
  return {.group = scheduling::group_of(pod),
          .target = target,
          .count = count,
          .sample = model::key_of(pod.meta),
          .requests = scheduling::effective_requests(pod),
          .priority = pod.spec.priority,
          .until = at(until_seconds)};
}

// Room for pods such as PodBuilder(pod).requests(milli_cpu): a group of one pod without controller.
inline scheduling::Reservation reservation(const std::string& pod, const std::string& target,
                                           std::int64_t milli_cpu, std::int64_t until_seconds,
                                           std::int32_t priority = 0) {
  return reservation_for(PodBuilder(pod).requests(milli_cpu).priority(priority).value(), target,
                         until_seconds);
}

// What the extender notes of a pod that it let through to these nodes.
inline cluster::Pass pass_of(const model::Pod& pod, const std::vector<std::string>& nodes,
                             std::int64_t at_seconds,
                             base::Duration lifetime = cluster::Ledger::kPassLifetime) {
  cluster::Pass pass{.pod_uid = pod.meta.uid,
                     .group = scheduling::group_of(pod),
                     .at = at(at_seconds),
                     .until = at(at_seconds) + lifetime,
                     .requests = scheduling::effective_requests(pod)};
  for (const std::string& node : nodes) {
    pass.node_hashes.push_back(cluster::Ledger::node_hash(node));
  }
  return pass;
}

}  // namespace millwright::testing
