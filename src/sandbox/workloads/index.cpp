#include "sandbox/workloads/index.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

namespace millwright::sandbox {

namespace {

template <class Key, class Value>
void unlink(std::map<Key, std::set<Value>, std::less<>>& map, std::string_view key,
            const Value& value) {
  const auto found = map.find(key);
  if (found != map.end()) {
    found->second.erase(value);
    if (found->second.empty()) {
      map.erase(found);
    }
  }
}

std::string_view controller_uid(const Json& object) {
  for (const auto& owner : items(object, "metadata.ownerReferences")) {
    if (boolean(owner, "controller")) {
      return text(owner, "uid");
    }
  }
  return {};
}

}  // namespace

bool is_pod_ready(const model::Pod& pod) {
  return model::is_true(pod.status.conditions, "Ready");
}

bool is_pod_active(const model::Pod& pod) {
  return !model::is_terminal(pod) && !pod.meta.is_deleting();
}

ClusterIndex::ClusterIndex(Store& store) {
  for (const auto& info : all_infos()) {
    for (const auto& [key, object] : store.objects(info)) {
      take_in(info, Event{Change::Added, object, nullptr, version_of(*object), {}});
    }
  }
  observer_ =
      store.observe([this](const ResourceInfo& info, const Event& event) { take_in(info, event); });
}

const PodEntry* ClusterIndex::pod(const model::ObjectKey& key) const {
  const auto found = pods_.find(key);
  return found == pods_.end() ? nullptr : &found->second;
}

std::vector<const PodEntry*> ClusterIndex::pods_of(std::string_view owner_uid) const {
  std::vector<const PodEntry*> found;
  if (const auto keys = pods_by_controller_.find(owner_uid); keys != pods_by_controller_.end()) {
    for (const auto& key : keys->second) {
      found.push_back(&pods_.at(key));
    }
  }
  return found;
}

std::vector<const PodEntry*> ClusterIndex::pods_on(std::string_view node) const {
  std::vector<const PodEntry*> found;
  if (const auto keys = pods_by_node_.find(node); keys != pods_by_node_.end()) {
    for (const auto& key : keys->second) {
      found.push_back(&pods_.at(key));
    }
  }
  return found;
}

std::vector<ClusterIndex::Reference> ClusterIndex::dependents_of(std::string_view uid) const {
  const auto found = dependents_.find(uid);
  return found == dependents_.end()
             ? std::vector<Reference>{}
             : std::vector<Reference>(found->second.begin(), found->second.end());
}

std::optional<ClusterIndex::Reference> ClusterIndex::find(std::string_view uid) const {
  const auto found = objects_.find(uid);
  return found == objects_.end() ? std::nullopt : std::optional(found->second);
}

void ClusterIndex::link(const ResourceInfo& info, const Json& object, bool add) {
  const Reference reference{info.index, key_of(object)};
  for (const auto& owner : items(object, "metadata.ownerReferences")) {
    const auto uid = text(owner, "uid");
    if (add) {
      dependents_[std::string(uid)].insert(reference);
    } else {
      unlink(dependents_, uid, reference);
    }
  }
}

void ClusterIndex::take_in_pod(const Event& event) {
  const auto key = key_of(*event.object);
  if (const auto old = pods_.find(key); old != pods_.end()) {
    unlink(pods_by_controller_, controller_uid(*old->second.object), key);
    unlink(pods_by_node_, old->second.pod->spec.node_name, key);
    pods_.erase(old);
  }
  if (event.change == Change::Deleted) {
    return;
  }
  auto decoded = model::decode<model::Pod>(*event.object);
  if (!decoded) {
    return;  // validation lets no such pod in
  }
  auto pod = std::make_shared<const model::Pod>(*std::move(decoded));
  if (const auto uid = controller_uid(*event.object); !uid.empty()) {
    pods_by_controller_[std::string(uid)].insert(key);
  }
  if (!pod->spec.node_name.empty()) {
    pods_by_node_[pod->spec.node_name].insert(key);
  }
  pods_.emplace(key, PodEntry{event.object, std::move(pod)});
}

void ClusterIndex::take_in(const ResourceInfo& info, const Event& event) {
  if (event.previous != nullptr) {
    link(info, *event.previous, false);
  }
  const auto uid = std::string(text(*event.object, "metadata.uid"));
  if (event.change == Change::Deleted) {
    objects_.erase(uid);
  } else {
    objects_.insert_or_assign(uid, Reference{info.index, key_of(*event.object)});
    link(info, *event.object, true);
  }
  if (info.resource.kind == "Pod") {
    take_in_pod(event);
  } else if (info.resource.kind == "Node") {
    const auto name = std::string(text(*event.object, "metadata.name"));
    nodes_.erase(name);
    if (event.change != Change::Deleted) {
      if (auto decoded = model::decode<model::Node>(*event.object)) {
        nodes_[name] = std::make_shared<const model::Node>(*std::move(decoded));
      }
    }
  }
  for (const auto& listener : listeners_) {
    listener(info, event);
  }
}

}  // namespace millwright::sandbox
