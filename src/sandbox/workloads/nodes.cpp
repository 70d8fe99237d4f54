// Node lifecycle: the taints that follow a node's Ready condition, cordon's taint, and the eviction
// of pods that do not tolerate a NoExecute taint.
#include "millwright/model/codec.hpp"
#include "sandbox/workloads/pods.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <optional>

namespace millwright::sandbox {

namespace {

constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";
constexpr std::string_view kUnreachable = "node.kubernetes.io/unreachable";
constexpr std::string_view kUnschedulable = "node.kubernetes.io/unschedulable";

class NodeController final : public Controller {
 public:
  using Controller::Controller;

  void observe(const ResourceInfo& info, const Event& event) override {
    if (event.change == Change::Deleted) {
      return;
    }
    if (info.resource.kind == "Node") {
      enqueue(key_of(*event.object));
    } else if (info.resource.kind == "Pod") {
      if (const auto node = text(*event.object, "spec.nodeName"); !node.empty()) {
        enqueue({{}, std::string(node)});
      }
    }
  }

 protected:
  void reconcile(const model::ObjectKey& key) override {
    const auto found = context_.index.nodes().find(key.name);
    if (found == context_.index.nodes().end()) {
      return;
    }
    sync_taints(key, *found->second);
    evict_intolerant(key);
  }

 private:
  void sync_taints(const model::ObjectKey& key, const model::Node& node) {
    const auto* ready = model::find_condition(node.conditions, "Ready");
    const auto status = ready == nullptr ? model::ConditionStatus::False : ready->status;
    const bool not_ready = status == model::ConditionStatus::False;
    const bool unreachable = status == model::ConditionStatus::Unknown;
    auto wanted = node.taints;
    std::erase_if(wanted, [&](const model::Taint& taint) {
      return (taint.key == kNotReady && !not_ready) ||
             (taint.key == kUnreachable && !unreachable) ||
             (taint.key == kUnschedulable && !node.unschedulable);
    });
    const auto require = [&](bool needed, std::string_view taint_key, std::string_view effect) {
      const bool present = std::any_of(wanted.begin(), wanted.end(), [&](const model::Taint& t) {
        return t.key == taint_key && t.effect == effect;
      });
      if (needed && !present) {
        model::Taint taint{std::string(taint_key), {}, std::string(effect), context_.now()};
        wanted.push_back(std::move(taint));
      }
    };
    require(not_ready, kNotReady, "NoSchedule");
    require(not_ready, kNotReady, "NoExecute");
    require(unreachable, kUnreachable, "NoSchedule");
    require(unreachable, kUnreachable, "NoExecute");
    require(node.unschedulable, kUnschedulable, "NoSchedule");
    if (wanted != node.taints) {
      edit(context_, model::kNodeResource, key, Part::Main, [&](Json& json) {
        if (wanted.empty()) {
          erase(json, "spec.taints");
        } else {
          make(json, "spec.taints") = model::encode(wanted);
        }
      });
    }
  }

  // When a NoExecute taint was first seen here: most who add one do not write a time on it.
  base::TimePoint seen_since(const model::Node& node, const model::Taint& taint) {
    return first_seen_[node.meta.uid].try_emplace(taint.to_string(), context_.now()).first->second;
  }

  void forget_old_taints(const model::Node& node) {
    std::erase_if(first_seen_[node.meta.uid], [&](const auto& seen) {
      return std::none_of(node.taints.begin(), node.taints.end(),
                          [&](const model::Taint& t) { return t.to_string() == seen.first; });
    });
  }

  // How long the pod may stay: nullopt for ever.
  std::optional<base::Duration> time_left(const model::Pod& pod, const model::Node& node,
                                          base::TimePoint now) {
    std::optional<base::Duration> least;
    for (const auto& taint : node.taints) {
      if (taint.effect != "NoExecute") {
        continue;
      }
      const auto toleration =
          std::find_if(pod.spec.tolerations.begin(), pod.spec.tolerations.end(),
                       [&](const model::Toleration& t) { return t.tolerates(taint); });
      if (toleration == pod.spec.tolerations.end()) {
        return base::Duration::zero();
      }
      if (toleration->toleration_seconds) {
        const auto since = taint.time_added.value_or(seen_since(node, taint));
        const auto left = since + std::chrono::seconds(*toleration->toleration_seconds) - now;
        least = std::min(least.value_or(left), left);
      }
    }
    return least;
  }

  void evict_intolerant(const model::ObjectKey& key) {
    const auto node = context_.index.nodes().at(key.name);
    const auto now = context_.now();
    forget_old_taints(*node);
    std::vector<model::ObjectKey> doomed;
    std::optional<base::Duration> next;
    for (const auto* entry : context_.index.pods_on(key.name)) {
      if (!is_pod_active(*entry->pod)) {
        continue;
      }
      const auto left = time_left(*entry->pod, *node, now);
      if (left && *left <= base::Duration::zero()) {
        doomed.push_back(model::key_of(entry->pod->meta));
      } else if (left) {
        next = std::min(next.value_or(*left), *left);
      }
    }
    for (const auto& pod : doomed) {
      remove(context_, model::kPodResource, pod);
    }
    if (next) {
      enqueue_after(key, *next);
    }
  }

  // By node uid, then by taint.
  std::map<std::string, std::map<std::string, base::TimePoint>> first_seen_;
};

}  // namespace

std::unique_ptr<Controller> make_node_controller(ClusterContext& context) {
  return std::make_unique<NodeController>(context);
}

}  // namespace millwright::sandbox
