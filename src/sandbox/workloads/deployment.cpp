// Deployment: one ReplicaSet per template, rolled over within maxSurge and maxUnavailable.
#include "sandbox/workloads/events.hpp"
#include "sandbox/workloads/pods.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace millwright::sandbox {

namespace {

constexpr const char* kRevision = "deployment.kubernetes.io/revision";
constexpr const char* kHashLabel = "pod-template-hash";

// An IntOrString of `total`; percentages round up or down.
std::int64_t resolve(const Json* value, std::int64_t total, bool up, std::int64_t fallback) {
  if (value == nullptr) {
    return fallback;
  }
  if (const auto number = as_integer(*value)) {
    return *number;
  }
  if (!value->is_string()) {
    return fallback;
  }
  const auto& written = value->get_string();
  std::int64_t percent = 0;
  std::from_chars(written.data(), written.data() + written.size(), percent);
  return up ? (total * percent + 99) / 100 : total * percent / 100;
}

// The template as the user wrote it, without the label the controller adds.
Json bare_template(const Json& workload) {
  Json bare = fields(workload, "spec.template");
  if (auto* labels = find(bare, "metadata.labels"); labels != nullptr && labels->is_object()) {
    labels->get_object().erase(kHashLabel);
  }
  return bare;
}

std::int64_t revision_of(const Json& object) {
  const auto& annotations = fields(object, "metadata.annotations");
  const auto* digits = annotations.if_contains(kRevision);
  return digits == nullptr ? 0 : as_integer(*digits).value_or(0);
}

struct Rollout {
  Object newest;            // nullptr until created
  std::vector<Object> old;  // oldest revision first
  std::int64_t desired = 0;
  std::int64_t surge = 0;
  std::int64_t unavailable = 0;
};

class DeploymentController final : public Controller {
 public:
  using Controller::Controller;

  void observe(const ResourceInfo& info, const Event& event) override {
    if (info.resource.kind == "Deployment") {
      enqueue(key_of(*event.object));
    } else if (info.resource.kind == "ReplicaSet") {
      enqueue_owner(*event.object, "Deployment");
    }
  }

 protected:
  void reconcile(const model::ObjectKey& key) override {
    const auto deployment = context_.store().find(info_of(model::kDeploymentResource), key);
    if (deployment == nullptr || find(*deployment, "metadata.deletionTimestamp") != nullptr) {
      return;
    }
    auto rollout = examine(*deployment);
    if (!boolean(*deployment, "spec.paused")) {
      if (rollout.newest == nullptr) {
        create_set(*deployment, rollout);
        return;  // its event brings us back
      }
      roll(*deployment, rollout);
      rollout = examine(*deployment);
      drop_history(*deployment, rollout);
    }
    write_status(key, *deployment, rollout);
  }

 private:
  Rollout examine(const Json& deployment) const {
    Rollout rollout;
    rollout.desired = integer(deployment, "spec.replicas");
    if (text(deployment, "spec.strategy.type") == "RollingUpdate") {
      rollout.surge = resolve(find(deployment, "spec.strategy.rollingUpdate.maxSurge"),
                              rollout.desired, true, 1);
      rollout.unavailable = resolve(find(deployment, "spec.strategy.rollingUpdate.maxUnavailable"),
                                    rollout.desired, false, 0);
      if (rollout.surge == 0 && rollout.unavailable == 0) {
        rollout.unavailable = 1;
      }
    }
    const auto& sets = info_of(model::kReplicaSetResource);
    const auto wanted = bare_template(deployment);
    for (const auto& [index, key] :
         context_.index.dependents_of(text(deployment, "metadata.uid"))) {
      const auto set = index == sets.index ? context_.store().find(sets, key) : nullptr;
      if (set == nullptr) {
        continue;
      }
      if (rollout.newest == nullptr && bare_template(*set) == wanted) {
        rollout.newest = set;
      } else {
        rollout.old.push_back(set);
      }
    }
    std::stable_sort(rollout.old.begin(), rollout.old.end(), [](const Object& a, const Object& b) {
      return revision_of(*a) < revision_of(*b);
    });
    return rollout;
  }

  void create_set(const Json& deployment, const Rollout& rollout) {
    const auto hash = template_hash(bare_template(deployment));
    const auto name = fmt::format("{}-{}", text(deployment, "metadata.name"), hash);
    std::int64_t total = 0;
    std::int64_t revision = 1;
    for (const auto& set : rollout.old) {
      total += integer(*set, "spec.replicas");
      revision = std::max(revision, revision_of(*set) + 1);
    }
    const bool recreate = text(deployment, "spec.strategy.type") == "Recreate";
    auto replicas = total == 0 ? rollout.desired
                    : recreate ? 0
                               : std::min(rollout.desired, rollout.desired + rollout.surge - total);
    replicas = std::max<std::int64_t>(replicas, 0);
    auto pod_template = bare_template(deployment);
    make_object(pod_template, "metadata.labels")[kHashLabel] = hash;
    Json set = boost::json::object{
        {"metadata",
         boost::json::object{
             {"name", name},
             {"namespace", text(deployment, "metadata.namespace")},
             {"labels", fields(pod_template, "metadata.labels")},
             {"annotations", boost::json::object{{kRevision, std::to_string(revision)}}},
             {"ownerReferences", boost::json::array{owner_reference(deployment)}}}},
        {"spec", boost::json::object{{"selector", fields(deployment, "spec.selector")},
                                     {"template", pod_template}}}};
    make_object(set, "spec.selector.matchLabels")[kHashLabel] = hash;
    make(set, "spec.replicas") = replicas;
    make(set, "spec.minReadySeconds") = integer(deployment, "spec.minReadySeconds");
    if (add(context_, model::kReplicaSetResource, std::move(set)) != nullptr) {
      announce(deployment, "up", name, 0, replicas);
      edit(context_, model::kDeploymentResource, key_of(deployment), Part::Main, [&](Json& json) {
        make_object(json, "metadata.annotations")[kRevision] = std::to_string(revision);
      });
    }
  }

