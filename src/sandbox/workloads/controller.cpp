#include "sandbox/workloads/controller.hpp"

#include <boost/json.hpp>

namespace millwright::sandbox {

bool edit(const ClusterContext& context, const model::Resource& resource,
          const model::ObjectKey& key, Part part, const std::function<void(Json&)>& change) {
  const auto& info = info_of(resource);
  const auto current = context.store().find(info, key);
  if (current == nullptr) {
    return false;
  }
  Json copy = *current;
  change(copy);
  const auto stored = context.registry.update(info, current, std::move(copy), part);
  if (!stored) {
    context.log.warn("a sandbox controller's write was refused",
                     {{"object", key.to_string()}, {"error", stored.error().message}});
    return false;
  }
  return true;
}

Object add(const ClusterContext& context, const model::Resource& resource, Json object) {
  const auto ns = std::string(text(object, "metadata.namespace"));
  auto stored = context.registry.create(info_of(resource), std::move(object), ns);
  if (!stored) {
    if (stored.error().reason != "AlreadyExists") {
      context.log.warn("a sandbox controller's create was refused",
                       {{"kind", std::string(resource.kind)}, {"error", stored.error().message}});
    }
    return nullptr;
  }
  return *stored;
}

void remove(const ClusterContext& context, const model::Resource& resource,
            const model::ObjectKey& key, DeleteRequest request) {
  // Gone already is as good.
  static_cast<void>(context.registry.remove(info_of(resource), key, request));
}

Controller::~Controller() {
  for (const auto& [key, queued] : queued_) {
    context_.loop.cancel(queued.timer);
  }
}

void Controller::enqueue_after(const model::ObjectKey& key, base::Duration delay) {
  const auto due = context_.loop.now() + delay;
  if (const auto found = queued_.find(key); found != queued_.end()) {
    if (found->second.due <= due) {
      return;
    }
    context_.loop.cancel(found->second.timer);
    queued_.erase(found);
  }
  const auto timer = context_.loop.at(due, [this, key] {
    queued_.erase(key);
    reconcile(key);
  });
  queued_.emplace(key, Queued{due, timer});
}

void Controller::enqueue_owner(const Json& object, std::string_view kind) {
  for (const auto& owner : items(object, "metadata.ownerReferences")) {
    if (boolean(owner, "controller") && text(owner, "kind") == kind) {
      enqueue({std::string(text(object, "metadata.namespace")), std::string(text(owner, "name"))});
    }
  }
}

}  // namespace millwright::sandbox
