#include "checker/plan/random_changes.hpp"

#include "checker/plan/random_world.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

namespace millwright::checker {
namespace {

using namespace scheduling;  // NOLINT: a test helper about nothing else

constexpr std::uint32_t kOtherWorld = 1'000'000;

PodPtr plain(const PodPtr& pod) {
  auto copy = std::make_shared<model::Pod>(*pod);
  copy->spec.topology_spread.clear();
  copy->spec.volumes.clear();
  copy->spec.affinity.required_pod_affinity.clear();
  copy->spec.affinity.required_pod_anti_affinity.clear();
  copy->spec.affinity.preferred_pod_affinity.clear();
  copy->spec.affinity.preferred_pod_anti_affinity.clear();
  for (auto& container : copy->spec.containers) {
    container.ports.clear();
  }
  return copy;
}

NodeRecordPtr plain(const NodeRecordPtr& node) {
  auto copy = std::make_shared<NodeRecord>(*node);
  for (PodPtr& pod : copy->pods) {
    pod = plain(pod);
  }
  return copy;
}

void make_plain(Problem& problem) {
  for (PodPtr& pod : problem.pods) {
    pod = plain(pod);
  }
  std::map<const NodeRecord*, NodeRecordPtr> copies;
  auto surroundings = std::make_shared<Snapshot>(*problem.surroundings);
  for (auto* nodes : {&problem.nodes, &problem.counted_nodes, &surroundings->nodes}) {
    for (NodeRecordPtr& node : *nodes) {
      auto& copy = copies[node.get()];
      if (!copy) {
        copy = plain(node);
      }
      node = copy;
    }
  }
  for (PoolOption& option : problem.pools) {
    auto pool = std::make_shared<model::NodePool>(*option.pool);
    pool->limits.reset();
    option.pool = std::move(pool);
  }
  problem.holds.clear();
  problem.surroundings = std::move(surroundings);
}

}  // namespace

NodeRecordPtr with_pod(const NodeRecord& node, const PodPtr& pod) {
  auto record = std::make_shared<NodeRecord>(node);
  auto bound = std::make_shared<model::Pod>(*pod);
  bound->spec.node_name = node.name();
  model::add_to(record->pod_requests, effective_requests(*bound));
  record->pods.push_back(std::move(bound));
  std::sort(record->pods.begin(), record->pods.end(),
            [](const PodPtr& a, const PodPtr& b) { return a->meta.uid < b->meta.uid; });
  return record;
}

RandomChanges::RandomChanges(std::uint32_t seed, ChangeOptions options)
    : random_(seed), start_(random_world(seed)), options_(options) {
  Problem other = random_world(seed + kOtherWorld);
  if (options.plain) {
    make_plain(start_);
    make_plain(other);
  }
  stock_ = std::move(other.pods);
  spare_ = std::move(other.nodes);
}

PodPtr RandomChanges::new_pod(const Problem& now) {
  const auto& from = stock_.empty() || (!now.pods.empty() && once_in(2)) ? now.pods : stock_;
  if (from.empty()) {
    return nullptr;
  }
  auto pod = std::make_shared<model::Pod>(*from[random_() % from.size()]);
  pod->meta.name = pod->meta.uid = "arrived-" + std::to_string(made_);
  pod->spec.node_name.clear();
  return pod;
}

NodeRecordPtr RandomChanges::new_node() {
  if (spare_.empty()) {
    return nullptr;
  }
  auto record = std::make_shared<NodeRecord>(*spare_[random_() % spare_.size()]);
  const std::string name = "node-" + std::to_string(100 + made_);
  if (record->node) {
    auto node = std::make_shared<model::Node>(*record->node);
    node->meta.name = name;
    node->meta.labels["kubernetes.io/hostname"] = name;
    record->node = std::move(node);
  }
  if (record->claim) {
    auto claim = std::make_shared<model::NodeClaim>(*record->claim);
    claim->meta.name = "claim-" + name;
    claim->meta.labels["kubernetes.io/hostname"] = name;
    record->claim = std::move(claim);
  }
  record->pods.clear();
  record->pod_requests.clear();
  return record;
}

NodeRecordPtr RandomChanges::changed(const NodeRecordPtr& node) {
  auto record = std::make_shared<NodeRecord>(*node);
  switch (random_() % 5) {
    case 0:
      record->fenced = !record->fenced;
      return record;
    case 1:
      if (record->node && !record->node->taints.empty()) {
        auto open = std::make_shared<model::Node>(*record->node);
        open->taints.clear();
        record->node = std::move(open);
      } else if (record->node) {
        auto closed = std::make_shared<model::Node>(*record->node);
        closed->taints.push_back({.key = "dedicated", .value = "x", .effect = "NoSchedule"});
        record->node = std::move(closed);
      }
      return record;
    case 2:
      if (!record->pods.empty()) {
        const auto gone =
            record->pods.begin() + static_cast<std::ptrdiff_t>(random_() % record->pods.size());
        model::subtract_from(record->pod_requests, effective_requests(**gone));
        record->pods.erase(gone);
        return record;
      }
      [[fallthrough]];
    default: {
      auto pod = std::make_shared<model::Pod>();
      pod->meta.name = pod->meta.uid = "stranger-" + std::to_string(made_);
      pod->meta.namespace_ = "default";
      pod->spec.containers.push_back(
          {.name = "main", .requests = {{"cpu", model::Quantity::from_milli(700)}}});
      return with_pod(*record, pod);
    }
  }
}

Revision RandomChanges::bind(PlanningSession& session, const Problem& now, std::string& what) {
  const Plan plan = session.plan();
  std::vector<std::pair<PodPtr, std::string>> on_nodes;
  for (const Placement& placement : plan.placements) {
    const auto* name = std::get_if<std::string>(&placement.target);
    const auto pod = std::find_if(now.pods.begin(), now.pods.end(), [&](const PodPtr& each) {
      return each->meta.uid == placement.pod_uid;
    });
    // What runs elsewhere comes back under another uid.
    if (name != nullptr && (*pod)->spec.node_name.empty()) {
      on_nodes.emplace_back(*pod, *name);
    }
  }
  if (on_nodes.empty()) {
    what = "nothing";
    return {};
  }
  const auto& [pod, name] = on_nodes[random_() % on_nodes.size()];
  const auto node = std::find_if(now.nodes.begin(), now.nodes.end(),
                                 [&](const auto& each) { return each->name() == name; });
  what = "bind " + pod->meta.uid + " to " + name;
  return session.bind_pod(pod->meta.uid, with_pod(**node, pod));
}

Revision RandomChanges::make_one(PlanningSession& session, std::string& what) {
  ++made_;
  const Problem now = session.problem();
  const auto kind = random_() % 12;
  if (kind < 5) {
    if (const PodPtr pod = new_pod(now)) {
      what = "add " + pod->meta.uid;
      return session.add_pod(pod);
    }
  } else if (kind < 7) {
    if (!now.pods.empty()) {
      const std::string uid = now.pods[random_() % now.pods.size()]->meta.uid;
      what = "remove " + uid;
      return session.remove_pod(uid);
    }
  } else if (kind < 9) {
    return bind(session, now, what);
  } else if (kind < 11 && !now.counted_nodes.empty()) {
    const auto node = changed(now.counted_nodes[random_() % now.counted_nodes.size()]);
    what = "change " + node->name();
    return session.set_node(node);
  } else if (once_in(2)) {
    if (const auto node = new_node()) {
      what = "new " + node->name();
      return session.set_node(node);
    }
  } else if (!now.counted_nodes.empty()) {
    const std::string name = now.counted_nodes[random_() % now.counted_nodes.size()]->name();
    what = "remove " + name;
    return session.remove_node(name);
  }
  what = "nothing";
  return {};
}

}  // namespace millwright::checker
