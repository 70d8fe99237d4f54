// ReplicaSet: as many pods as asked for. Which pod goes first on a scale-down follows
// kube-controller-manager: unbound, pending, not ready, cheaper to delete, on crowded nodes, young.
#include "sandbox/workloads/events.hpp"
#include "sandbox/workloads/pods.hpp"
#include "sandbox/workloads/turns.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

namespace millwright::sandbox {

namespace {

std::int64_t deletion_cost(const model::Pod& pod) {
  const auto& digits = pod.meta.annotation("controller.kubernetes.io/pod-deletion-cost");
  std::int64_t cost = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), cost);
  return cost;
}

// Smaller goes first.
auto deletion_rank(const PodEntry& entry, const std::map<std::string, std::int64_t>& on_node) {
  const auto& pod = *entry.pod;
  const auto& node = pod.spec.node_name;
  const auto* ready = model::find_condition(pod.status.conditions, "Ready");
  const auto ready_since = ready != nullptr && ready->last_transition_time
                               ? *ready->last_transition_time
                               : base::TimePoint();
  const auto created = pod.meta.creation_timestamp.value_or(base::TimePoint());
  const auto crowd = node.empty() ? 0 : on_node.at(node);
  return std::tuple(!node.empty(), pod.status.phase == "Running", is_pod_ready(pod),
                    deletion_cost(pod), -crowd, -ready_since.time_since_epoch().count(),
                    -created.time_since_epoch().count(), pod.meta.name);
}

class ReplicaSetController final : public Controller {
 public:
  ReplicaSetController(ClusterContext& context, double pods_per_second) : Controller(context) {
    if (pods_per_second > 0) {
      turns_.emplace(context.loop, pods_per_second,
                     [this](const model::ObjectKey& key) { return change_in_turn(key); });
    }
  }

  void observe(const ResourceInfo& info, const Event& event) override {
    if (info.resource.kind == "ReplicaSet") {
      enqueue(key_of(*event.object));
    } else if (info.resource.kind == "Pod") {
      enqueue_owner(*event.object, "ReplicaSet");
    }
  }

 protected:
  void reconcile(const model::ObjectKey& key) override {
    const auto set = find_set(key);
    if (set == nullptr) {
      return;
    }
    auto active = active_pods(*set);
    const auto wanted = integer(*set, "spec.replicas");
    const auto have = static_cast<std::int64_t>(active.size());
    if (have != wanted && turns_) {
      turns_->ask(key);
    } else if (have > wanted) {
      scale_down(*set, std::move(active), have - wanted);
    } else if (have < wanted) {
      create_pods(*set, wanted - have);
    }
    write_status(key, *set);
  }

 private:
  // nullptr when it is gone or going.
  Object find_set(const model::ObjectKey& key) const {
    const auto set = context_.store().find(info_of(model::kReplicaSetResource), key);
    return set == nullptr || find(*set, "metadata.deletionTimestamp") != nullptr ? nullptr : set;
  }

  std::vector<const PodEntry*> active_pods(const Json& set) const {
    auto pods = context_.index.pods_of(text(set, "metadata.uid"));
    std::erase_if(pods, [](const PodEntry* entry) { return !is_pod_active(*entry->pod); });
    return pods;
  }

  // False when it was refused.
  bool create_pod(const Json& set) {
    const auto pod = add(context_, model::kPodResource, pod_from_template(set));
    if (pod == nullptr) {
      return false;
    }
    context_.events.write(set, "replicaset-controller", "Normal", "SuccessfulCreate",
                          fmt::format("Created pod: {}", text(*pod, "metadata.name")));
    return true;
  }

  void create_pods(const Json& set, std::int64_t missing) {
    while (missing > 0 && create_pod(set)) {
      --missing;
    }
  }

  // Makes or deletes one pod, if the set has too few or too many; whether it wants more of that.
  bool change_in_turn(const model::ObjectKey& key) {
    const auto set = find_set(key);
    if (set == nullptr) {
      return false;
    }
    auto active = active_pods(*set);
    const auto missing = integer(*set, "spec.replicas") - static_cast<std::int64_t>(active.size());
    if (missing < 0) {
      scale_down(*set, std::move(active), 1);
      return missing < -1;
    }
    return missing > 0 && create_pod(*set) && missing > 1;
  }

  void scale_down(const Json& set, std::vector<const PodEntry*> active, std::int64_t surplus) {
    std::map<std::string, std::int64_t> on_node;
    for (const auto* entry : active) {
      ++on_node[entry->pod->spec.node_name];
    }
    std::sort(active.begin(), active.end(), [&](const PodEntry* a, const PodEntry* b) {
      return deletion_rank(*a, on_node) < deletion_rank(*b, on_node);
    });
    std::vector<model::ObjectKey> doomed;
    for (std::int64_t i = 0; i < surplus; ++i) {
      doomed.push_back(model::key_of(active[static_cast<std::size_t>(i)]->pod->meta));
    }
    for (const auto& key : doomed) {
      remove(context_, model::kPodResource, key);
      context_.events.write(set, "replicaset-controller", "Normal", "SuccessfulDelete",
                            fmt::format("Deleted pod: {}", key.name));
    }
  }

  void write_status(const model::ObjectKey& key, const Json& set) {
    const auto min_ready = std::chrono::seconds(integer(set, "spec.minReadySeconds"));
    const auto counts =
        count_pods(context_.index.pods_of(text(set, "metadata.uid")), min_ready, context_.now());
    edit(context_, model::kReplicaSetResource, key, Part::Status, [&](Json& json) {
      auto& status = make_object(json, "status");
      status["replicas"] = counts.active;
      status["fullyLabeledReplicas"] = counts.active;
      status["readyReplicas"] = counts.ready;
      status["availableReplicas"] = counts.available;
      status["observedGeneration"] = integer(json, "metadata.generation");
    });
    if (counts.available < counts.ready) {
      enqueue_after(key, min_ready);
    }
  }

  std::optional<Turns> turns_;  // absent: no limit
};

}  // namespace

std::unique_ptr<Controller> make_replica_set_controller(ClusterContext& context,
                                                        double pods_per_second) {
  return std::make_unique<ReplicaSetController>(context, pods_per_second);
}

}  // namespace millwright::sandbox
