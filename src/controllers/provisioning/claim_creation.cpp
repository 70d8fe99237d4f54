// From a planned claim to a NodeClaim in the API server, with its holds.

#include "millwright/controllers/provisioning/holds.hpp"
#include "millwright/controllers/provisioning/overlays.hpp"
#include "millwright/controllers/provisioning/provisioning.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

namespace millwright::controllers {
namespace {

model::NodeClaim claim_object(const scheduling::PlannedClaim& planned, const model::NodePool& pool,
                              const std::vector<scheduling::Hold>& holds) {
  model::NodeClaim claim = scheduling::to_node_claim(planned, pool);
  claim.meta.finalizers = {std::string(model::kTerminationFinalizer)};
  claim.meta.annotations.insert_or_assign(std::string(model::kNodePoolHashAnnotation),
                                          model::nodepool_hash(pool.template_));
  claim.meta.annotations.insert_or_assign(std::string(model::kNodePoolHashVersionAnnotation),
                                          std::string(model::kNodePoolHashVersion));
  if (!holds.empty()) {
    claim.meta.annotations.insert_or_assign(std::string(model::kHoldsAnnotation),
                                            cluster::encode_holds(holds));
  }
  return claim;
}

// Holds begin before the API server is asked, so that kube-scheduler binds none of the pods
// elsewhere while the claim is being written. Pods that it was let through for earlier are not
// among them.
std::string hold_for_planned(Services& services, std::vector<scheduling::Hold> holds) {
  if (holds.empty()) {
    return {};
  }
  const std::string target = holds.front().pod_uid;
  for (auto& hold : holds) {
    hold.target = target;
    hold.target_is = scheduling::HoldTarget::PlannedClaim;
  }
  services.ledger.hold_all(std::move(holds));
  return target;
}

// Marks claims whose prices or capacity come from a NodeOverlay rather than from the cloud.
void annotate_overlays(const Services& services, scheduling::PlannedClaim& planned) {
  if (services.overlays == nullptr) {
    return;
  }
  for (const auto& type : planned.instance_types) {
    const auto* change = services.overlays->change(planned.node_pool, type);
    if (change != nullptr && !change->prices.empty()) {
      planned.annotations.insert_or_assign(std::string(model::kPriceOverlayAnnotation), "true");
    }
    if (change != nullptr && !change->capacity.empty()) {
      planned.annotations.insert_or_assign(std::string(model::kCapacityOverlayAnnotation), "true");
    }
  }
}

}  // namespace

base::Task<base::Result<std::shared_ptr<const model::NodeClaim>>> create_claim(Services& services,
                                                                               NewClaim wanted) {
  scheduling::PlannedClaim& planned = wanted.planned;
  // Room is kept at least until the node is Ready; initialization then sets the real deadline.
  const base::TimePoint deadline =
      services.loop.now() + services.options.launch_timeout + services.options.registration_timeout;
  auto holds = make_holds(wanted.pods, {}, deadline);
  annotate_overlays(services, planned);
  boost::json::value object = model::encode(claim_object(planned, *wanted.pool, holds));
  const std::string awaited = hold_for_planned(services, holds);
  auto reply = co_await services.client.create(model::kNodeClaimResource, std::move(object));
  if (!reply) {
    // Should the claim exist after all, its annotation restores the holds.
    services.ledger.lapse(awaited);
  }
  MW_CO_TRY(created, std::move(reply));
  MW_CO_TRY(decoded, model::decode<model::NodeClaim>(created));
  auto claim = std::make_shared<const model::NodeClaim>(std::move(decoded));
  // Pods that were bound or deleted meanwhile need no hold.
  const auto ledger = services.ledger.view();
  std::erase_if(holds, [&](const auto& hold) { return ledger->find(hold.id()) == nullptr; });
  for (auto& hold : holds) {
    hold.target = claim->meta.name;
  }
  services.ledger.hold_all(std::move(holds));
  services.state.assume(claim);
  const bool relaxed = claim->meta.annotation(model::kMinValuesRelaxedAnnotation) == "true";
  services.metrics.count("karpenter_nodeclaims_created_total", "NodeClaims created, by reason.",
                         {{"reason", wanted.reason},
                          {"nodepool", planned.node_pool},
                          {"min_values_relaxed", relaxed ? "true" : "false"}});
  services.log.info("created nodeclaim",
                    {{"NodeClaim", claim->meta.name},
                     {"NodePool", planned.node_pool},
                     {"pods", std::to_string(wanted.pods.size())},
                     {"requests", model::to_string(planned.requests)},
                     {"instance-types",
                      planned.instance_types.empty()
                          ? std::string()
                          : planned.instance_types.front() + " and " +
                                std::to_string(planned.instance_types.size() - 1) + " other(s)"}});
  co_return claim;
}

}  // namespace millwright::controllers
