// Garbage collection: dependents of deleted owners, foreground deletion, the objects of a deleted
// namespace, and pods of deleted nodes.
#include "sandbox/workloads/pods.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::sandbox {

namespace {

constexpr std::string_view kWaitsForDependents = "foregroundDeletion";

bool has_finalizer(const Json& object, std::string_view finalizer) {
  const auto& finalizers = items(object, "metadata.finalizers");
  return std::any_of(finalizers.begin(), finalizers.end(),
                     [&](const Json& f) { return f.is_string() && f.get_string() == finalizer; });
}

// Keys are owner uids: the queue's namespace part carries the uid, its name part is empty.
class GarbageCollector final : public Controller {
 public:
  using Controller::Controller;

  void observe(const ResourceInfo&, const Event& event) override {
    if (event.change == Change::Deleted) {
      enqueue({std::string(text(*event.object, "metadata.uid")), {}});
    }
    if (has_finalizer(*event.object, kWaitsForDependents)) {
      enqueue({std::string(text(*event.object, "metadata.uid")), {}});
    }
    for (const auto& owner : items(*event.object, "metadata.ownerReferences")) {
      const auto uid = text(owner, "uid");
      if (event.change == Change::Deleted || !context_.index.exists(uid)) {
        enqueue({std::string(uid), {}});
      }
    }
  }

 protected:
  void reconcile(const model::ObjectKey& key) override {
    const auto& uid = key.namespace_;
    const auto living = context_.index.find(uid);
    const auto owner = living ? object_at(*living) : nullptr;
    if (living && (owner == nullptr || !has_finalizer(*owner, kWaitsForDependents))) {
      return;
    }
    const auto dependents = context_.index.dependents_of(uid);
    for (const auto& dependent : dependents) {
      const auto object = object_at(dependent);
      if (object == nullptr || find(*object, "metadata.deletionTimestamp") != nullptr) {
        continue;
      }
      const auto& owners = items(*object, "metadata.ownerReferences");
      const bool kept = std::any_of(owners.begin(), owners.end(), [&](const Json& reference) {
        const auto other = text(reference, "uid");
        return other != uid && context_.index.exists(other);
      });
      if (!kept) {
        DeleteRequest request;
        request.propagation_policy = living ? "Foreground" : "Background";
        remove(context_, all_infos()[dependent.first].resource, dependent.second, request);
      }
    }
    if (living && owner != nullptr && context_.index.dependents_of(uid).empty()) {
      edit(context_, all_infos()[living->first].resource, living->second, Part::Main,
           [](Json& json) {
             auto& finalizers = make_array(json, "metadata.finalizers");
             finalizers.erase(std::remove_if(finalizers.begin(), finalizers.end(),
                                             [](const Json& f) {
                                               return f.is_string() &&
                                                      f.get_string() == kWaitsForDependents;
                                             }),
                              finalizers.end());
           });
    }
  }

 private:
  Object object_at(const ClusterIndex::Reference& reference) const {
    return context_.store().find(all_infos()[reference.first], reference.second);
  }
};

class NamespaceController final : public Controller {
 public:
  using Controller::Controller;

  void observe(const ResourceInfo& info, const Event& event) override {
    if (info.resource.kind == "Namespace") {
      enqueue(key_of(*event.object));
    } else if (info.resource.namespaced && event.change == Change::Deleted) {
      enqueue({{}, std::string(text(*event.object, "metadata.namespace"))});
    }
  }

 protected:
  void reconcile(const model::ObjectKey& key) override {
    const auto& namespaces = info_of(model::kNamespaceResource);
    const auto current = context_.store().find(namespaces, key);
    if (current == nullptr || find(*current, "metadata.deletionTimestamp") == nullptr) {
      return;
    }
    bool empty = true;
    for (const auto& info : all_infos()) {
      if (!info.resource.namespaced) {
        continue;
      }
      std::vector<model::ObjectKey> content;
      for (const auto& [object_key, object] : context_.store().objects(info)) {
        if (object_key.namespace_ == key.name) {
          content.push_back(object_key);
        }
      }
      for (const auto& object_key : content) {
        remove(context_, info.resource, object_key);
        empty = empty && context_.store().find(info, object_key) == nullptr;
      }
    }
    if (empty) {
      Json changed = *current;
      make_array(changed, "spec.finalizers").clear();
      static_cast<void>(
          context_.registry.commit_update(namespaces, current, std::move(changed), false));
    }
  }
};

// PodGC: pods bound to a node that does not exist go after a quarantine.
class PodCollector final : public Controller {
 public:
  using Controller::Controller;

  void observe(const ResourceInfo& info, const Event& event) override {
    if (info.resource.kind == "Node" && event.change == Change::Deleted) {
      enqueue_after(key_of(*event.object), kQuarantine);
    } else if (info.resource.kind == "Pod" && event.change != Change::Deleted) {
      const auto node = text(*event.object, "spec.nodeName");
      if (!node.empty() && !context_.index.nodes().contains(node)) {
        enqueue_after({{}, std::string(node)}, kQuarantine);
      }
    }
  }

 protected:
  void reconcile(const model::ObjectKey& key) override {
    if (context_.index.nodes().contains(key.name)) {
      return;
    }
    std::vector<model::ObjectKey> lost;
    for (const auto* entry : context_.index.pods_on(key.name)) {
      lost.push_back(model::key_of(entry->pod->meta));
    }
    for (const auto& pod : lost) {
      DeleteRequest request;
      request.grace_period_seconds = 0;
      remove(context_, model::kPodResource, pod, request);
    }
  }

 private:
  static constexpr base::Duration kQuarantine = std::chrono::seconds(40);
};

}  // namespace

std::unique_ptr<Controller> make_garbage_collector(ClusterContext& context) {
  return std::make_unique<GarbageCollector>(context);
}

std::unique_ptr<Controller> make_namespace_controller(ClusterContext& context) {
  return std::make_unique<NamespaceController>(context);
}

std::unique_ptr<Controller> make_pod_collector(ClusterContext& context) {
  return std::make_unique<PodCollector>(context);
}

}  // namespace millwright::sandbox
