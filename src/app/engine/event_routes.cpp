#include "app/engine/event_routes.hpp"

#include "millwright/model/device_pools.hpp"

#include <utility>

namespace millwright::app {

void EventRoutes::object_changed(cluster::Kind kind, const model::ObjectKey& key) {
  using cluster::Kind;
  switch (kind) {
    case Kind::Pod:
    case Kind::Workload:
      controllers_.reservations.notify();
      break;
    case Kind::Node:
      node_changed(key.name);
      break;
    case Kind::NodeClaim:
      node_claim_changed(key.name);
      break;
    case Kind::NodePool:
      node_pool_changed(key.name);
      break;
    case Kind::NodeClass:
      node_class_changed(key.name);
      break;
    case Kind::NodeOverlay:
      controllers_.node_overlays.enqueue();
      break;
    case Kind::ResourceSlice:
      slice_changed(key.name);
      break;
    case Kind::CapacityBuffer:
      controllers_.buffers.enqueue(key);
      break;
    default:
      break;
  }
  // Any change may let a pod be placed, or a node be removed.
  controllers_.buffers.notify();
  wake_planners();
}

void EventRoutes::catalog_changed() {
  controllers_.node_overlays.enqueue();
  wake_planners();
  on_offers_changed_();
}

void EventRoutes::wake_all() {
  const auto snapshot = services_.state.snapshot();
  for (const auto& record : snapshot->nodes) {
    if (record->claim) {
      joined_changed({.claim = record->claim, .node = record->node});
    } else if (record->node) {
      node_changed(record->node->meta.name);  // it may be draining, its claim taken by force
    }
  }
  for (const auto& pool : snapshot->node_pools) {
    controllers_.node_pools.enqueue(pool->meta.name);
  }
  for (const auto& node_class : snapshot->node_classes) {
    controllers_.node_classes.enqueue(model::reference_to(*node_class));
  }
  wake_static_pools();
  controllers_.buffers.enqueue_all();
  controllers_.reservations.notify();
  controllers_.node_overlays.enqueue();
  wake_planners();
}

EventRoutes::Wanted EventRoutes::wanted_of(const model::ObjectMeta& meta) {
  return {.uid = meta.uid,
          .generation = meta.generation,
          .annotations = meta.annotations,
          .finalizers = meta.finalizers,
          .deleting = meta.is_deleting()};
}

// The claim is there.
void EventRoutes::joined_changed(const cluster::State::Joined& joined) {
  controllers_.lifecycle.enqueue(joined.claim->meta.name);
  wake_others_of(joined);
}

void EventRoutes::wake_others_of(const cluster::State::Joined& joined) {
  controllers_.claim_status.enqueue(joined.claim->meta.name);
  if (joined.node) {
    controllers_.termination.enqueue(joined.node->meta.name);
    controllers_.node_repair.enqueue(joined.node->meta.name);
    claims_of_nodes_[joined.node->meta.name] = joined.claim->meta.name;
  }
  controllers_.node_pools.enqueue(joined.claim->meta.label(model::kNodePoolLabel));
}

void EventRoutes::node_changed(const std::string& name) {
  controllers_.termination.enqueue(name);
  controllers_.node_repair.enqueue(name);
  const auto joined = services_.state.joined_by_node(name);
  const std::string now = joined.claim ? joined.claim->meta.name : std::string();
  const std::string before = std::exchange(claims_of_nodes_[name], now);
  if (joined.claim) {
    joined_changed(joined);
  } else {
    claims_of_nodes_.erase(name);
  }
  // The claim that has lost the node may have another one of its machine now, or none.
  if (before != now) {
    if (const auto left = services_.state.joined_by_claim(before); left.claim) {
      joined_changed(left);
    }
  }
  controllers_.reservations.notify();
}

// A launch that fails says so in the claim's status. That must not end the pause after the failure:
// the cloud would be asked without any.
void EventRoutes::node_claim_changed(const std::string& name) {
  const auto joined = services_.state.joined_by_claim(name);
  if (joined.claim) {
    const Wanted now = wanted_of(joined.claim->meta);
    if (std::exchange(claims_[name], now) == now) {
      controllers_.lifecycle.nudge(name);
    } else {
      controllers_.lifecycle.enqueue(name);
    }
    wake_others_of(joined);
  } else {
    claims_.erase(name);
    controllers_.lifecycle.enqueue(name);
    controllers_.claim_status.enqueue(name);
    controllers_.claim_status.forget(name);
  }
  wake_static_pools();
}

void EventRoutes::node_pool_changed(const std::string& name) {
  controllers_.node_pools.enqueue(name);
  const auto found = services_.state.find_pool(name);
  if (!found) {
    pools_.erase(name);
    static_pools_.erase(name);
    edited_pools_.insert(name);
    controllers_.node_overlays.enqueue();
    on_offers_changed_();
    return;
  }
  if (!found->replicas) {
    static_pools_.erase(name);
  } else if (services_.options.static_capacity) {
    static_pools_.insert(name);
    controllers_.static_capacity.enqueue(name);
  }
  const Wanted now = wanted_of(found->meta);
  const Wanted before = std::exchange(pools_[name], now);
  if (before == now) {
    return;  // only its status changed
  }
  edited_pools_.insert(name);
  if (before.generation != now.generation) {
    controllers_.node_overlays.enqueue();
    on_offers_changed_();
  }
}

void EventRoutes::after_changes() {
  if (!edited_pools_.empty()) {
    wake_claims_of(std::exchange(edited_pools_, {}));
  }
}

// The event tells the name alone, so every class of that name is looked at. The status of a class
// is written by its controller: were that woken by it, a class whose every answer reads differently
// would be resolved without a pause.
void EventRoutes::node_class_changed(const std::string& name) {
  const auto snapshot = services_.state.snapshot();
  std::set<model::NodeClassReference> changed;
  for (const auto& node_class : snapshot->node_classes) {
    if (node_class->meta.name != name) {
      continue;
    }
    auto reference = model::reference_to(*node_class);
    const SeenClass now{.wanted = wanted_of(node_class->meta), .status = node_class->status};
    const SeenClass before = std::exchange(node_classes_[reference], now);
    if (before.wanted != now.wanted) {
      controllers_.node_classes.enqueue(reference);
    }
    if (before != now) {
      changed.insert(std::move(reference));
    }
  }
  for (const auto& pool : snapshot->node_pools) {
    if (pool->template_.node_class_ref.name == name) {
      controllers_.node_pools.enqueue(pool->meta.name);
      if (changed.contains(pool->template_.node_class_ref)) {
        edited_pools_.insert(pool->meta.name);
      }
    }
  }
  on_offers_changed_();
}

// A claim may wait for its node's devices. A slice that is gone names no node any more.
void EventRoutes::slice_changed(const std::string& name) {
  const auto slice = services_.state.find_slice(name);
  const std::string now = slice == nullptr ? std::string() : model::node_of(*slice);
  const std::string before = std::exchange(nodes_of_slices_[name], now);
  if (now.empty()) {
    nodes_of_slices_.erase(name);
  }
  for (const std::string& node : {before, now}) {
    if (const auto joined = services_.state.joined_by_node(node); joined.claim) {
      controllers_.lifecycle.enqueue(joined.claim->meta.name);
    }
  }
}

void EventRoutes::wake_claims_of(const std::set<std::string, std::less<>>& pools) {
  for (const auto& record : services_.state.snapshot()->nodes) {
    if (record->claim && pools.contains(record->node_pool())) {
      controllers_.claim_status.enqueue(record->claim_name());
    }
  }
}

void EventRoutes::wake_static_pools() {
  for (const std::string& pool : static_pools_) {
    controllers_.static_capacity.enqueue(pool);
  }
}

void EventRoutes::wake_planners() {
  controllers_.provisioner.notify();
  controllers_.disruption.notify();
}

}  // namespace millwright::app
