#include "app/whatif/cluster/cluster_files.hpp"

#include "millwright/model/codec.hpp"
#include "millwright/model/labels.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace millwright::app {
namespace {

namespace json = boost::json;
using model::find_path;
using model::text_at;

// A cluster of some thousand nodes; a pod has 150 values or so.
constexpr std::size_t kMostValues = 40'000'000;
// Where a file tells no time at all.
constexpr base::TimePoint kNoTimes = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);

constexpr std::array kTaken{model::kNamespaceResource,
                            model::kPriorityClassResource,
                            model::kStorageClassResource,
                            model::kPersistentVolumeResource,
                            model::kResourceQuotaResource,
                            model::kKwokNodeClassResource,
                            model::kEc2NodeClassResource,
                            model::kEcsNodeClassResource,
                            model::kOfficialEcsNodeClassResource,
                            model::kCceNodeClassResource,
                            model::kNodePoolResource,
                            model::kNodeClaimResource,
                            model::kNodeResource,
                            model::kCSINodeResource,
                            model::kDeviceClassResource,
                            model::kResourceClaimResource,
                            model::kResourceClaimTemplateResource,
                            model::kResourceSliceResource,
                            model::kPersistentVolumeClaimResource,
                            model::kDeploymentResource,
                            model::kReplicaSetResource,
                            model::kStatefulSetResource,
                            model::kDaemonSetResource,
                            model::kJobResource,
                            model::kPodDisruptionBudgetResource,
                            model::kPodResource};

const model::Resource* taken_as(const json::value& object) {
  const auto found = std::find_if(kTaken.begin(), kTaken.end(), [&](const model::Resource& each) {
    return each.kind == text_at(object, "kind") &&
           each.api_version() == text_at(object, "apiVersion");
  });
  return found == kTaken.end() ? nullptr : &*found;
}

void take_apart(json::value document, std::vector<json::value>& objects) {
  auto* items = document.is_object() ? document.get_object().if_contains("items") : nullptr;
  if (items == nullptr || !items->is_array() || !text_at(document, "kind").ends_with("List")) {
    objects.push_back(std::move(document));
    return;
  }
  for (auto& item : items->get_array()) {
    objects.push_back(std::move(item));
  }
}

std::string name_of(const json::value& object) {
  const auto ns = text_at(object, "metadata.namespace");
  return std::string(text_at(object, "kind"))
      .append(" ")
      .append(ns)
      .append(ns.empty() ? "" : "/")
      .append(text_at(object, "metadata.name"));
}

// kubectl's name of the resource: "nodepools".
base::Error missing(const std::string& what, std::string_view resource) {
  return {base::ErrorKind::Invalid,
          what + ", which is not in the files; add " + std::string(resource) + " to `kubectl get`",
          {}};
}

class StockTaker {
 public:
  base::Result<ClusterFiles> run(std::vector<json::value> objects) {
    for (auto& object : objects) {
      if (auto taken = take(std::move(object)); !taken) {
        return tl::unexpected(std::move(taken).error());
      }
    }
    for (auto& [key, object] : objects_) {
      index(object);
    }
    for (auto& [key, object] : objects_) {
      if (auto checked = check(object); !checked) {
        return tl::unexpected(std::move(checked).error());
      }
    }
    finish();
    return std::move(result_);
  }

 private:
  using Key = std::tuple<std::size_t, std::string, std::string>;  // kind, namespace, name

  base::Result<> take(json::value object) {
    if (!object.is_object() || text_at(object, "kind").empty() ||
        text_at(object, "apiVersion").empty() || text_at(object, "metadata.name").empty()) {
      return base::fail(base::ErrorKind::Invalid,
                        "a document has no apiVersion, kind and metadata.name: " +
                            json::serialize(object).substr(0, 80));
    }
    note_times(object);
    const auto* resource = taken_as(object);
    if (resource == nullptr) {
      ++left_out_[std::string(text_at(object, "kind"))];
      return {};
    }
    auto& metadata = object.at("metadata").as_object();
    if (resource->namespaced && text_at(object, "metadata.namespace").empty()) {
      metadata["namespace"] = "default";
    }
    metadata.erase("managedFields");
    const auto kind = static_cast<std::size_t>(resource - kTaken.data());
    Key key{kind, std::string(text_at(object, "metadata.namespace")),
            std::string(text_at(object, "metadata.name"))};
    objects_.insert_or_assign(std::move(key), ClusterObject{resource, std::move(object)});
    return {};
  }

  void note_times(const json::value& value) {
    if (const auto* object = value.if_object()) {
      for (const auto& [key, member] : *object) {
        const auto* text = member.if_string();
        if (text == nullptr) {
          note_times(member);
        } else if (key.ends_with("Time") || key.ends_with("Timestamp")) {
          if (const auto time = base::parse_rfc3339(*text)) {
            result_.newest = std::max(result_.newest, *time);
          }
        }
      }
    } else if (const auto* array = value.if_array()) {
      for (const auto& item : *array) {
        note_times(item);
      }
    }
  }

