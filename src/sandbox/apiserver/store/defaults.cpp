// Defaults of built-in kinds: core/v1, apps/v1, batch/v1 and the admission plugins that are on by
// default (DefaultTolerationSeconds, Priority, ServiceAccount) as far as anybody looks at them.
#include "millwright/base/base64.hpp"
#include "sandbox/apiserver/store/registry.hpp"

#include <boost/json.hpp>

#include <functional>

namespace millwright::sandbox {

namespace {

void default_container(Json& container) {
  set_default(container, "terminationMessagePath", "/dev/termination-log");
  set_default(container, "terminationMessagePolicy", "File");
  set_default(container, "resources", boost::json::object{});
  const auto image = text(container, "image");
  const auto tag = image.rfind(':');
  const bool latest = image.find('@') == std::string_view::npos &&
                      (tag == std::string_view::npos || image.substr(tag) == ":latest" ||
                       image.find('/', tag) != std::string_view::npos);
  set_default(container, "imagePullPolicy", latest ? "Always" : "IfNotPresent");
  if (find(container, "ports") != nullptr) {
    for (auto& port : make_array(container, "ports")) {
      set_default(port, "protocol", "TCP");
    }
  }
  // What is limited and not requested is requested as limited.
  const auto limits = fields(container, "resources.limits");
  for (const auto& [name, quantity] : limits) {
    auto& requests = make_object(container, "resources.requests");
    if (!requests.contains(name)) {
      requests[name] = quantity;
    }
  }
}

void default_pod_spec(Json& spec) {
  set_default(spec, "restartPolicy", "Always");
  set_default(spec, "terminationGracePeriodSeconds", 30);
  set_default(spec, "dnsPolicy", "ClusterFirst");
  set_default(spec, "schedulerName", "default-scheduler");
  set_default(spec, "securityContext", boost::json::object{});
  for (const auto* list : {"containers", "initContainers"}) {
    if (find(spec, list) != nullptr) {
      for (auto& container : make_array(spec, list)) {
        default_container(container);
      }
    }
  }
}

void add_toleration_seconds(Json& pod, std::string_view key) {
  for (const auto& toleration : items(pod, "spec.tolerations")) {
    const auto own = text(toleration, "key");
    const auto effect = text(toleration, "effect");
    if ((own == key || (own.empty() && text(toleration, "operator") == "Exists")) &&
        (effect.empty() || effect == "NoExecute")) {
      return;
    }
  }
  make_array(pod, "spec.tolerations")
      .push_back(boost::json::object{{"key", key},
                                     {"operator", "Exists"},
                                     {"effect", "NoExecute"},
                                     {"tolerationSeconds", 300}});
}

void default_priority(Json& pod, const Store& store) {
  if (const auto* given = find(pod, "spec.priority"); given != nullptr && !given->is_null()) {
    return;
  }
  const auto name = text(pod, "spec.priorityClassName");
  std::int64_t priority = 0;
  std::string policy = "PreemptLowerPriority";
  if (name == "system-cluster-critical") {
    priority = 2'000'000'000;
  } else if (name == "system-node-critical") {
    priority = 2'000'001'000;
  }
  for (const auto& [key, priority_class] : store.objects(info_of(model::kPriorityClassResource))) {
    if (key.name == name || (name.empty() && boolean(*priority_class, "globalDefault"))) {
      priority = integer(*priority_class, "value");
      if (const auto own = text(*priority_class, "preemptionPolicy"); !own.empty()) {
        policy = own;
      }
    }
  }
  make(pod, "spec.priority") = priority;
  set_default(pod, "spec.preemptionPolicy", Json(policy));
}

// Guaranteed: every container limits cpu and memory and requests just that. BestEffort: none asks.
std::string_view qos_class(const Json& pod) {
  bool any = false;
  bool all = true;
  for (const auto& container : items(pod, "spec.containers")) {
    for (const auto* name : {"cpu", "memory"}) {
      const auto* request = find(container, std::string("resources.requests.") + name);
      const auto* limit = find(container, std::string("resources.limits.") + name);
      any = any || request != nullptr || limit != nullptr;
      all = all && request != nullptr && limit != nullptr && *request == *limit;
    }
  }
  return !any ? "BestEffort" : all ? "Guaranteed" : "Burstable";
}

void default_pod(Json& pod, const Store& store) {
  default_pod_spec(make(pod, "spec"));
  set_default(pod, "spec.enableServiceLinks", true);
  set_default(pod, "spec.serviceAccountName", "default");
  default_priority(pod, store);
  add_toleration_seconds(pod, "node.kubernetes.io/not-ready");
  add_toleration_seconds(pod, "node.kubernetes.io/unreachable");
  set_default(pod, "status.qosClass", Json(qos_class(pod)));
}

void default_template(Json& workload) {
  make_object(workload, "spec.template.metadata");
  default_pod_spec(make(workload, "spec.template.spec"));
}

void default_deployment(Json& json, const Store&) {
  set_default(json, "spec.replicas", 1);
  set_default(json, "spec.revisionHistoryLimit", 10);
  set_default(json, "spec.progressDeadlineSeconds", 600);
  set_default(json, "spec.strategy.type", "RollingUpdate");
  if (text(json, "spec.strategy.type") == "RollingUpdate") {
    set_default(json, "spec.strategy.rollingUpdate.maxUnavailable", "25%");
    set_default(json, "spec.strategy.rollingUpdate.maxSurge", "25%");
  }
  default_template(json);
}

void default_replica_set(Json& json, const Store&) {
  set_default(json, "spec.replicas", 1);
  default_template(json);
}

void default_stateful_set(Json& json, const Store&) {
  set_default(json, "spec.replicas", 1);
  set_default(json, "spec.revisionHistoryLimit", 10);
  set_default(json, "spec.podManagementPolicy", "OrderedReady");
  set_default(json, "spec.serviceName", "");
  set_default(json, "spec.updateStrategy.type", "RollingUpdate");
  default_template(json);
}

void default_daemon_set(Json& json, const Store&) {
  set_default(json, "spec.revisionHistoryLimit", 10);
  set_default(json, "spec.updateStrategy.type", "RollingUpdate");
  if (text(json, "spec.updateStrategy.type") == "RollingUpdate") {
    set_default(json, "spec.updateStrategy.rollingUpdate.maxSurge", 0);
    set_default(json, "spec.updateStrategy.rollingUpdate.maxUnavailable", 1);
  }
  default_template(json);
}

// A Job selects its pods by its own uid, which nobody else can claim.
void default_job(Json& json, const Store&) {
  // With a parallelism alone the Job is a work queue: it ends with the first pod that succeeds.
  if (find(json, "spec.parallelism") == nullptr) {
    set_default(json, "spec.completions", 1);
  }
  set_default(json, "spec.parallelism", 1);
  set_default(json, "spec.backoffLimit", 6);
  set_default(json, "spec.completionMode", "NonIndexed");
  set_default(json, "spec.suspend", false);
  default_template(json);
  if (find(json, "spec.selector") == nullptr) {
    const auto uid = std::string(text(json, "metadata.uid"));
    const auto name = std::string(text(json, "metadata.name"));
    make_object(json, "spec.selector.matchLabels")["batch.kubernetes.io/controller-uid"] = uid;
    auto& labels = make_object(json, "spec.template.metadata.labels");
    labels["batch.kubernetes.io/controller-uid"] = uid;
    labels["batch.kubernetes.io/job-name"] = name;
    labels["controller-uid"] = uid;
    labels["job-name"] = name;
  }
}

void default_service(Json& json, const Store& store) {
  set_default(json, "spec.type", "ClusterIP");
  set_default(json, "spec.sessionAffinity", "None");
  if (find(json, "spec.clusterIP") == nullptr && text(json, "spec.type") != "ExternalName") {
    const auto count = store.objects(info_of(model::kServiceResource)).size() + 1;
    make(json, "spec.clusterIP") =
        "10.96." + std::to_string(count / 250) + "." + std::to_string(count % 250 + 1);
  }
  if (find(json, "spec.ports") != nullptr) {
    for (auto& port : make_array(json, "spec.ports")) {
      set_default(port, "protocol", "TCP");
      if (const auto* number = find(static_cast<const Json&>(port), "port")) {
        const Json copy = *number;
        set_default(port, "targetPort", copy);
      }
    }
  }
}

void default_storage_class(Json& json, const Store&) {
  set_default(json, "reclaimPolicy", "Delete");
  set_default(json, "volumeBindingMode", "Immediate");
}

void default_priority_class(Json& json, const Store&) {
  set_default(json, "preemptionPolicy", "PreemptLowerPriority");
}

void default_volume_claim(Json& json, const Store&) {
  set_default(json, "spec.volumeMode", "Filesystem");
}

void default_secret(Json& json, const Store&) {
  set_default(json, "type", "Opaque");
  const auto plain = fields(json, "stringData");  // a copy: `data` is made beside it
  if (plain.empty()) {
    return;
  }
  for (const auto& [key, value] : plain) {
    make_object(json, "data")[key] =
        base::encode_base64(value.is_string() ? std::string_view(value.get_string()) : "");
  }
  erase(json, "stringData");
}

}  // namespace

void apply_built_in_defaults(const ResourceInfo& info, Json& json, const Store& store) {
  struct Rule {
    std::string_view kind;
    void (*apply)(Json&, const Store&);
  };
  static constexpr Rule kRules[] = {{"Pod", default_pod},
                                    {"Deployment", default_deployment},
                                    {"ReplicaSet", default_replica_set},
                                    {"StatefulSet", default_stateful_set},
                                    {"DaemonSet", default_daemon_set},
                                    {"Job", default_job},
                                    {"Service", default_service},
                                    {"Secret", default_secret},
                                    {"StorageClass", default_storage_class},
                                    {"PriorityClass", default_priority_class},
                                    {"PersistentVolumeClaim", default_volume_claim}};
  for (const auto& rule : kRules) {
    if (rule.kind == info.resource.kind) {
      rule.apply(json, store);
    }
  }
}

}  // namespace millwright::sandbox
