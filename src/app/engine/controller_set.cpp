#include "app/engine/controller_set.hpp"

#include "millwright/controllers/legacy/legacy.hpp"
#include "millwright/controllers/pools/registration_health.hpp"
#include "millwright/controllers/process/cost_watch.hpp"

namespace millwright::app {

ControllerSet::ControllerSet(controllers::Services& all_services)
    : services(all_services),
      reservations(services),
      provisioner(services, reservations),
      lifecycle(services),
      termination(services),
      disruption(services),
      node_pools(services),
      node_classes(services),
      claim_status(services),
      garbage_collection(services),
      node_repair(services),
      node_overlays(services),
      static_capacity(services),
      buffers(services, [this] { provisioner.notify(); }) {
  services.registration_health.on_change(
      [this](const std::string& pool) { node_pools.enqueue(pool); });
  reservations.on_void([this] { provisioner.notify(); });
}

void ControllerSet::spawn_all(base::TaskGroup& group, const std::stop_token& stop) {
  const auto& options = services.options;
  group.spawn(reservations.run(stop));
  group.spawn(provisioner.run(stop));
  group.spawn(lifecycle.run(stop));
  group.spawn(termination.run(stop));
  group.spawn(disruption.run(stop));
  group.spawn(node_pools.run(stop));
  group.spawn(node_classes.run(stop));
  group.spawn(claim_status.run(stop));
  group.spawn(garbage_collection.run(stop));
  if (options.node_repair) {
    group.spawn(node_repair.run(stop));
  }
  if (options.node_overlay) {
    group.spawn(node_overlays.run(stop));
  }
  if (options.capacity_buffer) {
    group.spawn(buffers.run(stop));
  }
  if (options.static_capacity) {
    group.spawn(static_capacity.run(stop));
  }
  group.spawn(controllers::run_cost_watch(services, stop));
  group.spawn(controllers::run_legacy_translation(services, options.legacy, stop));
}

}  // namespace millwright::app
