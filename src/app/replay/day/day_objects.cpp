#include "app/replay/day/day_objects.hpp"

#include "app/recording/redaction.hpp"
#include "app/replay/day/day_pods.hpp"
#include "app/replay/stand_in.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <memory>
#include <set>

namespace millwright::app {
namespace {

namespace json = boost::json;
using base::ErrorKind;
using model::text_at;

bool is_kind(const RecordingLine& line, const model::Resource& resource) {
  return *line.resource == resource;
}

bool is_managed(const json::value& node) {
  return !model::as_text(
              model::member(model::find_path(node, "metadata.labels"), model::kNodePoolLabel))
              .empty();
}

bool is_ready_node(const json::value& node) {
  const auto decoded = model::decode<model::Node>(node);
  return decoded && model::is_ready(*decoded);
}

// Those that something else may still need while they are being deleted.
bool stays_until_gone(const model::Resource& resource) {
  return resource == model::kPersistentVolumeResource ||
         resource == model::kPersistentVolumeClaimResource || resource == model::kNamespaceResource;
}

// Recordings of earlier versions have the digest on NodePools' templates, too. It is no part of
// what was asked for, and would make the template another than the one that machines were made
// from.
void forget_digest(json::value& pool) {
  auto* metadata = model::find_path(pool, "spec.template.metadata") == nullptr
                       ? nullptr
                       : pool.at("spec").at("template").at("metadata").if_object();
  auto* annotations = metadata == nullptr ? nullptr : metadata->if_contains("annotations");
  if (annotations == nullptr || !annotations->is_object()) {
    return;
  }
  annotations->get_object().erase(kTemplateDigestAnnotation);
  if (annotations->get_object().empty()) {
    metadata->erase("annotations");
  }
}

json::object* annotations_of(json::value& object) {
  auto* annotations = object.at("metadata").as_object().if_contains("annotations");
  return annotations == nullptr ? nullptr : annotations->if_object();
}

// The controller of its Deployment makes it.
bool is_made_by_deployment(const model::Resource& resource, const json::value& object) {
  const auto* owner = controller_of(object);
  return resource == model::kReplicaSetResource && owner != nullptr &&
         text_at(*owner, "kind") == "Deployment" &&
         model::api_group(text_at(*owner, "apiVersion")) == model::kDeploymentResource.group;
}

// Made of a template for a pod that was asked for.
bool is_made_for_pod(const model::Resource& resource, const json::value& object) {
  const auto* owner = controller_of(object);
  return resource == model::kResourceClaimResource && owner != nullptr &&
         text_at(*owner, "kind") == "Pod";
}

bool is_made_by_controller(const model::Resource& resource, const json::value& object) {
  return is_made_by_deployment(resource, object) || is_made_for_pod(resource, object);
}

// What tells of nodes comes and goes with them.
bool is_of_node(const RecordingLine& line) {
  return is_kind(line, model::kNodeClaimResource) || is_kind(line, model::kCSINodeResource) ||
         is_kind(line, model::kResourceSliceResource);
}

// Those that are read as values later must be readable.
base::Result<> check_readable(const RecordingLine& line) {
  base::Result<> good;
  const auto note = [&good](const auto& decoded) {
    if (!decoded) {
      good = base::fail(ErrorKind::Invalid, "object: " + decoded.error().message);
    }
  };
  if (is_kind(line, model::kPodResource)) {
    note(model::decode<model::Pod>(line.object));
  } else if (is_kind(line, model::kNodeResource)) {
    note(model::decode<model::Node>(line.object));
  } else if (is_kind(line, model::kNodeClaimResource)) {
    note(model::decode<model::NodeClaim>(line.object));
  } else if (is_kind(line, model::kNodePoolResource)) {
    note(model::decode<model::NodePool>(line.object));
  }
  return good;
}

// Where the pool's own hash is on the object.
void stamp_with_hash_of(const json::value& pool_object, json::value& object) {
  auto* members = annotations_of(object);
  const auto* of_object =
      members == nullptr ? nullptr : members->if_contains(model::kNodePoolHashAnnotation);
  const auto* of_pool = model::member(model::find_path(pool_object, "metadata.annotations"),
                                      model::kNodePoolHashAnnotation);
  const auto pool = model::decode<model::NodePool>(pool_object);
  if (of_object != nullptr && of_pool != nullptr && *of_pool == *of_object && pool) {
    (*members)[model::kNodePoolHashAnnotation] = model::nodepool_hash(pool->template_);
    (*members)[model::kNodePoolHashVersionAnnotation] = model::kNodePoolHashVersion;
  }
}

}  // namespace

std::string DayObjects::node_without_claim() const {
  std::set<std::string> claimed;
  for (const auto& [key, object] : objects_) {
    if (*key.first == model::kNodeClaimResource) {
      claimed.insert(std::string(text_at(*object, "status.providerID")));
    }
  }
  const auto found = std::find_if(objects_.begin(), objects_.end(), [&](const auto& entry) {
    const auto& [key, object] = entry;
    return *key.first == model::kNodeResource && is_managed(*object) &&
           !claimed.contains(std::string(text_at(*object, "spec.providerID")));
  });
  return found == objects_.end() ? std::string() : found->first.second.name;
}

void DayObjects::begin() {
  has_begun_ = true;
  wishes_.clear();
  std::set<std::string> uids;
  for (const auto& [key, object] : objects_) {
    uids.insert(std::string(text_at(*object, "metadata.uid")));
  }
  for (const auto& [key, object] : objects_) {
    if (*key.first == model::kPodResource) {
      const auto* owner = controller_of(*object);
      listener_.first_pod(*object,
                          owner != nullptr && uids.contains(std::string(text_at(*owner, "uid"))));
      continue;
    }
    if (!is_made_by_controller(*key.first, *object)) {
      wishes_[key] = json::serialize(wish_of(*key.first, *object));
    }
    auto first = *object;
    fill_images(first);
    restamp(*key.first, first);
    listener_.first(std::move(first));
  }
}

// A recording leaves out annotations of a NodePool's template, and may hide names, so the hash of
// the template is another than the recorded one: a claim that fitted then has to fit now.
void DayObjects::restamp(const model::Resource& resource, json::value& object) const {
  if (resource == model::kNodePoolResource) {
    stamp_with_hash_of(object, object);
  }
  if (resource != model::kNodeClaimResource) {
    return;
  }
  const std::string name(model::as_text(
      model::member(model::find_path(object, "metadata.labels"), model::kNodePoolLabel)));
  const auto found = std::find_if(objects_.begin(), objects_.end(), [&](const auto& entry) {
    return *entry.first.first == model::kNodePoolResource && entry.first.second.name == name;
  });
  if (found != objects_.end()) {
    stamp_with_hash_of(*found->second, object);
  }
}

base::Result<> DayObjects::take_object(RecordingLine& line, std::size_t number) {
  if (auto good = check_readable(line); !good) {
    return good;
  }
  if (is_kind(line, model::kNodePoolResource)) {
    forget_digest(line.object);
  }
  if (has_begun()) {
    tell(line, number);
  }
  auto& last = objects_[{line.resource, line.key}];
  auto object = std::make_shared<const json::value>(std::move(line.object));
  record(line, last == nullptr ? sandbox::Change::Added : sandbox::Change::Modified, object,
         number);
  last = std::move(object);
  return {};
}

void DayObjects::tell(const RecordingLine& line, std::size_t number) {
  if (is_kind(line, model::kPodResource)) {
    listener_.pod_seen(line);
  } else if (is_kind(line, model::kNodeResource)) {
    take_node(line, number);
  } else if (!is_of_node(line)) {
    take_wish(line, number);
  }
}

void DayObjects::record(const RecordingLine& line, sandbox::Change change,
                        const sandbox::Object& object, std::size_t number) {
  recorded_.take_in(*line.resource, {.change = change,
                                     .object = object,
                                     .previous = nullptr,
                                     .version = number,
                                     .time = line.at});
}

// Those of NodePools are what the autoscaler made of the day; others come and go by themselves.
void DayObjects::take_node(const RecordingLine& line, std::size_t number) {
  if (is_managed(line.object) || !is_ready_node(line.object)) {
    return;
  }
  const auto last = objects_.find({line.resource, line.key});
  if (last != objects_.end() && is_ready_node(*last->second)) {
    return;
  }
  auto node = line.object;
  node.at("metadata").as_object().erase("finalizers");
  add_step(line, DayStep::What::Put, std::move(node), number);
}

void DayObjects::take_wish(const RecordingLine& line, std::size_t number) {
  if (is_made_by_controller(*line.resource, line.object)) {
    return;
  }
  if (is_deleting(line.object) && !stays_until_gone(*line.resource)) {
    remove_wish(line, line.object, number);
    return;
  }
  auto wish = wish_of(*line.resource, line.object);
  auto text = json::serialize(wish);
  auto& last = wishes_[{line.resource, line.key}];
  if (last != text) {
    last = std::move(text);
    add_step(line, DayStep::What::Put, std::move(wish), number);
  }
}

void DayObjects::remove_wish(const RecordingLine& line, const json::value& object,
                             std::size_t number) {
  if (wishes_.erase({line.resource, line.key}) == 0) {
    return;  // known already
  }
  // A Job that is over goes when its time to live has passed, which changes nothing here.
  if (is_kind(line, model::kJobResource) && !text_at(object, "status.completionTime").empty()) {
    return;
  }
  add_step(line, DayStep::What::Remove, object, number);
}

void DayObjects::take_gone(const RecordingLine& line, std::size_t number) {
  const auto found = objects_.find({line.resource, line.key});
  if (found == objects_.end()) {
    return;
  }
  const auto object = found->second;
  objects_.erase(found);
  record(line, sandbox::Change::Deleted, object, number);
  if (!has_begun()) {
    return;
  }
  if (is_kind(line, model::kPodResource)) {
    listener_.pod_gone(line);
  } else if (!is_kind(line, model::kNodeResource)) {
    remove_wish(line, *object, number);
  } else if (!is_managed(*object)) {
    add_step(line, DayStep::What::Remove, *object, number);
  }
}

void DayObjects::add_step(const RecordingLine& line, DayStep::What what, json::value object,
                          std::size_t number) {
  listener_.asked({.at = line.at,
                   .line = number,
                   .what = what,
                   .object = {.resource = line.resource, .object = std::move(object)}});
}

}  // namespace millwright::app
