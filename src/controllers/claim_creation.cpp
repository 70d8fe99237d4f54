// From a planned claim to a durable NodeClaim with its holds.

#include "millwright/controllers/holds.hpp"
#include "millwright/controllers/overlays.hpp"
#include "millwright/controllers/provisioning.hpp"
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

// From before the API server is asked: a pod that kube-scheduler tries while the claim is being
// written is not bound elsewhere. Whoever was let through earlier is not among the planned pods.
std::string hold_for_planned(Services& services, std::vector<scheduling::Hold> holds) {
  if (holds.empty()) {
    return {};
  }
  const std::string target = std::string(cluster::kPlannedTarget) + holds.front().pod_uid;
  for (auto& hold : holds) {
    hold.target = target;
  }
  services.ledger.hold_all(std::move(holds));
  return target;
}

// Says on the claim that what it was chosen for is not what the cloud tells.
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

base::Task<base::Result<std::shared_ptr<const model::NodeClaim>>> create_planned_claim(
    Services& services, scheduling::PlannedClaim planned,
    std::shared_ptr<const model::NodePool> pool, std::vector<scheduling::PodPtr> pods,
    std::string reason) {
  // Room is kept at least until the node is Ready; initialization then sets the real deadline.
  const base::TimePoint deadline =
      services.loop.now() + services.options.launch_timeout + services.options.registration_timeout;
  auto holds = make_holds(pods, {}, deadline);
  annotate_overlays(services, planned);
  boost::json::value object = model::encode(claim_object(planned, *pool, holds));
  const std::string awaited = hold_for_planned(services, holds);
  auto reply = co_await services.client.create(model::kNodeClaimResource, std::move(object));
  if (!reply) {
    // If the claim is there after all, it says itself what it keeps.
    services.ledger.lapse(awaited);
  }
  MW_CO_TRY(created, std::move(reply));
  MW_CO_TRY(decoded, model::decode<model::NodeClaim>(created));
  auto claim = std::make_shared<const model::NodeClaim>(std::move(decoded));
  // Who was bound or deleted meanwhile needs no room any more.
  const auto ledger = services.ledger.view();
  std::erase_if(holds, [&](const auto& hold) { return ledger->hold_of(hold.pod_uid) == nullptr; });
  for (auto& hold : holds) {
    hold.target = claim->meta.name;
  }
  services.ledger.hold_all(std::move(holds));
  services.state.assume(claim);
  const bool relaxed = claim->meta.annotation(model::kMinValuesRelaxedAnnotation) == "true";
  services.metrics.count("karpenter_nodeclaims_created_total", "NodeClaims created, by reason.",
                         {{"reason", reason},
                          {"nodepool", planned.node_pool},
                          {"min_values_relaxed", relaxed ? "true" : "false"}});
  services.log.info("created nodeclaim",
                    {{"NodeClaim", claim->meta.name},
                     {"NodePool", planned.node_pool},
                     {"pods", std::to_string(pods.size())},
                     {"requests", model::to_string(planned.requests)},
                     {"instance-types",
                      planned.instance_types.empty()
                          ? std::string()
                          : planned.instance_types.front() + " and " +
                                std::to_string(planned.instance_types.size() - 1) + " other(s)"}});
  co_return claim;
}

}  // namespace millwright::controllers
