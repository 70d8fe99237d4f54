// From a planned claim to a NodeClaim in the API server, with its reservations.

#include "millwright/controllers/provisioning/overlays.hpp"
#include "millwright/controllers/provisioning/provisioning.hpp"
#include "millwright/controllers/provisioning/reservations.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <set>
#include <utility>

namespace millwright::controllers {
namespace {

constexpr std::size_t kSuffixLength = 5;  // as the API server's generateName

model::NodeClaim claim_object(const scheduling::PlannedClaim& planned, const model::NodePool& pool,
                              const std::vector<scheduling::Reservation>& reservations) {
  model::NodeClaim claim = scheduling::to_node_claim(planned, pool);
  claim.meta.finalizers = {std::string(model::kTerminationFinalizer)};
  claim.meta.annotations.insert_or_assign(std::string(model::kNodePoolHashAnnotation),
                                          model::nodepool_hash(pool.template_));
  claim.meta.annotations.insert_or_assign(std::string(model::kNodePoolHashVersionAnnotation),
                                          std::string(model::kNodePoolHashVersion));
  if (!reservations.empty()) {
    claim.meta.annotations.insert_or_assign(std::string(model::kReservationsAnnotation),
                                            cluster::encode_reservations(reservations));
  }
  return claim;
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

using CreatedClaim = std::shared_ptr<const model::NodeClaim>;

class InCreation {
 public:
  InCreation(const Services& services, std::string name)
      : names_(services.claims_in_creation), name_(std::move(name)) {
    names_->insert(name_);
  }
  ~InCreation() { names_->erase(name_); }
  InCreation(const InCreation&) = delete;
  InCreation& operator=(const InCreation&) = delete;

 private:
  std::shared_ptr<std::set<std::string, std::less<>>> names_;
  std::string name_;
};

// Another of the name was made at another time, and reservations say until when they are kept.
bool is_that_claim(const model::NodeClaim& found, const model::NodeClaim& wanted) {
  const auto& reservations = wanted.meta.annotation(model::kReservationsAnnotation);
  return !reservations.empty() &&
         found.meta.annotation(model::kReservationsAnnotation) == reservations;
}

// The reply was lost and not the claim, if it is there.
base::Task<base::Result<CreatedClaim>> find_created(Services& services, model::NodeClaim wanted,
                                                    base::Error error) {
  if (const auto record = services.state.find_claim(wanted.meta.name);
      record && is_that_claim(*record->claim, wanted)) {
    co_return record->claim;
  }
  if (error.kind == base::ErrorKind::Invalid || error.kind == base::ErrorKind::Denied) {
    co_return tl::unexpected(std::move(error));
  }
  auto object = co_await services.client.get(model::kNodeClaimResource, model::key_of(wanted.meta));
  auto found = object ? model::decode<model::NodeClaim>(*object)
                      : base::Result<model::NodeClaim>(tl::unexpected(object.error()));
  if (!found || !is_that_claim(*found, wanted)) {
    co_return tl::unexpected(std::move(error));
  }
  co_return std::make_shared<const model::NodeClaim>(*std::move(found));
}

base::Task<base::Result<CreatedClaim>> write_claim(Services& services, model::NodeClaim wanted) {
  auto reply = co_await services.client.create(model::kNodeClaimResource, model::encode(wanted));
  if (!reply) {
    co_return co_await find_created(services, std::move(wanted), std::move(reply).error());
  }
  MW_CO_TRY(decoded, model::decode<model::NodeClaim>(*reply));
  co_return std::make_shared<const model::NodeClaim>(std::move(decoded));
}

}  // namespace

base::Task<base::Result<std::shared_ptr<const model::NodeClaim>>> create_claim(Services& services,
                                                                               NewClaim wanted) {
  scheduling::PlannedClaim& planned = wanted.planned;
  // Room is kept at least until the node is Ready; initialization then sets the real deadline.
  const base::TimePoint until =
      services.loop.now() + services.options.launch_timeout + services.options.registration_timeout;
  const std::string name = planned.node_pool + "-" + services.claim_names->suffix(kSuffixLength);
  const auto reservations = reservations_for(wanted.pods, name, until);
  annotate_overlays(services, planned);
  auto wanted_object = claim_object(planned, *wanted.pool, reservations);
  wanted_object.meta.name = name;
  // Before the API server is asked, so that kube-scheduler binds none of the pods elsewhere while
  // the claim is being written. Pods that it was let through for earlier are not among them.
  const InCreation in_creation(services, name);
  services.ledger.reserve_all(reservations);
  auto written = co_await write_claim(services, std::move(wanted_object));
  if (!written) {
    // Should the claim exist after all, its annotation restores the reservations.
    services.ledger.forget_target(name);
  }
  MW_CO_TRY(claim, std::move(written));
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
