#include "controllers/nodeclaim/lifecycle/initialization.hpp"

#include "millwright/model/device_pools.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

struct Obstacle {
  std::string reason;  // empty: none
  std::string message;
};

Obstacle obstacle(const model::Node& node, const model::NodeClaim& claim) {
  if (!model::is_ready(node)) {
    return {"NodeNotReady", "Node " + node.meta.name + " is not Ready"};
  }
  for (const auto& taint : node.taints) {
    const bool startup =
        std::any_of(claim.startup_taints.begin(), claim.startup_taints.end(),
                    [&](const auto& t) { return t.key == taint.key && t.effect == taint.effect; });
    if (startup) {
      return {"StartupTaintsExist", "StartupTaint " + taint.to_string() + " still exists"};
    }
    if (model::is_ephemeral_taint(taint)) {
      return {"KnownEphemeralTaintsExist", "Taint " + taint.to_string() + " still exists"};
    }
  }
  for (const auto& [name, wanted] : claim.requests) {
    if (!wanted.is_zero() && model::get(node.allocatable, name).is_zero()) {
      return {"ResourceNotRegistered", "Resource " + name + " was requested but not registered"};
    }
  }
  return {};
}

// The first of the drivers, in the order of the annotation, that has no complete pool on the node.
std::string missing_driver(const scheduling::Snapshot& snapshot, const std::string& node,
                           std::string_view drivers) {
  std::vector<model::ResourceSlicePtr> slices;
  std::copy_if(snapshot.resource_slices.begin(), snapshot.resource_slices.end(),
               std::back_inserter(slices),
               [&](const auto& slice) { return model::node_of(*slice) == node; });
  const auto pools = model::device_pools(slices);
  while (!drivers.empty()) {
    const std::string_view driver = drivers.substr(0, drivers.find(','));
    drivers.remove_prefix(std::min(driver.size() + 1, drivers.size()));
    const bool published = std::any_of(pools.begin(), pools.end(), [&](const auto& pool) {
      return pool.complete && pool.driver == driver;
    });
    if (!driver.empty() && !published) {
      return std::string(driver);
    }
  }
  return {};
}

// Not at once with its node: a driver publishes its devices when its own pod runs there.
Obstacle device_obstacle(Services& services, const model::Node& node,
                         const model::NodeClaim& claim) {
  const std::string& drivers = claim.meta.annotation(model::kRequestedDriversAnnotation);
  if (!services.options.solve.resource_claims || drivers.empty()) {
    return {};
  }
  const std::string driver = missing_driver(*services.state.snapshot(), node.meta.name, drivers);
  if (driver.empty()) {
    return {};
  }
  return {"DRADriverPoolsNotPublished",
          "DRA driver " + driver + " has not published a complete pool of devices"};
}

}  // namespace

bool set_initialization_obstacle(model::ConditionSet& set, Services& services,
                                 const model::Node& node, const model::NodeClaim& claim) {
  Obstacle found = obstacle(node, claim);
  if (found.reason.empty()) {
    found = device_obstacle(services, node, claim);
  }
  if (found.reason.empty()) {
    return false;
  }
  set.set_unknown(model::kInitialized, found.reason, found.message);
  return true;
}

ClaimReply initialize_node(Services& services, ClaimPtr claim) {
  if (!model::is_true(claim->conditions, model::kRegistered) ||
      !is_undecided(claim, model::kInitialized)) {
    co_return claim;
  }
  const auto record = services.state.find_claim(claim->meta.name);
  if (!record || !record->node) {
    co_return co_await edit_conditions(services, claim, [](model::ConditionSet& set) {
      set.set_unknown(model::kInitialized, "NodeNotFound", "The Node is gone");
    });
  }
  bool obstructed = false;
  const auto edit = [&](model::ConditionSet& set) {
    obstructed = set_initialization_obstacle(set, services, *record->node, *claim);
  };
  MW_CO_TRY(told, co_await edit_conditions(services, claim, edit));
  if (obstructed) {
    co_return told;
  }
  json::object patch{{"metadata", {{"labels", {{model::kInitializedLabel, "true"}}}}}};
  MW_CO_TRY(node, co_await patch_node(services, record->node, std::move(patch)));
  services.ledger.set_end(node->meta.name,
                          services.loop.now() + services.options.reserve_after_ready);
  services.log.info("initialized nodeclaim",
                    {{"NodeClaim", claim->meta.name}, {"Node", node->meta.name}});
  co_return co_await edit_conditions(
      services, claim, [](model::ConditionSet& set) { set.set_true(model::kInitialized); });
}

}  // namespace millwright::controllers
