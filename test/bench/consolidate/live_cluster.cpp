#include "bench/consolidate/live_cluster.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <string_view>
#include <variant>

namespace millwright::disruption::bench {
namespace {

constexpr base::TimePoint kBegin{std::chrono::hours(24) * 20461};
constexpr base::TimePoint kLongBefore = kBegin - std::chrono::hours(24);
constexpr base::Duration kBetweenCommands = std::chrono::seconds(30);

// A pod of a ReplicaSet that has run for a day.
scheduling::PodPtr running(const model::Pod& pod, const std::string& node) {
  auto result = std::make_shared<model::Pod>(pod);
  result->spec.node_name = node;
  result->status.phase = "Running";
  result->status.start_time = kLongBefore;
  if (result->meta.owner_references.empty()) {
    const auto& set = result->meta.label("app");
    result->meta.owner_references.push_back({.api_version = "apps/v1",
                                             .kind = "ReplicaSet",
                                             .name = set,
                                             .uid = "uid-of-" + set,
                                             .controller = true});
  }
  return result;
}

scheduling::PodPtr daemon_pod(const model::DaemonSet& set, const std::string& node) {
  auto pod = std::make_shared<model::Pod>();
  pod->meta.name = set.meta.name + "-" + node;
  pod->meta.uid = pod->meta.name;
  pod->meta.namespace_ = set.meta.namespace_;
  pod->meta.owner_references.push_back({.api_version = "apps/v1",
                                        .kind = "DaemonSet",
                                        .name = set.meta.name,
                                        .uid = set.meta.uid,
                                        .controller = true});
  pod->spec = set.pod_template.spec;
  pod->spec.node_name = node;
  pod->status.phase = "Running";
  pod->status.start_time = kLongBefore;
  return pod;
}

// Of the label, if the type or the claim leaves one value of it.
void pin(model::StringMap& labels, std::string_view key, const scheduling::Requirements& from) {
  const auto* requirement = from.find(key);
  if (requirement != nullptr && !requirement->is_complement() && !requirement->values().empty()) {
    labels[std::string(key)] = requirement->values().front();
  }
}

}  // namespace

LiveCluster::LiveCluster(scheduling::Problem problem) : problem_(std::move(problem)), now_(kBegin) {
  auto pool = std::make_shared<model::NodePool>(*problem_.pools.front().pool);
  pool->meta.uid = "uid-" + pool->meta.name;
  pool->budgets = {{.nodes = "100%"}};
  pool->conditions = {{.type = "Ready", .status = model::ConditionStatus::True}};
  problem_.pools.front().pool = std::move(pool);
  const auto plan = scheduling::solve(problem_);
  std::vector<std::string> names;
  for (const auto& claim : plan.claims) {
    names.push_back(buy(claim));
  }
  std::map<std::string_view, const std::string*> place_of;
  for (const auto& placement : plan.placements) {
    if (const auto* index = std::get_if<std::size_t>(&placement.target)) {
      place_of[placement.pod_uid] = &names[*index];
    }
  }
  for (const auto& pod : std::exchange(problem_.pods, {})) {
    if (const auto found = place_of.find(pod->meta.uid); found != place_of.end()) {
      place(pod, *found->second);
    }
  }
}

std::string LiveCluster::buy(const scheduling::PlannedClaim& planned) {
  const auto& types = problem_.pools.front().types;
  const auto* type = scheduling::find_type(types, planned.instance_types.front());
  const auto* offering = scheduling::cheapest_offering(*type, planned.requirements);
  const auto number = std::to_string(1'000'000 + bought_++);
  const std::string name = "node-" + number;
  model::StringMap labels = planned.labels;
  for (const auto key : {model::kArchLabel, model::kOsLabel}) {
    pin(labels, key, type->requirements);
  }
  for (const auto key : {model::kZoneLabel, model::kCapacityTypeLabel}) {
    pin(labels, key, offering->requirements);
  }
  labels[std::string(model::kInstanceTypeLabel)] = type->name;
  labels[std::string(model::kNodePoolLabel)] = planned.node_pool;
  labels[std::string(model::kHostnameLabel)] = name;

  auto claim = std::make_shared<model::NodeClaim>();
  claim->meta.name = "claim-" + number;
  claim->meta.uid = "uid-" + claim->meta.name;
  claim->meta.labels = labels;
  claim->meta.creation_timestamp = kLongBefore;
  claim->provider_id = "bench:///" + name;
  claim->node_name = name;
  for (const auto condition : {model::kLaunched, model::kRegistered, model::kInitialized}) {
    claim->conditions.push_back({.type = std::string(condition),
                                 .status = model::ConditionStatus::True,
                                 .last_transition_time = kLongBefore});
  }
  claim->capacity = type->capacity;
  claim->allocatable = type->allocatable();

  auto node = std::make_shared<model::Node>();
  node->meta.name = name;
  node->meta.uid = "uid-" + name;
  node->meta.labels = std::move(labels);
  node->meta.labels[std::string(model::kRegisteredLabel)] = "true";
  node->meta.labels[std::string(model::kInitializedLabel)] = "true";
  node->provider_id = claim->provider_id;
  node->capacity = claim->capacity;
  node->allocatable = claim->allocatable;
  node->conditions = {{.type = "Ready", .status = model::ConditionStatus::True}};

  Member& member = nodes_[name];
  member.node = std::move(node);
  member.claim = std::move(claim);
  member.price = offering->price;
  for (const auto& set : problem_.daemon_sets) {
    member.daemons.push_back(daemon_pod(*set, name));
  }
  return name;
}

void LiveCluster::place(const scheduling::PodPtr& pod, const std::string& node) {
  nodes_.at(node).pods.push_back(running(*pod, node));
}

std::vector<std::pair<std::string, std::string>> LiveCluster::pods() const {
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto& [name, member] : nodes_) {
    for (const auto& pod : member.pods) {
      result.emplace_back(name, pod->meta.name);
    }
  }
  return result;
}

