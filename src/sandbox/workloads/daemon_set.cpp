// DaemonSet: one pod on every node that its pods may run on. Placement is the scheduler's, by a
// node affinity on the node's name.
#include "millwright/model/codec.hpp"
#include "sandbox/scheduler/filters.hpp"
#include "sandbox/workloads/pods.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::sandbox {

namespace {

// Taints that DaemonSet pods live with, whatever their template says.
void tolerate_node_conditions(Json& pod) {
  auto& tolerations = make_array(pod, "spec.tolerations");
  struct Rule {
    std::string_view key;
    std::string_view effect;
  };
  static constexpr Rule kRules[] = {{"node.kubernetes.io/not-ready", "NoExecute"},
                                    {"node.kubernetes.io/unreachable", "NoExecute"},
                                    {"node.kubernetes.io/disk-pressure", "NoSchedule"},
                                    {"node.kubernetes.io/memory-pressure", "NoSchedule"},
                                    {"node.kubernetes.io/pid-pressure", "NoSchedule"},
                                    {"node.kubernetes.io/unschedulable", "NoSchedule"}};
  for (const auto& rule : kRules) {
    tolerations.push_back(
        boost::json::object{{"key", rule.key}, {"operator", "Exists"}, {"effect", rule.effect}});
  }
}

void pin_to_node(Json& pod, std::string_view node) {
  boost::json::array by_name{boost::json::object{
      {"key", "metadata.name"}, {"operator", "In"}, {"values", boost::json::array{Json(node)}}}};
  constexpr std::string_view kTerms =
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
      "nodeSelectorTerms";
  auto& terms = make_array(pod, kTerms);
  if (terms.empty()) {
    terms.push_back(boost::json::object{});
  }
  for (auto& term : terms) {
    make(term, "matchFields") = by_name;
  }
}

// The node a daemon pod is meant for: where it is, or where it is pinned to.
std::string node_of(const model::Pod& pod) {
  if (!pod.spec.node_name.empty()) {
    return pod.spec.node_name;
  }
  for (const auto& term : pod.spec.affinity.required_node_terms) {
    for (const auto& field : term.match_fields) {
      if (!field.values.empty()) {
        return field.values.front();
      }
    }
  }
  return {};
}

class DaemonSetController final : public Controller {
 public:
  using Controller::Controller;

  void observe(const ResourceInfo& info, const Event& event) override {
    if (info.resource.kind == "DaemonSet") {
      enqueue(key_of(*event.object));
    } else if (info.resource.kind == "Pod") {
      enqueue_owner(*event.object, "DaemonSet");
    } else if (info.resource.kind == "Node") {
      for (const auto& [key, set] : context_.store().objects(info_of(model::kDaemonSetResource))) {
        enqueue(key);
      }
    }
  }

 protected:
  void reconcile(const model::ObjectKey& key) override {
    const auto set = context_.store().find(info_of(model::kDaemonSetResource), key);
    if (set == nullptr || find(*set, "metadata.deletionTimestamp") != nullptr) {
      return;
    }
    auto plain = pod_from_template(*set);
    tolerate_node_conditions(plain);
    make_object(plain, "metadata.labels")["controller-revision-hash"] =
        template_hash(fields(*set, "spec.template"));
    const auto decoded = model::decode<model::Pod>(plain);
    if (!decoded) {
      return;
    }
    std::map<std::string, std::vector<const PodEntry*>> present;
    for (const auto* entry : context_.index.pods_of(text(*set, "metadata.uid"))) {
      present[node_of(*entry->pod)].push_back(entry);
    }
    std::vector<std::string> missing;
    std::vector<model::ObjectKey> surplus;
    std::int64_t desired = 0;
    for (const auto& [name, node] : context_.index.nodes()) {
      const bool wanted = may_run_daemon(*decoded, *node);
      desired += wanted ? 1 : 0;
      const auto here = present.find(name);
      if (wanted && here == present.end()) {
        missing.push_back(name);
      } else if (!wanted && here != present.end()) {
        for (const auto* entry : here->second) {
          surplus.push_back(model::key_of(entry->pod->meta));
        }
      }
    }
    for (const auto& [name, entries] : present) {
      for (const auto* entry : entries) {
        // An ended daemon pod is replaced; one for a node that is gone has nowhere to go.
        if (model::is_terminal(*entry->pod) ||
            (entry->pod->spec.node_name.empty() && !context_.index.nodes().contains(name))) {
          surplus.push_back(model::key_of(entry->pod->meta));
        }
      }
    }
    for (const auto& pod : surplus) {
      remove(context_, model::kPodResource, pod);
    }
    for (const auto& name : missing) {
      auto pod = plain;
      pin_to_node(pod, name);
      add(context_, model::kPodResource, std::move(pod));
    }
    write_status(key, *set, desired);
  }

 private:
  static bool may_run_daemon(const model::Pod& pod, const model::Node& node) {
    if (!matches_node(pod, node)) {
      return false;
    }
    return std::none_of(node.taints.begin(), node.taints.end(), [&](const model::Taint& taint) {
      return (taint.effect == "NoSchedule" || taint.effect == "NoExecute") &&
             taint.key != "node.kubernetes.io/not-ready" &&
             std::none_of(pod.spec.tolerations.begin(), pod.spec.tolerations.end(),
                          [&](const model::Toleration& t) { return t.tolerates(taint); });
    });
  }

  void write_status(const model::ObjectKey& key, const Json& set, std::int64_t desired) {
    const auto counts =
        count_pods(context_.index.pods_of(text(set, "metadata.uid")), {}, context_.now());
    edit(context_, model::kDaemonSetResource, key, Part::Status, [&](Json& json) {
      auto& status = make_object(json, "status");
      status["desiredNumberScheduled"] = desired;
      status["currentNumberScheduled"] = counts.active;
      status["updatedNumberScheduled"] = counts.active;
      status["numberReady"] = counts.ready;
      status["numberAvailable"] = counts.available;
      status["numberUnavailable"] = std::max<std::int64_t>(0, desired - counts.available);
      status["numberMisscheduled"] = 0;
      status["observedGeneration"] = integer(json, "metadata.generation");
    });
  }
};

}  // namespace

std::unique_ptr<Controller> make_daemon_set_controller(ClusterContext& context) {
  return std::make_unique<DaemonSetController>(context);
}

}  // namespace millwright::sandbox
