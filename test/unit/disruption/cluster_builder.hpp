// Builds snapshots in a few words: pools, types, nodes with pods. One pool "pool" and three types
// exist from the start: small (2 CPU, $1), medium (4 CPU, $2), large (8 CPU, $4) on demand, each
// also as spot for a third of that, in zones a and b. A pod needs 1 CPU unless told otherwise.
#pragma once

#include "millwright/disruption/decide.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace millwright::disruption {

// Thursday, 8 January 2026, 12:00 UTC.
inline constexpr base::TimePoint kNow{std::chrono::hours(24) * 20461 + std::chrono::hours(12)};
inline constexpr base::TimePoint kLongAgo = kNow - std::chrono::hours(24);

inline std::shared_ptr<model::Pod> pod(std::string name, std::int64_t millicores = 1000) {
  auto result = std::make_shared<model::Pod>();
  result->meta.namespace_ = "default";
  result->meta.name = name;
  result->meta.uid = "uid-" + name;
  result->meta.creation_timestamp = kLongAgo;
  result->meta.labels["app"] = name;
  result->meta.owner_references.push_back({.api_version = "apps/v1",
                                           .kind = "ReplicaSet",
                                           .name = name,
                                           .uid = "uid-of-rs-" + name,
                                           .controller = true});
  model::Container container;
  container.name = "main";
  container.requests = {{"cpu", model::Quantity::from_milli(millicores)}};
  result->spec.containers.push_back(std::move(container));
  result->status.phase = "Running";
  result->status.start_time = kLongAgo;
  return result;
}

// One of a ReplicaSet's pods. Those that ask for as much are a group.
inline std::shared_ptr<model::Pod> replica(const std::string& set, std::string name,
                                           std::int64_t millicores = 1000) {
  auto result = pod(std::move(name), millicores);
  result->meta.owner_references = pod(set)->meta.owner_references;
  return result;
}

// Nobody creates it again when it is evicted.
inline std::shared_ptr<model::Pod> bare_pod(std::string name, std::int64_t millicores = 1000) {
  auto result = pod(std::move(name), millicores);
  result->meta.owner_references.clear();
  return result;
}

inline scheduling::InstanceType instance_type(std::string name, std::int64_t cpus, double price,
                                              std::vector<std::string> zones = {"a", "b"}) {
  scheduling::InstanceType type;
  type.name = std::move(name);
  type.capacity = {{"cpu", model::Quantity::from_units(cpus)},
                   {"memory", model::Quantity::from_units(cpus * 4 << 30)},
                   {"pods", model::Quantity::from_units(110)}};
  const auto pin = [](scheduling::Requirements& to, std::string_view key,
                      std::vector<std::string> values) {
    to.add(scheduling::Requirement::in(key, std::move(values)));
  };
  pin(type.requirements, model::kInstanceTypeLabel, {type.name});
  pin(type.requirements, model::kArchLabel, {"amd64"});
  pin(type.requirements, model::kOsLabel, {"linux"});
  pin(type.requirements, model::kZoneLabel, zones);
  pin(type.requirements, model::kCapacityTypeLabel, {"on-demand", "spot"});
  for (const auto& zone : zones) {
    for (const std::string_view capacity_type : {model::kOnDemand, model::kSpot}) {
      scheduling::Offering offering;
      pin(offering.requirements, model::kZoneLabel, {zone});
      pin(offering.requirements, model::kCapacityTypeLabel, {std::string(capacity_type)});
      offering.price = capacity_type == model::kSpot ? price / 3 : price;
      type.offerings.push_back(std::move(offering));
    }
  }
  return type;
}

inline std::shared_ptr<model::NodePool> node_pool(std::string name) {
  auto pool = std::make_shared<model::NodePool>();
  pool->meta.name = std::move(name);
  pool->meta.uid = "uid-" + pool->meta.name;
  pool->budgets = {{.nodes = "100%"}};
  pool->template_.requirements = {{.key = std::string(model::kCapacityTypeLabel),
                                   .op = model::Operator::In,
                                   .values = {"on-demand"}}};
  pool->template_.node_class_ref = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
  pool->conditions = {{.type = "Ready", .status = model::ConditionStatus::True}};
  return pool;
}

using ExpectedPods = std::vector<std::pair<scheduling::PodPtr, std::int32_t>>;

