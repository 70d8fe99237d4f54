// The controllers, in one list: each reconciles one concern and writes to the API server or to a
// cloud. Only the leader runs them.
#pragma once

#include "millwright/controllers/buffers/buffers.hpp"
#include "millwright/controllers/disruption/disruption.hpp"
#include "millwright/controllers/nodeclaim/claim_status.hpp"
#include "millwright/controllers/nodeclaim/garbage_collection.hpp"
#include "millwright/controllers/nodeclaim/lifecycle.hpp"
#include "millwright/controllers/nodeclaim/node_repair.hpp"
#include "millwright/controllers/pools/nodeclass.hpp"
#include "millwright/controllers/pools/nodepool.hpp"
#include "millwright/controllers/pools/static_capacity.hpp"
#include "millwright/controllers/provisioning/overlays.hpp"
#include "millwright/controllers/provisioning/provisioning.hpp"
#include "millwright/controllers/provisioning/reservations.hpp"
#include "millwright/controllers/termination/termination.hpp"

#include <stop_token>

namespace millwright::app {

struct ControllerSet {
  // `services` outlives the set.
  explicit ControllerSet(controllers::Services& services);

  // Spawns each one whose feature is switched on into `group`.
  void spawn_all(base::TaskGroup& group, const std::stop_token& stop);

  controllers::Services& services;
  controllers::Reservations reservations;
  controllers::Provisioner provisioner;
  controllers::Lifecycle lifecycle;
  controllers::Termination termination;
  controllers::Disruption disruption;
  controllers::NodePools node_pools;
  controllers::NodeClasses node_classes;
  controllers::ClaimStatus claim_status;
  controllers::GarbageCollection garbage_collection;
  controllers::NodeRepair node_repair;
  controllers::NodeOverlays node_overlays;
  controllers::StaticCapacity static_capacity;
  controllers::Buffers buffers;
};

}  // namespace millwright::app
