#include "controllers/nodeclaim/lifecycle/initialization.hpp"

#include <algorithm>

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

}  // namespace

bool set_initialization_obstacle(model::ConditionSet& set, const model::Node& node,
                                 const model::NodeClaim& claim) {
  const Obstacle found = obstacle(node, claim);
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
    obstructed = set_initialization_obstacle(set, *record->node, *claim);
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