// What cluster::State makes of pods that wait, that leave, and that are to come.
inline scheduling::Demand demand_of(const scheduling::Snapshot& snapshot,
                                    const ExpectedPods& expected = {}) {
  std::map<scheduling::GroupId, scheduling::GroupDemand> groups;
  const auto of = [&](const scheduling::PodPtr& sample) -> scheduling::GroupDemand& {
    auto& demand = groups[scheduling::group_of(*sample)];
    demand.group = scheduling::group_of(*sample);
    demand.sample = sample;
    return demand;
  };
  for (const auto& waiting : snapshot.pending_pods) {
    of(waiting).waiting.push_back(waiting);
  }
  for (const auto& record : snapshot.nodes) {
    for (const auto& each : record->pods) {
      if ((!record->marked_for_deletion && !record->fenced) || !scheduling::has_successor(*each) ||
          model::is_owned_by_daemonset(*each)) {
        continue;
      }
      if (record->marked_for_deletion && !each->meta.is_deleting()) {
        of(each).leaving.push_back(each);
      } else {
        ++of(each).later;
      }
    }
  }
  for (const auto& [sample, count] : expected) {
    of(sample).expected += count;
  }
  scheduling::Demand demand;
  for (auto& [group, each] : groups) {
    demand.push_back(std::move(each));
  }
  return demand;
}

struct NodeOptions {
  std::string type = "medium";
  std::string zone = "a";
  std::string capacity_type = "on-demand";
  std::string pool = "pool";
};

// Mutable until it is put into an Input.
struct Member {
  std::shared_ptr<model::Node> node;
  std::shared_ptr<model::NodeClaim> claim;
  std::shared_ptr<scheduling::NodeRecord> record;
};

class Cluster {
 public:
  Cluster() {
    add_pool(node_pool("pool"), {instance_type("small", 2, 1), instance_type("medium", 4, 2),
                                 instance_type("large", 8, 4)});
  }

  std::shared_ptr<model::NodePool> add_pool(std::shared_ptr<model::NodePool> pool,
                                            std::vector<scheduling::InstanceType> types) {
    pools_.push_back(pool);
    catalog_[pool->meta.name] =
        std::make_shared<const std::vector<scheduling::InstanceType>>(std::move(types));
    return pool;
  }
  void set_types(const std::string& pool, std::vector<scheduling::InstanceType> types) {
    catalog_[pool] =
        std::make_shared<const std::vector<scheduling::InstanceType>>(std::move(types));
  }
  model::NodePool& pool(std::size_t index = 0) { return *pools_.at(index); }

  Member& add_node(std::string name, std::vector<std::shared_ptr<model::Pod>> pods = {},
                   const NodeOptions& kind = {}) {
    Member member{std::make_shared<model::Node>(), std::make_shared<model::NodeClaim>(),
                  std::make_shared<scheduling::NodeRecord>()};
    const model::StringMap labels{{std::string(model::kInstanceTypeLabel), kind.type},
                                  {std::string(model::kZoneLabel), kind.zone},
                                  {std::string(model::kCapacityTypeLabel), kind.capacity_type},
                                  {std::string(model::kNodePoolLabel), kind.pool},
                                  {std::string(model::kArchLabel), "amd64"},
                                  {std::string(model::kOsLabel), "linux"},
                                  {std::string(model::kHostnameLabel), name}};
    auto& claim = *member.claim;
    claim.meta.name = name + "-claim";
    claim.meta.uid = "uid-" + claim.meta.name;
    claim.meta.labels = labels;
    claim.provider_id = "test://" + name;
    claim.node_name = name;
    for (const auto condition : {model::kLaunched, model::kRegistered, model::kInitialized}) {
      claim.conditions.push_back({.type = std::string(condition),
                                  .status = model::ConditionStatus::True,
                                  .last_transition_time = kLongAgo});
    }
    auto& node = *member.node;
    node.meta.name = name;
    node.meta.uid = "uid-" + name;
    node.meta.labels = labels;
    node.meta.labels[std::string(model::kRegisteredLabel)] = "true";
    node.meta.labels[std::string(model::kInitializedLabel)] = "true";
    node.provider_id = claim.provider_id;
    node.conditions = {{.type = "Ready", .status = model::ConditionStatus::True}};
    const auto* type = scheduling::find_type(catalog_.at(kind.pool), kind.type);
    if (type != nullptr) {
      node.capacity = node.allocatable = type->capacity;
      claim.capacity = claim.allocatable = type->capacity;
    }
    auto& record = *member.record;
    for (auto& each : pods) {
      each->spec.node_name = name;
      record.pods.push_back(each);
    }
    members_.push_back(std::move(member));
    return members_.back();
  }
  Member& node(std::string_view name) {
    return *std::find_if(members_.begin(), members_.end(),
                         [&](const Member& each) { return each.node->meta.name == name; });
  }
  void add_pending(std::shared_ptr<model::Pod> waiting) {
    waiting->status.phase = "Pending";
    waiting->status.start_time.reset();
    waiting->status.conditions = {{.type = "PodScheduled",
                                   .status = model::ConditionStatus::False,
                                   .reason = "Unschedulable"}};
    pending_.push_back(std::move(waiting));
  }
  // Room on the target for so many pods like `sample`.
  scheduling::Reservation& reserve(const model::Pod& sample, const std::string& target,
                                   base::TimePoint until, std::int32_t count = 1) {
    reservations_.push_back({.group = scheduling::group_of(sample),
                             .target = target,
                             .count = count,
                             .sample = model::key_of(sample.meta),
                             .requests = scheduling::effective_requests(sample),
                             .until = until});
    return reservations_.back();
  }
  // Room of a CapacityBuffer for one pod, on the node.
  std::shared_ptr<model::Pod> add_room(std::string name, std::string node,
                                       std::int64_t millicores = 1000) {
    auto stands_for_it = bare_pod(std::move(name), millicores);
    stands_for_it->status.phase = "Pending";
    stands_for_it->status.start_time.reset();
    stands_for_it->status.conditions = {{.type = "PodScheduled",
                                         .status = model::ConditionStatus::False,
                                         .reason = "Unschedulable"}};
    virtual_pods_.push_back({stands_for_it, std::move(node)});
    return stands_for_it;
  }
  // The pod's controller is about to create so many more.
  void expect_more(std::shared_ptr<model::Pod> sample, std::int32_t count) {
    expected_.emplace_back(std::move(sample), count);
  }
  model::PodDisruptionBudget& add_budget(std::string name, std::string app, int allowed) {
    auto budget = std::make_shared<model::PodDisruptionBudget>();
    budget->meta.namespace_ = "default";
    budget->meta.name = std::move(name);
    budget->selector = model::LabelSelector{{{"app", std::move(app)}}, {}};
    budget->disruptions_allowed = allowed;
    budgets_.push_back(budget);
    return *budget;
  }

