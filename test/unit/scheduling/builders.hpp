// Small builders for planner tests: say what matters, default the rest.
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace millwright::scheduling::testing {

using model::Operator;

inline model::Quantity quantity(std::string_view text) {
  const auto parsed = model::Quantity::parse(text);
  return parsed ? *parsed : model::Quantity::from_milli(-1);
}

inline model::ResourceList resources(
    std::initializer_list<std::pair<std::string_view, std::string_view>> items) {
  model::ResourceList list;
  for (const auto& [name, text] : items) {
    list.emplace(std::string(name), quantity(text));
  }
  return list;
}

inline model::SelectorRequirement need(std::string_view key, Operator op,
                                       std::vector<std::string> values = {},
                                       std::optional<std::int32_t> min_values = std::nullopt) {
  return {std::string(key), op, std::move(values), min_values};
}

inline Requirement in(std::string_view key, std::vector<std::string> values) {
  return Requirement::in(key, std::move(values));
}

class PodBuilder {
 public:
  explicit PodBuilder(std::string name) {
    pod_.meta.name = name;
    pod_.meta.uid = std::move(name);
    pod_.meta.namespace_ = "default";
    pod_.spec.containers.push_back({.name = "main"});
    pod_.status.phase = "Pending";
    pod_.status.conditions.push_back({.type = "PodScheduled",
                                      .status = model::ConditionStatus::False,
                                      .reason = "Unschedulable"});
  }
  PodBuilder& requests(std::string_view resource, std::string_view amount) {
    pod_.spec.containers.front().requests[std::string(resource)] = quantity(amount);
    return *this;
  }
  PodBuilder& limits(std::string_view resource, std::string_view amount) {
    pod_.spec.containers.front().limits[std::string(resource)] = quantity(amount);
    return *this;
  }
  PodBuilder& cpu(std::string_view amount) { return requests("cpu", amount); }
  PodBuilder& memory(std::string_view amount) { return requests("memory", amount); }
  PodBuilder& selects(std::string_view key, std::string_view value) {
    pod_.spec.node_selector[std::string(key)] = value;
    return *this;
  }
  // One more required term (terms are ORed).
  PodBuilder& requires_term(std::vector<model::SelectorRequirement> expressions) {
    pod_.spec.affinity.required_node_terms.push_back({std::move(expressions), {}});
    return *this;
  }
  PodBuilder& prefers(std::int32_t weight, std::vector<model::SelectorRequirement> expressions) {
    pod_.spec.affinity.preferred_node_terms.push_back({weight, {std::move(expressions), {}}});
    return *this;
  }
  PodBuilder& tolerates(std::string key, std::string value, std::string effect) {
    pod_.spec.tolerations.push_back({std::move(key), "Equal", std::move(value), std::move(effect)});
    return *this;
  }
  PodBuilder& tolerates_everything() {
    pod_.spec.tolerations.push_back({.op = "Exists"});
    return *this;
  }
  PodBuilder& host_port(std::int32_t port, std::string ip = "", std::string protocol = "TCP") {
    pod_.spec.containers.front().ports.push_back({port, port, std::move(ip), std::move(protocol)});
    return *this;
  }
  PodBuilder& label(std::string_view key, std::string_view value) {
    pod_.meta.labels[std::string(key)] = value;
    return *this;
  }
  PodBuilder& claim_volume(std::string claim) {
    pod_.spec.volumes.push_back({.name = "data", .claim_name = std::move(claim)});
    return *this;
  }
  PodBuilder& created_at(std::int64_t seconds) {
    pod_.meta.creation_timestamp = base::TimePoint(std::chrono::seconds(seconds));
    return *this;
  }
  PodBuilder& owned_by(std::string kind, std::string uid) {
    pod_.meta.owner_references.push_back({.api_version = "apps/v1",
                                          .kind = std::move(kind),
                                          .uid = std::move(uid),
                                          .controller = true});
    return *this;
  }
  // Anything else.
  template <class Edit>
  PodBuilder& with(Edit edit) {
    edit(pod_);
    return *this;
  }
  model::Pod value() const { return pod_; }
  operator PodPtr() const { return std::make_shared<const model::Pod>(pod_); }  // NOLINT

 private:
  model::Pod pod_;
};

inline PodBuilder pod(std::string name) {
  return PodBuilder(std::move(name));
}

inline std::vector<PodPtr> pods(int count, const std::string& prefix, const PodBuilder& like) {
  std::vector<PodPtr> result;
  for (int i = 0; i < count; ++i) {
    model::Pod copy = like.value();
    copy.meta.name = prefix + "-" + std::to_string(1000 + i);
    copy.meta.uid = copy.meta.name;
    result.push_back(std::make_shared<const model::Pod>(std::move(copy)));
  }
  return result;
}

inline Offering offering(std::string_view zone, std::string_view capacity_type, double price) {
  Offering result;
  result.requirements.add(in(model::kZoneLabel, {std::string(zone)}));
  result.requirements.add(in(model::kCapacityTypeLabel, {std::string(capacity_type)}));
  result.price = price;
  return result;
}

// 4 CPUs, 4Gi, 5 pods; zones test-zone-1..3 on demand, 1 and 2 as spot too; amd64 linux.
class TypeBuilder {
 public:
  explicit TypeBuilder(std::string name) {
    type_.name = std::move(name);
    type_.capacity = resources({{"cpu", "4"}, {"memory", "4Gi"}, {"pods", "5"}});
    type_.overhead = resources({{"cpu", "100m"}, {"memory", "10Mi"}});
    label(model::kInstanceTypeLabel, {type_.name});
    label(model::kArchLabel, {"amd64"});
    label(model::kOsLabel, {"linux"});
    sold({{"test-zone-1", "spot"},
          {"test-zone-2", "spot"},
          {"test-zone-1", "on-demand"},
          {"test-zone-2", "on-demand"},
          {"test-zone-3", "on-demand"}});
  }
  TypeBuilder& cpu(std::string_view amount) { return has("cpu", amount); }
  TypeBuilder& memory(std::string_view amount) { return has("memory", amount); }
  TypeBuilder& max_pods(std::string_view amount) { return has("pods", amount); }
  TypeBuilder& has(std::string_view resource, std::string_view amount) {
    type_.capacity[std::string(resource)] = quantity(amount);
    return *this;
  }
  TypeBuilder& no_overhead() {
    type_.overhead.clear();
    return *this;
  }
  TypeBuilder& label(std::string_view key, std::vector<std::string> values) {
    type_.requirements.replace(in(key, std::move(values)));
    return *this;
  }
  TypeBuilder& requirement(Requirement requirement) {
    type_.requirements.replace(std::move(requirement));
    return *this;
  }
  TypeBuilder& arch(std::string value) { return label(model::kArchLabel, {std::move(value)}); }
  TypeBuilder& os(std::string value) { return label(model::kOsLabel, {std::move(value)}); }
  TypeBuilder& sold(std::vector<std::pair<std::string, std::string>> zone_and_capacity_type) {
    type_.offerings.clear();
    for (const auto& [zone, capacity_type] : zone_and_capacity_type) {
      type_.offerings.push_back(offering(zone, capacity_type, 0));
    }
    return *this;
  }
  TypeBuilder& sold(Offering item) {
    type_.offerings.push_back(std::move(item));
    priced_ = true;
    return *this;
  }
  // Of every offering; without it 0.1 per CPU and per GB, whatever the capacity type.
  TypeBuilder& price(double amount) {
    for (auto& item : type_.offerings) {
      item.price = amount;
    }
    priced_ = true;
    return *this;
  }
  TypeBuilder& unavailable() {
    for (auto& item : type_.offerings) {
      item.available = false;
    }
    return *this;
  }
  operator InstanceType() const {  // NOLINT
    InstanceType result = type_;
    std::vector<std::string> zones;
    std::vector<std::string> capacity_types;
    for (auto& item : result.offerings) {
      zones.emplace_back(item.zone());
      capacity_types.emplace_back(item.capacity_type());
      if (!priced_) {
        item.price = 0.1 * model::get(type_.capacity, "cpu").as_double() +
                     0.1e-9 * model::get(type_.capacity, "memory").as_double();
      }
    }
    result.requirements.replace(in(model::kZoneLabel, zones));
    result.requirements.replace(in(model::kCapacityTypeLabel, capacity_types));
    return result;
  }

 private:
  InstanceType type_;
  bool priced_ = false;
};

inline TypeBuilder type(std::string name) {
  return TypeBuilder(std::move(name));
}

inline InstanceTypes types(std::vector<InstanceType> list) {
  return std::make_shared<const std::vector<InstanceType>>(std::move(list));
}

// fake-it-<i>: i+1 CPUs, 2(i+1)Gi, 10(i+1) pods.
inline InstanceTypes numbered_types(int count) {
  std::vector<InstanceType> list;
  for (int i = 0; i < count; ++i) {
    list.push_back(type("fake-it-" + std::to_string(i))
                       .cpu(std::to_string(i + 1))
                       .memory(std::to_string(2 * (i + 1)) + "Gi")
                       .max_pods(std::to_string(10 * (i + 1))));
  }
  return types(std::move(list));
}

class PoolBuilder {
 public:
  explicit PoolBuilder(std::string name) {
    pool_.meta.name = name;
    pool_.meta.uid = std::move(name);
    pool_.template_.node_class_ref = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
  }
  PoolBuilder& requires_(model::SelectorRequirement requirement) {
    pool_.template_.requirements.push_back(std::move(requirement));
    return *this;
  }
  PoolBuilder& label(std::string_view key, std::string_view value) {
    if (!pool_.template_.labels) {
      pool_.template_.labels.emplace();
    }
    (*pool_.template_.labels)[std::string(key)] = value;
    return *this;
  }
  PoolBuilder& taint(std::string key, std::string value, std::string effect) {
    if (!pool_.template_.taints) {
      pool_.template_.taints.emplace();
    }
    pool_.template_.taints->push_back({std::move(key), std::move(value), std::move(effect), {}});
    return *this;
  }
  PoolBuilder& limit(std::string_view resource, std::string_view amount) {
    if (!pool_.limits) {
      pool_.limits.emplace();
    }
    (*pool_.limits)[std::string(resource)] = quantity(amount);
    return *this;
  }
  PoolBuilder& weight(std::int32_t value) {
    pool_.weight = value;
    return *this;
  }
  template <class Edit>
  PoolBuilder& with(Edit edit) {
    edit(pool_);
    return *this;
  }
  operator std::shared_ptr<const model::NodePool>() const {  // NOLINT
    return std::make_shared<const model::NodePool>(pool_);
  }

 private:
  model::NodePool pool_;
};

inline PoolBuilder pool(std::string name) {
  return PoolBuilder(std::move(name));
}

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

}  // namespace millwright::scheduling::testing