  void announce(const Json& deployment, std::string_view direction, std::string_view set,
                std::int64_t from, std::int64_t to) {
    context_.events.write(
        deployment, "deployment-controller", "Normal", "ScalingReplicaSet",
        fmt::format("Scaled {} replica set {} from {} to {}", direction, set, from, to));
  }

  void scale(const Json& deployment, const Object& set, std::int64_t replicas) {
    const auto before = integer(*set, "spec.replicas");
    if (before == replicas) {
      return;
    }
    edit(context_, model::kReplicaSetResource, key_of(*set), Part::Main,
         [&](Json& json) { make(json, "spec.replicas") = replicas; });
    announce(deployment, replicas > before ? "up" : "down", text(*set, "metadata.name"), before,
             replicas);
  }

  void roll(const Json& deployment, const Rollout& rollout) {
    std::int64_t old_total = 0;
    for (const auto& set : rollout.old) {
      old_total += integer(*set, "spec.replicas");
    }
    if (old_total == 0) {
      scale(deployment, rollout.newest, rollout.desired);
      return;
    }
    if (text(deployment, "spec.strategy.type") == "Recreate") {
      for (const auto& set : rollout.old) {
        scale(deployment, set, 0);
      }
      return;
    }
    const auto now_new = integer(*rollout.newest, "spec.replicas");
    const auto room = rollout.desired + rollout.surge - old_total - now_new;
    if (now_new > rollout.desired) {
      scale(deployment, rollout.newest, rollout.desired);
    } else if (room > 0) {
      scale(deployment, rollout.newest, std::min(rollout.desired, now_new + room));
    }
    const auto least = rollout.desired - rollout.unavailable;
    const auto new_unavailable =
        std::max<std::int64_t>(0, now_new - integer(*rollout.newest, "status.availableReplicas"));
    auto removable = old_total + now_new - least - new_unavailable;
    std::int64_t available = integer(*rollout.newest, "status.availableReplicas");
    for (const auto& set : rollout.old) {
      available += integer(*set, "status.availableReplicas");
    }
    auto spare = std::max<std::int64_t>(0, available - least);
    for (const auto& set : rollout.old) {
      // Pods that do not work are given up first; working ones only while enough remain.
      const auto have = integer(*set, "spec.replicas");
      const auto sick = std::max<std::int64_t>(0, have - integer(*set, "status.availableReplicas"));
      const auto lost = std::clamp<std::int64_t>(sick, 0, std::max<std::int64_t>(0, removable));
      const auto healthy =
          std::min({have - lost, spare, std::max<std::int64_t>(0, removable - lost)});
      scale(deployment, set, have - lost - healthy);
      removable -= lost + healthy;
      spare -= healthy;
    }
  }

  void drop_history(const Json& deployment, const Rollout& rollout) {
    auto surplus = static_cast<std::int64_t>(rollout.old.size()) -
                   integer(deployment, "spec.revisionHistoryLimit", 10);
    for (const auto& set : rollout.old) {
      if (surplus > 0 && integer(*set, "spec.replicas") == 0 &&
          integer(*set, "status.replicas") == 0) {
        remove(context_, model::kReplicaSetResource, key_of(*set));
        --surplus;
      }
    }
  }

  void write_status(const model::ObjectKey& key, const Json& deployment, const Rollout& rollout) {
    std::int64_t total = 0;
    std::int64_t ready = 0;
    std::int64_t available = 0;
    auto sets = rollout.old;
    if (rollout.newest != nullptr) {
      sets.push_back(rollout.newest);
    }
    for (const auto& set : sets) {
      total += integer(*set, "status.replicas");
      ready += integer(*set, "status.readyReplicas");
      available += integer(*set, "status.availableReplicas");
    }
    const auto updated =
        rollout.newest == nullptr ? 0 : integer(*rollout.newest, "status.replicas");
    const bool enough = available >= rollout.desired - rollout.unavailable;
    const bool complete = updated == rollout.desired && total == updated && available == updated;
    const auto now = context_.registry.now_text();
    const auto name = text(deployment, "metadata.name");
    edit(context_, model::kDeploymentResource, key, Part::Status, [&](Json& json) {
      auto& status = make_object(json, "status");
      status["observedGeneration"] = integer(json, "metadata.generation");
      status["replicas"] = total;
      status["updatedReplicas"] = updated;
      status["readyReplicas"] = ready;
      status["availableReplicas"] = available;
      status["unavailableReplicas"] =
          std::max<std::int64_t>(0, std::max(total, rollout.desired) - available);
      set_condition(json, "Available", enough ? "True" : "False",
                    enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                    enough ? "Deployment has minimum availability."
                           : "Deployment does not have minimum availability.",
                    now);
      set_condition(json, "Progressing", "True",
                    complete ? "NewReplicaSetAvailable" : "ReplicaSetUpdated",
                    fmt::format("ReplicaSet of deployment \"{}\" {}", name,
                                complete ? "has successfully progressed." : "is progressing."),
                    now);
    });
  }
};

}  // namespace

std::unique_ptr<Controller> make_deployment_controller(ClusterContext& context) {
  return std::make_unique<DeploymentController>(context);
}

}  // namespace millwright::sandbox
