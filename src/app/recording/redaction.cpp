#include "app/recording/redaction.hpp"

#include "app/recording/name_hiding.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/sandbox/world.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace millwright::app {
namespace {

namespace json = boost::json;
using Paths = std::vector<std::string_view>;

// Members to keep, as a tree: a leaf is kept with all that is in it.
class KeptFields {
 public:
  void add(std::string_view path) {
    const auto dot = path.find('.');
    auto& below = members_[std::string(path.substr(0, dot))];
    if (dot == std::string_view::npos) {
      return;
    }
    if (!below) {
      below = std::make_unique<KeptFields>();
    }
    below->add(path.substr(dot + 1));
  }

  void add_all(std::string_view prefix, const Paths& paths) {
    for (const auto path : paths) {
      add(std::string(prefix).append(path));
    }
  }

  // Each item of a list is cut alike.
  json::value cut(const json::value& value) const {
    if (const auto* list = value.if_array()) {
      json::array kept;
      for (const auto& item : *list) {
        kept.push_back(cut(item));
      }
      return kept;
    }
    const auto* object = value.if_object();
    if (object == nullptr) {
      return nullptr;  // of another type than this kind has there
    }
    json::object kept;
    for (const auto& [name, below] : members_) {
      if (const auto* member = object->if_contains(name)) {
        kept[name] = below ? below->cut(*member) : *member;
      }
    }
    return kept;
  }

