// Builders of pods, instance types and NodePools: say what matters, default the rest.
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
  // How many volumes of a CSI driver, as the cloud tells.
  TypeBuilder& attaches(std::string driver, std::int32_t count) {
    type_.volume_limits[std::move(driver)] = count;
    return *this;
  }
  // Overhead.
  TypeBuilder& keeps(std::string_view resource, std::string_view amount) {
    type_.overhead[std::string(resource)] = quantity(amount);
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

}  // namespace millwright::scheduling::testing
