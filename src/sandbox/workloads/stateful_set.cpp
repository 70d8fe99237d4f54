// StatefulSet: numbered pods, made in order and removed in reverse; no volumes, no rolling update.
#include "sandbox/workloads/pods.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

namespace millwright::sandbox {

namespace {

class StatefulSetController final : public Controller {
 public:
  using Controller::Controller;

  void observe(const ResourceInfo& info, const Event& event) override {
    if (info.resource.kind == "StatefulSet") {
      enqueue(key_of(*event.object));
    } else if (info.resource.kind == "Pod") {
      enqueue_owner(*event.object, "StatefulSet");
    }
  }

 protected:
  void reconcile(const model::ObjectKey& key) override {
    const auto set = context_.store().find(info_of(model::kStatefulSetResource), key);
    if (set == nullptr || find(*set, "metadata.deletionTimestamp") != nullptr) {
      return;
    }
    const auto replicas = integer(*set, "spec.replicas");
    const bool parallel = text(*set, "spec.podManagementPolicy") == "Parallel";
    bool settled = true;  // every lower ordinal is there and ready
    for (std::int64_t ordinal = 0; ordinal < replicas && (settled || parallel); ++ordinal) {
      const model::ObjectKey pod_key{key.namespace_, fmt::format("{}-{}", key.name, ordinal)};
      const auto* entry = context_.index.pod(pod_key);
      if (entry == nullptr) {
        auto pod = pod_from_template(*set, pod_key.name);
        auto& labels = make_object(pod, "metadata.labels");
        labels["statefulset.kubernetes.io/pod-name"] = pod_key.name;
        labels["apps.kubernetes.io/pod-index"] = std::to_string(ordinal);
        add(context_, model::kPodResource, std::move(pod));
        settled = false;
      } else if (model::is_terminal(*entry->pod) && !entry->pod->meta.is_deleting()) {
        remove(context_, model::kPodResource, pod_key);
        settled = false;
      } else if (!is_pod_ready(*entry->pod) || entry->pod->meta.is_deleting()) {
        settled = false;
      }
    }
    remove_highest(key, *set, replicas);
    write_status(key, *set);
  }

 private:
  // One at a time, from the highest number.
  void remove_highest(const model::ObjectKey& key, const Json& set, std::int64_t replicas) {
    std::int64_t highest = -1;
    for (const auto* entry : context_.index.pods_of(text(set, "metadata.uid"))) {
      const auto& name = entry->pod->meta.name;
      const auto ordinal = as_integer(Json(name.substr(name.rfind('-') + 1))).value_or(-1);
      if (ordinal >= replicas && entry->pod->meta.is_deleting()) {
        return;
      }
      highest = std::max(highest, ordinal);
    }
    if (highest >= replicas) {
      remove(context_, model::kPodResource,
             {key.namespace_, fmt::format("{}-{}", key.name, highest)});
    }
  }

  void write_status(const model::ObjectKey& key, const Json& set) {
    const auto counts =
        count_pods(context_.index.pods_of(text(set, "metadata.uid")), {}, context_.now());
    edit(context_, model::kStatefulSetResource, key, Part::Status, [&](Json& json) {
      auto& status = make_object(json, "status");
      status["replicas"] = counts.active;
      status["currentReplicas"] = counts.active;
      status["updatedReplicas"] = counts.active;
      status["readyReplicas"] = counts.ready;
      status["availableReplicas"] = counts.available;
      status["observedGeneration"] = integer(json, "metadata.generation");
    });
  }
};

}  // namespace

std::unique_ptr<Controller> make_stateful_set_controller(ClusterContext& context) {
  return std::make_unique<StatefulSetController>(context);
}

}  // namespace millwright::sandbox
