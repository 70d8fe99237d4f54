// ReplicaSet: as many pods as asked for. Which pods go on a scale-down follows
// kube-controller-manager: unbound, pending, not ready, cheaper to delete, on nodes with more pods
// of the same Deployment, young. All are chosen at once, and ages of the same power of two are
// alike (LogarithmicScaleDown): then uids decide, which are random.
#include "sandbox/workloads/events.hpp"
#include "sandbox/workloads/pods.hpp"
#include "sandbox/workloads/turns.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <deque>
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

// The power of two of its nanoseconds; -1 for none.
int age_rank(base::Duration age) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(
             std::max<std::int64_t>(std::chrono::nanoseconds(age).count(), 0)))) -
         1;
}

// Smaller goes first. `on_node`: pods of the same Deployment, or of the set when it has none.
auto deletion_rank(const model::Pod& pod, const std::map<std::string, std::int64_t>& on_node,
                   base::TimePoint now) {
  const auto& node = pod.spec.node_name;
  const bool is_ready = is_pod_ready(pod);
  const auto* ready = model::find_condition(pod.status.conditions, "Ready");
  const auto since = is_ready && ready != nullptr && ready->last_transition_time
                         ? *ready->last_transition_time
                         : pod.meta.creation_timestamp.value_or(now);
  const auto crowd = on_node.find(node);
  return std::tuple(!node.empty(), pod.status.phase == "Running", is_ready, deletion_cost(pod),
                    crowd == on_node.end() ? 0 : -crowd->second, age_rank(now - since),
                    pod.meta.uid);
}

class ReplicaSetController final : public Controller {
 public:
  ReplicaSetController(ClusterContext& context, PodRate rate) : Controller(context) {
    if (rate.per_second > 0) {
      turns_.emplace(context.loop, Turns::Rate{rate.per_second, rate.burst},
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
    const auto active = active_pods(*set);
    const auto wanted = integer(*set, "spec.replicas");
    const auto have = static_cast<std::int64_t>(active.size());
    if (have != wanted && turns_) {
      turns_->ask(key);
    } else if (have > wanted) {
      scale_down(*set, active, have - wanted);
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
    const auto active = set == nullptr ? std::vector<const PodEntry*>() : active_pods(*set);
    const auto missing =
        set == nullptr ? 0
                       : integer(*set, "spec.replicas") - static_cast<std::int64_t>(active.size());
    if (missing < 0) {
      delete_in_turn(key, *set, active, -missing);
      return missing < -1;
    }
    chosen_.erase(key);
    return missing > 0 && create_pod(*set) && missing > 1;
  }

  // One of those that were chosen when there began to be too many. Some may have gone since.
  void delete_in_turn(const model::ObjectKey& key, const Json& set,
                      const std::vector<const PodEntry*>& active, std::int64_t surplus) {
    auto& chosen = chosen_[key];
    const auto is_gone = [&active](const model::ObjectKey& pod) {
      return std::none_of(active.begin(), active.end(), [&pod](const PodEntry* entry) {
        return model::key_of(entry->pod->meta) == pod;
      });
    };
    while (!chosen.empty() && is_gone(chosen.front())) {
      chosen.pop_front();
    }
    if (chosen.empty()) {
      const auto pods = choose(set, active, surplus);
      chosen.assign(pods.begin(), pods.end());
    }
    const auto pod = chosen.front();
    chosen.pop_front();
    if (chosen.empty()) {
      chosen_.erase(key);
    }
    delete_pod(set, pod);
  }

  void delete_pod(const Json& set, const model::ObjectKey& key) {
    remove(context_, model::kPodResource, key);
    context_.events.write(set, "replicaset-controller", "Normal", "SuccessfulDelete",
                          fmt::format("Deleted pod: {}", key.name));
  }

  void scale_down(const Json& set, const std::vector<const PodEntry*>& active,
                  std::int64_t surplus) {
    for (const auto& key : choose(set, active, surplus)) {
      delete_pod(set, key);
    }
  }

  // Active pods by node, of all ReplicaSets of the same Deployment.
  std::map<std::string, std::int64_t> related_on_nodes(const Json& set) const {
    std::vector<std::string> sets{std::string(text(set, "metadata.uid"))};
    for (const auto& owner : items(set, "metadata.ownerReferences")) {
      if (text(owner, "kind") == "Deployment") {
        add_sets_of(text(owner, "uid"), sets);
      }
    }
    std::sort(sets.begin(), sets.end());
    sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
    std::map<std::string, std::int64_t> on_node;
    for (const auto& uid : sets) {
      for (const auto* entry : context_.index.pods_of(uid)) {
        if (is_pod_active(*entry->pod)) {
          ++on_node[entry->pod->spec.node_name];
        }
      }
    }
    return on_node;
  }

  void add_sets_of(std::string_view deployment, std::vector<std::string>& sets) const {
    const auto& info = info_of(model::kReplicaSetResource);
    for (const auto& [index, key] : context_.index.dependents_of(deployment)) {
      const auto found = index == info.index ? context_.store().find(info, key) : nullptr;
      if (found != nullptr) {
        sets.emplace_back(text(*found, "metadata.uid"));
      }
    }
  }

  std::vector<model::ObjectKey> choose(const Json& set, std::vector<const PodEntry*> active,
                                       std::int64_t surplus) const {
    const auto on_node = related_on_nodes(set);
    const auto now = context_.now();
    std::sort(active.begin(), active.end(), [&](const PodEntry* a, const PodEntry* b) {
      return deletion_rank(*a->pod, on_node, now) < deletion_rank(*b->pod, on_node, now);
    });
    std::vector<model::ObjectKey> pods;
    for (std::int64_t i = 0; i < surplus; ++i) {
      pods.push_back(model::key_of(active[static_cast<std::size_t>(i)]->pod->meta));
    }
    return pods;
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

  std::optional<Turns> turns_;                                       // absent: no limit
  std::map<model::ObjectKey, std::deque<model::ObjectKey>> chosen_;  // to be deleted, by set
};

}  // namespace

std::unique_ptr<Controller> make_replica_set_controller(ClusterContext& context, PodRate rate) {
  return std::make_unique<ReplicaSetController>(context, rate);
}

}  // namespace millwright::sandbox
