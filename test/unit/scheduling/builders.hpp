// Builders of nodes and whole problems, and ways to read plans. Includes those of the objects.
#pragma once

#include "millwright/scheduling/solve.hpp"
#include "object_builders.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace millwright::scheduling::testing {

// A managed, registered and initialised node of pool "default" unless told otherwise.
class NodeBuilder {
 public:
  explicit NodeBuilder(std::string name) {
    node_.meta.name = name;
    node_.provider_id = "test:///" + name;
    node_.capacity = resources({{"cpu", "4"}, {"memory", "4Gi"}, {"pods", "5"}});
    node_.allocatable = node_.capacity;
    claim_.meta.name = "claim-" + name;
    claim_.provider_id = node_.provider_id;
    claim_.capacity = node_.capacity;
    claim_.allocatable = node_.allocatable;
    label(model::kHostnameLabel, name);
    label(model::kNodePoolLabel, "default");
    label(model::kZoneLabel, "test-zone-1");
    label(model::kCapacityTypeLabel, "on-demand");
    label(model::kRegisteredLabel, "true");
    label(model::kInitializedLabel, "true");
  }
  NodeBuilder& label(std::string_view key, std::string_view value) {
    node_.meta.labels[std::string(key)] = value;
    claim_.meta.labels[std::string(key)] = value;
    return *this;
  }
  NodeBuilder& without_label(std::string_view key) {
    node_.meta.labels.erase(std::string(key));
    claim_.meta.labels.erase(std::string(key));
    return *this;
  }
  NodeBuilder& allocatable(std::string_view resource, std::string_view amount) {
    node_.allocatable[std::string(resource)] = quantity(amount);
    claim_.allocatable[std::string(resource)] = quantity(amount);
    node_.capacity[std::string(resource)] = quantity(amount);
    claim_.capacity[std::string(resource)] = quantity(amount);
    return *this;
  }
  NodeBuilder& taint(std::string key, std::string value, std::string effect) {
    node_.taints.push_back({std::move(key), std::move(value), std::move(effect), {}});
    return *this;
  }
  NodeBuilder& runs(const PodPtr& pod) {
    pods_.push_back(pod);
    return *this;
  }
  NodeBuilder& unmanaged() {
    managed_ = false;
    return without_label(model::kNodePoolLabel)
        .without_label(model::kRegisteredLabel)
        .without_label(model::kInitializedLabel);
  }
  NodeBuilder& uninitialized() { return without_label(model::kInitializedLabel); }
  NodeBuilder& without_node() {
    has_node_ = false;
    return *this;
  }
  template <class Edit>
  NodeBuilder& with_claim(Edit edit) {
    edit(claim_);
    return *this;
  }
  template <class Edit>
  NodeBuilder& with_node(Edit edit) {
    edit(node_);
    return *this;
  }
  template <class Edit>
  NodeBuilder& with_record(Edit edit) {
    edit(record_);
    return *this;
  }
  NodeRecord value() const {
    NodeRecord record = record_;
    if (has_node_) {
      record.node = std::make_shared<const model::Node>(node_);
    }
    if (managed_) {
      record.claim = std::make_shared<const model::NodeClaim>(claim_);
    }
    record.pods = pods_;
    std::sort(record.pods.begin(), record.pods.end(),
              [](const auto& a, const auto& b) { return a->meta.uid < b->meta.uid; });
    for (const auto& bound : pods_) {
      model::add_to(record.pod_requests, effective_requests(*bound));
      if (model::is_owned_by_daemonset(*bound)) {
        model::add_to(record.daemon_requests, effective_requests(*bound));
      }
    }
    return record;
  }
  operator NodeRecordPtr() const { return std::make_shared<const NodeRecord>(value()); }  // NOLINT

 private:
  model::Node node_;
  model::NodeClaim claim_;
  NodeRecord record_;
  std::vector<PodPtr> pods_;
  bool managed_ = true;
  bool has_node_ = true;
};