  Input input() const {
    auto snapshot = std::make_shared<scheduling::Snapshot>();
    snapshot->synced = true;
    for (const auto& member : members_) {
      auto record = std::make_shared<scheduling::NodeRecord>(*member.record);
      record->node = member.node;
      record->claim = member.claim;
      std::sort(record->pods.begin(), record->pods.end(),
                [](const auto& a, const auto& b) { return a->meta.uid < b->meta.uid; });
      for (const auto& each : record->pods) {
        const auto requests = scheduling::effective_requests(*each);
        model::add_to(record->pod_requests, requests);
        if (model::is_owned_by_daemonset(*each)) {
          model::add_to(record->daemon_requests, requests);
        }
      }
      snapshot->nodes.push_back(std::move(record));
    }
    std::sort(snapshot->nodes.begin(), snapshot->nodes.end(),
              [](const auto& a, const auto& b) { return a->name() < b->name(); });
    snapshot->node_pools.assign(pools_.begin(), pools_.end());
    snapshot->pending_pods.assign(pending_.begin(), pending_.end());
    snapshot->disruption_budgets.assign(budgets_.begin(), budgets_.end());
    snapshot->reservations = std::vector(reservations_.begin(), reservations_.end());
    snapshot->demand = demand_of(*snapshot, expected_);
    return {.snapshot = std::move(snapshot),
            .catalog = catalog_,
            .busy_claims = busy,
            .doubted = doubted,
            .failed = failed,
            .virtual_pods = virtual_pods_,
            .now = now,
            .options = options};
  }
  Decisions decide() const { return disruption::decide(input()); }
  // Why the node stays, or "".
  std::string why_not(std::string_view node_name) const {
    const auto decisions = decide();
    for (const auto& blocked : decisions.blocked) {
      if (blocked.claim == std::string(node_name) + "-claim") {
        return blocked.why.message;
      }
    }
    return {};
  }

  std::set<std::string, std::less<>> busy;
  std::map<std::string, base::TimePoint, std::less<>> doubted;
  std::map<std::string, Failed, std::less<>> failed;
  base::TimePoint now = kNow;
  Options options;

 private:
  std::vector<std::shared_ptr<model::NodePool>> pools_;
  scheduling::Catalog catalog_;
  std::list<Member> members_;
  std::vector<std::shared_ptr<model::Pod>> pending_;
  std::vector<std::shared_ptr<model::PodDisruptionBudget>> budgets_;
  std::list<scheduling::Reservation> reservations_;
  ExpectedPods expected_;
  std::vector<VirtualPod> virtual_pods_;
};

// It has registered then, and is not initialised yet.
inline void begin_to_start(Member& member, base::TimePoint registered) {
  member.node->meta.labels.erase(std::string(model::kInitializedLabel));
  auto& conditions = member.claim->conditions;
  std::erase_if(conditions, [](const auto& each) { return each.type == model::kInitialized; });
  conditions.back().last_transition_time = registered;
}

// The whole command would be right now, too.
inline bool still_valid(const Command& command, const Input& input) {
  return !command.claims.empty() && what_holds(command, input).claims == command.claims;
}

inline std::vector<std::string> claims_of(const Decisions& decisions) {
  std::vector<std::string> claims;
  for (const auto& command : decisions.commands) {
    claims.insert(claims.end(), command.claims.begin(), command.claims.end());
  }
  return claims;
}

}  // namespace millwright::disruption