  void index(const ClusterObject& each) {
    if (const auto uid = text_at(each.object, "metadata.uid"); !uid.empty()) {
      uids_.insert(std::string(uid));
    }
    if (*each.resource == model::kNodeClaimResource) {
      claimed_.insert(std::string(text_at(each.object, "status.providerID")));
    }
    if (const auto cloud = cloud_of(*each.resource)) {
      result_.clouds.insert(*cloud);
      node_classes_.insert(reference_to(each));
    }
    if (each.resource->namespaced) {
      namespaces_.insert(std::string(text_at(each.object, "metadata.namespace")));
    }
  }

  base::Result<> check(ClusterObject& each) {
    if (*each.resource == model::kNodeResource) {
      const auto* labels = find_path(each.object, "metadata.labels");
      const auto id = text_at(each.object, "spec.providerID");
      if (!model::as_text(model::member(labels, model::kNodePoolLabel)).empty() &&
          !claimed_.contains(std::string(id))) {
        return tl::unexpected(missing(name_of(each.object) + " has a NodeClaim", "nodeclaims"));
      }
    }
    if (*each.resource == model::kNodePoolResource) {
      if (auto checked = check_reference(each); !checked) {
        return checked;
      }
    }
    return check_owners(each);
  }

  base::Result<> check_reference(const ClusterObject& pool) const {
    const auto reference = reference_at(pool.object, "spec.template.spec.nodeClassRef");
    if (reference.group.empty()) {
      return base::fail(base::ErrorKind::Invalid,
                        name_of(pool.object) +
                            " names no NodeClass: spec.template.spec.nodeClassRef.group is "
                            "missing; write the class's, such as karpenter.k8s.aws");
    }
    if (node_classes_.contains(reference)) {
      return {};
    }
    std::string resource(reference.kind);
    std::transform(resource.begin(), resource.end(), resource.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    resource.append("es.").append(reference.group);
    return tl::unexpected(missing(name_of(pool.object) + " names " + reference.kind + " " +
                                      reference.name + " of " + reference.group,
                                  resource));
  }

  base::Result<> check_owners(ClusterObject& each) {
    auto& metadata = each.object.at("metadata").as_object();
    auto* references = metadata.if_contains("ownerReferences");
    if (references == nullptr || !references->is_array()) {
      return {};
    }
    json::array kept;
    for (auto& reference : references->get_array()) {
      const auto kind = text_at(reference, "kind");
      if (uids_.contains(std::string(text_at(reference, "uid")))) {
        kept.push_back(reference);
      } else if (*each.resource == model::kNodeClaimResource && kind == "NodePool") {
        return tl::unexpected(missing(name_of(each.object) + " belongs to NodePool " +
                                          std::string(text_at(reference, "name")),
                                      "nodepools"));
      } else if (*each.resource == model::kPodResource && !is_over(each.object)) {
        if (const auto* resource = simulated_owner(kind)) {
          return tl::unexpected(missing(name_of(each.object) + " belongs to " + std::string(kind) +
                                            " " + std::string(text_at(reference, "name")),
                                        resource->plural));
        }
        if (kind != "Node") {
          kept.push_back(stand_in(each.object, reference));
        }
      }
    }
    *references = std::move(kept);
    return {};
  }

  // What most snapshots have and nobody expects to count.
  static bool changes_nothing(std::string_view kind) {
    static constexpr std::array<std::string_view, 6> kKinds{
        "Event",
        "Lease",
        "VolumeAttachment",  // nothing detaches volumes here: they would keep their nodes
        "CustomResourceDefinition",
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration"};
    return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
  }

  static bool is_over(const json::value& pod) {
    const auto phase = text_at(pod, "status.phase");
    return phase == "Succeeded" || phase == "Failed";
  }

  static const model::Resource* simulated_owner(std::string_view kind) {
    for (const auto* resource : {&model::kReplicaSetResource, &model::kStatefulSetResource,
                                 &model::kDaemonSetResource, &model::kJobResource}) {
      if (resource->kind == kind) {
        return resource;
      }
    }
    return nullptr;
  }

  // A reference to a ReplicaSet that creates the pod anew where its own owner would.
  json::value stand_in(const json::value& pod, const json::value& reference) {
    const std::string uid(text_at(reference, "uid"));
    auto& set = stand_ins_[uid];
    if (set.is_null()) {
      set = replica_set_like(pod, reference);
    }
    auto& replicas = set.at("spec").at("replicas");
    replicas = replicas.as_int64() + 1;
    return json::object{{"apiVersion", "apps/v1"},
                        {"kind", "ReplicaSet"},
                        {"name", set.at("metadata").at("name")},
                        {"uid", uid},
                        {"controller", true},
                        {"blockOwnerDeletion", true}};
  }

  static json::value replica_set_like(const json::value& pod, const json::value& reference) {
    json::object metadata;
    const auto& own = pod.at("metadata").as_object();
    for (const auto* key : {"labels", "annotations"}) {
      if (const auto* value = own.if_contains(key)) {
        metadata[key] = *value;
      }
    }
    auto* labels = metadata["labels"].is_object() ? &metadata["labels"].get_object()
                                                  : &metadata["labels"].emplace_object();
    if (labels->empty()) {
      (*labels)["millwright.io/stand-in-for"] = text_at(reference, "name");
    }
    json::object spec =
        find_path(pod, "spec") == nullptr ? json::object() : pod.at("spec").as_object();
    spec.erase("nodeName");
    spec["restartPolicy"] = "Always";
    const json::object selector{{"matchLabels", *labels}};
    std::string name(text_at(reference, "kind"));
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return json::object{
        {"apiVersion", "apps/v1"},
        {"kind", "ReplicaSet"},
        {"metadata", json::object{{"name", name.append("-").append(text_at(reference, "name"))},
                                  {"namespace", own.at("namespace")},
                                  {"uid", text_at(reference, "uid")}}},
        {"spec", json::object{{"replicas", 0},
                              {"selector", selector},
                              {"template", json::object{{"metadata", std::move(metadata)},
                                                        {"spec", std::move(spec)}}}}}};
  }

  void finish() {
    for (const auto& name : namespaces_) {
      objects_.try_emplace(
          Key{0, {}, name},
          ClusterObject{&kTaken.front(), json::object{{"apiVersion", "v1"},
                                                      {"kind", "Namespace"},
                                                      {"metadata", json::object{{"name", name}}}}});
    }
    for (auto& [key, each] : objects_) {
      result_.objects.push_back(std::move(each));
    }
    for (auto& [uid, set] : stand_ins_) {
      const auto kind_end = text_at(set, "metadata.name").find('-');
      result_.notes.push_back("pods of " + std::string(text_at(set, "metadata.namespace")) + "/" +
                              std::string(text_at(set, "metadata.name").substr(kind_end + 1)) +
                              " (" +
                              std::string(text_at(set, "metadata.name").substr(0, kind_end)) +
                              ", a kind unknown here) are treated as a ReplicaSet's");
      // Before the pods, which name it.
      result_.objects.insert(result_.objects.end(),
                             ClusterObject{&model::kReplicaSetResource, std::move(set)});
    }
    if (result_.newest == base::TimePoint()) {
      result_.newest = kNoTimes;
    }
    std::string kinds;
    for (const auto& [kind, count] : left_out_) {
      if (!changes_nothing(kind)) {
        kinds += (kinds.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
      }
    }
    if (!kinds.empty()) {
      result_.notes.push_back("not looked at: " + kinds);
    }
  }

  std::map<Key, ClusterObject> objects_;
  std::set<std::string> uids_;
  std::set<std::string> claimed_;  // provider ids
  std::set<model::NodeClassReference> node_classes_;
  std::set<std::string> namespaces_;
  std::map<std::string, json::value> stand_ins_;  // by uid of the owner
  std::map<std::string, std::size_t> left_out_;   // by kind
  ClusterFiles result_;
};

}  // namespace

model::NodeClassReference reference_to(const ClusterObject& node_class) {
  return {.group = std::string(node_class.resource->group),
          .kind = std::string(node_class.resource->kind),
          .name = std::string(text_at(node_class.object, "metadata.name"))};
}

model::NodeClassReference reference_at(const json::value& object, std::string_view path) {
  const auto* reference = find_path(object, path);
  const auto part = [reference](std::string_view name) {
    return std::string(model::as_text(model::member(reference, name)));
  };
  return {.group = part("group"), .kind = part("kind"), .name = part("name")};
}

std::optional<cloud::Profile> cloud_of(const model::Resource& resource) {
  if (resource == model::kKwokNodeClassResource) {
    return cloud::Profile::Kwok;
  }
  if (resource == model::kEc2NodeClassResource) {
    return cloud::Profile::Aws;
  }
  if (resource == model::kEcsNodeClassResource ||
      resource == model::kOfficialEcsNodeClassResource) {
    return cloud::Profile::Alibaba;
  }
  if (resource == model::kCceNodeClassResource) {
    return cloud::Profile::Huawei;
  }
  return std::nullopt;
}

base::Result<std::vector<json::value>> read_objects(std::string_view text,
                                                    const std::string& file) {
  std::vector<json::value> objects;
  const auto begin = text.find_first_not_of(" \t\r\n");
  const bool may_be_json = begin != std::string_view::npos && text[begin] == '{';
  auto whole = may_be_json ? model::parse_json(text) : base::Result<json::value>();
  if (may_be_json && whole) {
    take_apart(*std::move(whole), objects);
    return objects;
  }
  auto documents = model::parse_yaml(text, kMostValues);
  if (!documents) {
    return base::with_context(
        file, may_be_json ? std::move(whole).error() : std::move(documents).error());
  }
  for (auto& document : *documents) {
    take_apart(std::move(document), objects);
  }
  if (objects.empty()) {
    return base::fail(base::ErrorKind::Invalid, file + ": there is no object in it");
  }
  return objects;
}

std::span<const model::Resource> planned_kinds() {
  return kTaken;
}

base::Result<ClusterFiles> take_stock(std::vector<json::value> objects) {
  return StockTaker().run(std::move(objects));
}

}  // namespace millwright::app