inline NodeBuilder node(std::string name) {
  return NodeBuilder(std::move(name));
}

inline std::shared_ptr<const model::DaemonSet> daemon_set(const std::string& name,
                                                          const PodBuilder& like) {
  auto set = std::make_shared<model::DaemonSet>();
  set->meta.name = name;
  set->meta.namespace_ = "default";
  set->meta.uid = name;
  set->pod_template.spec = like.value().spec;
  return set;
}

class ProblemBuilder {
 public:
  ProblemBuilder& add(const PoolBuilder& pool, InstanceTypes types) {
    problem_.pools.push_back({pool, std::move(types)});
    return *this;
  }
  ProblemBuilder& add(const PodBuilder& pod) {
    problem_.pods.push_back(pod);
    return *this;
  }
  ProblemBuilder& add(std::vector<PodPtr> more) {
    problem_.pods.insert(problem_.pods.end(), more.begin(), more.end());
    return *this;
  }
  ProblemBuilder& add(const NodeBuilder& node) {
    const NodeRecordPtr record = node;
    problem_.nodes.push_back(record);
    problem_.counted_nodes.push_back(record);
    return *this;
  }
  ProblemBuilder& add(std::shared_ptr<const model::DaemonSet> set) {
    problem_.daemon_sets.push_back(std::move(set));
    return *this;
  }
  template <class Edit>
  ProblemBuilder& with(Edit edit) {
    edit(problem_);
    return *this;
  }
  const Problem& problem() const { return problem_; }
  Plan solve() const { return scheduling::solve(problem_); }

 private:
  Problem problem_;
};

// One pool "default" with three sizes of one kind: small (2 CPUs), medium (4), large (16).
inline InstanceTypes three_sizes() {
  return types({type("small").cpu("2").memory("4Gi").max_pods("20"),
                type("medium").cpu("4").memory("8Gi").max_pods("40"),
                type("large").cpu("16").memory("32Gi").max_pods("110")});
}

// --- Reading plans -----------------------------------------------------------------------------

inline const Refusal* refusal(const Plan& plan, std::string_view uid) {
  const auto found = std::find_if(plan.refusals.begin(), plan.refusals.end(),
                                  [&](const Refusal& r) { return r.pod_uid == uid; });
  return found == plan.refusals.end() ? nullptr : &*found;
}

// The index of the claim, as text "claim 0", or the node's name; empty when refused.
inline std::string place_of(const Plan& plan, std::string_view uid) {
  for (const Placement& placement : plan.placements) {
    if (placement.pod_uid != uid) {
      continue;
    }
    if (const auto* index = std::get_if<std::size_t>(&placement.target)) {
      return "claim " + std::to_string(*index);
    }
    return std::get<std::string>(placement.target);
  }
  return {};
}

inline const PlannedClaim* claim_of(const Plan& plan, std::string_view uid) {
  for (const Placement& placement : plan.placements) {
    if (placement.pod_uid == uid) {
      const auto* index = std::get_if<std::size_t>(&placement.target);
      return index != nullptr ? &plan.claims[*index] : nullptr;
    }
  }
  return nullptr;
}

inline std::vector<std::string> values_of(const PlannedClaim& claim, std::string_view key) {
  return claim.requirements.get(key).values();
}

// One pool that may buy machines of three sizes.
inline ProblemBuilder with_pool(const PoolBuilder& builder = pool("default")) {
  return ProblemBuilder().add(builder, three_sizes());
}

// Where the pod goes if there is this node, and one pool beside it.
inline std::string place(const NodeBuilder& where, const PodBuilder& who) {
  return place_of(with_pool().add(where).add(who).solve(), who.value().meta.uid);
}

inline double price_of_plan(const Plan& plan) {
  double total = 0;
  for (const auto& claim : plan.claims) {
    total += claim.price;
  }
  return total;
}

}  // namespace millwright::scheduling::testing