void LiveCluster::remove_pods(const std::vector<std::string>& names) {
  const std::set<std::string_view> gone(names.begin(), names.end());
  for (auto& [name, member] : nodes_) {
    std::erase_if(member.pods, [&](const auto& pod) { return gone.contains(pod->meta.name); });
  }
}

Input LiveCluster::input() const {
  auto snapshot = std::make_shared<scheduling::Snapshot>();
  snapshot->synced = true;
  snapshot->node_pools = {problem_.pools.front().pool};
  snapshot->daemon_sets = problem_.daemon_sets;
  for (const auto& [name, member] : nodes_) {
    auto record = std::make_shared<scheduling::NodeRecord>();
    record->node = member.node;
    record->claim = member.claim;
    record->pods = member.pods;
    for (const auto& pod : member.daemons) {
      record->pods.push_back(pod);
      model::add_to(record->daemon_requests, scheduling::effective_requests(*pod));
    }
    for (const auto& pod : record->pods) {
      model::add_to(record->pod_requests, scheduling::effective_requests(*pod));
    }
    std::sort(record->pods.begin(), record->pods.end(),
              [](const auto& a, const auto& b) { return a->meta.uid < b->meta.uid; });
    snapshot->nodes.push_back(std::move(record));
  }
  Input input{.snapshot = std::move(snapshot),
              .catalog = {{problem_.pools.front().pool->meta.name, problem_.pools.front().types}},
              .busy_claims = {},
              .virtual_pods = {},
              .now = now_,
              .options = {}};
  // One pass looks at all, so that a pass that finds nothing means that nothing is left to find.
  input.options.max_single_node_candidates = nodes_.size();
  input.options.spot_to_spot = true;
  return input;
}

void LiveCluster::carry_out(const Command& command) {
  now_ += kBetweenCommands;
  std::vector<std::string> names;
  for (const auto& claim : command.replacements) {
    names.push_back(buy(claim));
  }
  std::map<std::string_view, std::string> place_of;
  for (const auto& placement : command.placements) {
    const auto* index = std::get_if<std::size_t>(&placement.target);
    place_of[placement.pod_uid] =
        index != nullptr ? names[*index] : std::get<std::string>(placement.target);
  }
  const std::set<std::string_view> going(command.claims.begin(), command.claims.end());
  std::vector<scheduling::PodPtr> moving;
  std::erase_if(nodes_, [&](auto& item) {
    if (!going.contains(item.second.claim->meta.name)) {
      return false;
    }
    moving.insert(moving.end(), item.second.pods.begin(), item.second.pods.end());
    return true;
  });
  for (const auto& pod : moving) {
    place(pod, place_of.at(pod->meta.uid));
  }
  evicted_ += moving.size();
}

std::size_t LiveCluster::pod_count() const {
  std::size_t count = 0;
  for (const auto& item : nodes_) {
    count += item.second.pods.size();
  }
  return count;
}

double LiveCluster::price() const {
  double sum = 0;
  for (const auto& item : nodes_) {
    sum += item.second.price;
  }
  return sum;
}

scheduling::Problem LiveCluster::from_scratch() const {
  auto problem = problem_;
  for (const auto& [name, member] : nodes_) {
    for (const auto& pod : member.pods) {
      auto waiting = std::make_shared<model::Pod>(*pod);
      waiting->spec.node_name.clear();
      waiting->status = {};
      problem.pods.push_back(std::move(waiting));
    }
  }
  return problem;
}

}  // namespace millwright::disruption::bench