 private:
  std::map<std::string, std::unique_ptr<KeptFields>> members_;
};

const Paths kOfMeta{
    "name",       "generateName",      "namespace",         "uid",
    "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
    "labels",     "annotations",       "finalizers",        "ownerReferences"};

const Paths kOfPodSpec{"nodeName",
                       "nodeSelector",
                       "affinity",
                       "tolerations",
                       "topologySpreadConstraints",
                       "priorityClassName",
                       "priority",
                       "preemptionPolicy",
                       "schedulerName",
                       "schedulingGates",
                       "overhead",
                       "resources",
                       "resourceClaims",
                       "hostNetwork",
                       "restartPolicy",
                       "terminationGracePeriodSeconds",
                       "containers.name",
                       "containers.resources",
                       "containers.restartPolicy",
                       "containers.ports.containerPort",
                       "containers.ports.hostPort",
                       "containers.ports.hostIP",
                       "containers.ports.protocol",
                       "initContainers.name",
                       "initContainers.resources",
                       "initContainers.restartPolicy",
                       "initContainers.ports.containerPort",
                       "initContainers.ports.hostPort",
                       "initContainers.ports.hostIP",
                       "initContainers.ports.protocol",
                       "volumes.name",
                       "volumes.persistentVolumeClaim",
                       "volumes.ephemeral.volumeClaimTemplate.spec.accessModes",
                       "volumes.ephemeral.volumeClaimTemplate.spec.resources",
                       "volumes.ephemeral.volumeClaimTemplate.spec.storageClassName"};

const Paths kOfConditions{"status.conditions.type",
                          "status.conditions.status",
                          "status.conditions.reason",
                          "status.conditions.message",
                          "status.conditions.lastTransitionTime",
                          "status.conditions.observedGeneration"};

struct KindFields {
  model::Resource resource;
  Paths fields;
  bool has_template = false;
};

// Workloads' status is left out: it changes with each pod, and follows from their pods. So does
// that of PodDisruptionBudgets.
const std::vector<KindFields>& kinds_of_fields() {
  static const std::vector<KindFields> kKinds{
      {model::kNamespaceResource, {"status.phase"}},
      {model::kPriorityClassResource, {"value", "globalDefault", "preemptionPolicy"}},
      {model::kStorageClassResource,
       {"provisioner", "volumeBindingMode", "allowedTopologies", "reclaimPolicy"}},
      {model::kPersistentVolumeResource,
       {"spec.capacity", "spec.accessModes", "spec.volumeMode", "spec.storageClassName",
        "spec.persistentVolumeReclaimPolicy", "spec.nodeAffinity", "spec.claimRef.apiVersion",
        "spec.claimRef.kind", "spec.claimRef.namespace", "spec.claimRef.name", "spec.claimRef.uid",
        "spec.csi.driver", "spec.local.path", "spec.hostPath.type",
        "spec.awsElasticBlockStore.fsType", "status.phase"}},
      {model::kPersistentVolumeClaimResource,
       {"spec.accessModes", "spec.volumeMode", "spec.storageClassName", "spec.resources",
        "spec.volumeName", "status.phase"}},
      {model::kResourceQuotaResource,
       {"spec.hard", "spec.scopes", "spec.scopeSelector", "status.hard", "status.used"}},
      {model::kKwokNodeClassResource, {"spec", "status"}},
      {model::kEc2NodeClassResource, {"spec", "status"}},
      {model::kEcsNodeClassResource, {"spec", "status"}},
      {model::kOfficialEcsNodeClassResource, {"spec", "status"}},
      {model::kCceNodeClassResource, {"spec", "status"}},
      {model::kNodePoolResource, {"spec"}},
      {model::kNodeClaimResource,
       {"spec", "status.capacity", "status.allocatable", "status.providerID", "status.imageID",
        "status.nodeName"}},
      {model::kNodeResource,
       {"spec.providerID", "spec.unschedulable", "spec.taints", "status.capacity",
        "status.allocatable", "status.nodeInfo.architecture", "status.nodeInfo.operatingSystem",
        "status.nodeInfo.kubeletVersion"}},
      {model::kCSINodeResource, {"spec.drivers.name", "spec.drivers.allocatable"}},
      // What drivers are configured with is theirs alone.
      {model::kDeviceClassResource, {"spec.selectors"}},
      {model::kResourceClaimResource,
       {"spec.devices.requests", "spec.devices.constraints", "status.allocation.devices.results",
        "status.allocation.nodeSelector", "status.reservedFor"}},
      {model::kResourceClaimTemplateResource,
       {"spec.spec.devices.requests", "spec.spec.devices.constraints"}},
      {model::kResourceSliceResource, {"spec"}},
      {model::kDeploymentResource,
       {"spec.replicas", "spec.selector", "spec.strategy", "spec.minReadySeconds", "spec.paused",
        "spec.revisionHistoryLimit"},
       true},
      {model::kReplicaSetResource,
       {"spec.replicas", "spec.selector", "spec.minReadySeconds"},
       true},
      {model::kStatefulSetResource,
       {"spec.replicas", "spec.selector", "spec.podManagementPolicy", "spec.serviceName",
        "spec.updateStrategy", "spec.minReadySeconds"},
       true},
      {model::kDaemonSetResource,
       {"spec.selector", "spec.updateStrategy", "spec.minReadySeconds"},
       true},
      {model::kJobResource,
       {"spec.parallelism", "spec.completions", "spec.completionMode", "spec.backoffLimit",
        "spec.suspend", "spec.selector", "spec.manualSelector", "status.startTime",
        "status.completionTime", "status.succeeded", "status.failed"},
       true},
      {model::kPodDisruptionBudgetResource,
       {"spec.minAvailable", "spec.maxUnavailable", "spec.selector",
        "spec.unhealthyPodEvictionPolicy"}},
      {model::kPodResource, {"status.phase", "status.startTime", "status.nominatedNodeName"}}};
  return kKinds;
}

bool has_conditions(const model::Resource& resource) {
  static constexpr std::array<std::string_view, 5> kKinds{"Pod", "Node", "NodePool", "NodeClaim",
                                                          "Job"};
  return std::find(kKinds.begin(), kKinds.end(), resource.kind) != kKinds.end();
}

KeptFields fields_of(const KindFields& kind) {
  KeptFields kept;
  kept.add("apiVersion");
  kept.add("kind");
  kept.add_all("metadata.", kOfMeta);
  kept.add_all("", kind.fields);
  if (has_conditions(kind.resource)) {
    kept.add_all("", kOfConditions);
  }
  if (kind.resource == model::kPodResource) {
    kept.add_all("spec.", kOfPodSpec);
  }
  if (kind.has_template) {
    kept.add("spec.template.metadata.labels");
    kept.add("spec.template.metadata.annotations");
    kept.add_all("spec.template.spec.", kOfPodSpec);
  }
  return kept;
}

const KeptFields& kept_of(const model::Resource& resource) {
  static const auto kAll = [] {
    std::map<std::string_view, KeptFields> all;
    for (const auto& kind : kinds_of_fields()) {
      all.emplace(kind.resource.kind, fields_of(kind));
    }
    return all;
  }();
  return kAll.at(resource.kind);
}

// Those that decide something. Reservations and fences are not among them: they are what a
// controller planned, not what was asked of it.
bool keeps_annotation(std::string_view key) {
  static constexpr std::array<std::string_view, 11> kKept{
      model::kDoNotDisruptAnnotation,
      model::kNodePoolHashAnnotation,
      model::kNodePoolHashVersionAnnotation,
      "controller.kubernetes.io/pod-deletion-cost",
      "deployment.kubernetes.io/revision",
      "kubectl.kubernetes.io/restartedAt",
      "resource.kubernetes.io/pod-claim-name",
      "storageclass.kubernetes.io/is-default-class",
      "kubernetes.io/config.mirror",
      kTemplateDigestAnnotation,
      sandbox::kRunForAnnotation};
  if (key == model::kReservationsAnnotation || key == model::kFenceAnnotation ||
      key == model::kKickAnnotation) {
    return false;
  }
  return std::find(kKept.begin(), kKept.end(), key) != kKept.end() ||
         key.starts_with("millwright.io/") || key.ends_with("nodeclass-hash") ||
         key.ends_with("nodeclass-hash-version");
}

void cut_annotations(json::value& holder) {
  auto* metadata = holder.is_object() ? holder.get_object().if_contains("metadata") : nullptr;
  auto* annotations = metadata != nullptr && metadata->is_object()
                          ? metadata->get_object().if_contains("annotations")
                          : nullptr;
  if (annotations == nullptr) {
    return;
  }
  json::object kept;
  if (const auto* all = annotations->if_object()) {
    for (const auto& [key, value] : *all) {
      if (keeps_annotation(key)) {
        kept[key] = value;
      }
    }
  }
  *annotations = std::move(kept);
}

// Messages name other objects, and change with every attempt; schemas want them to be there.
void empty_messages(json::value& object) {
  auto* status = object.as_object().if_contains("status");
  auto* conditions = status != nullptr && status->is_object()
                         ? status->get_object().if_contains("conditions")
                         : nullptr;
  if (conditions == nullptr || !conditions->is_array()) {
    return;
  }
  for (auto& condition : conditions->get_array()) {
    if (condition.is_object() && condition.get_object().contains("message")) {
      condition.get_object()["message"] = "";
    }
  }
}

// A NodeClass may hold scripts and passwords of machines.
void remove_secrets(json::value& object) {
  auto* spec = object.as_object().if_contains("spec");
  if (spec == nullptr || !spec->is_object()) {
    return;
  }
  auto& members = spec->get_object();
  for (const auto* secret : {"userData", "password", "keyPairName"}) {
    members.erase(secret);
  }
  if (auto* login = members.if_contains("login")) {
    *login = json::object{{"sshKey", "removed"}};  // its schema wants one of them
  }
}

// Without the label that a Deployment's controller adds in ReplicaSets.
std::string bare_text(json::value pod_template) {
  auto* metadata =
      pod_template.is_object() ? pod_template.get_object().if_contains("metadata") : nullptr;
  auto* labels = metadata != nullptr && metadata->is_object()
                     ? metadata->get_object().if_contains("labels")
                     : nullptr;
  if (labels != nullptr && labels->is_object()) {
    labels->get_object().erase("pod-template-hash");
  }
  return json::serialize(pod_template);
}

json::object& object_in(json::object& holder, std::string_view key) {
  auto& member = holder[key];
  return member.is_object() ? member.get_object() : member.emplace_object();
}

}  // namespace

json::value Redaction::redacted(const model::Resource& resource, const json::value& object) const {
  auto kept = kept_of(resource).cut(object);
  kept.as_object()["apiVersion"] = resource.api_version();
  kept.as_object()["kind"] = resource.kind;
  cut_annotations(kept);
  empty_messages(kept);
  if (std::find(model::node_class_resources().begin(), model::node_class_resources().end(),
                resource) != model::node_class_resources().end()) {
    remove_secrets(kept);
  }
  const auto* original = model::find_path(object, "spec.template");
  if (original != nullptr && original->is_object() &&
      model::find_path(kept, "spec.template.spec") != nullptr) {
    cut_annotations(kept.at("spec").at("template"));
  }
  if (original != nullptr && original->is_object() && resource != model::kNodePoolResource &&
      model::find_path(kept, "spec.template.spec") != nullptr) {
    auto& pod_template = kept.at("spec").at("template");
    auto& metadata = object_in(pod_template.as_object(), "metadata");
    object_in(metadata, "annotations")[kTemplateDigestAnnotation] =
        digests_.name(bare_text(*original));
  }
  if (names_) {
    hide_names(*names_, resource, kept);
  }
  return kept;
}

}  // namespace millwright::app
