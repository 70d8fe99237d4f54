// From a planned claim to a NodeClaim in the API server, with its reservations.

#include "controllers/decisions/decision_notes.hpp"
#include "millwright/base/mutant.hpp"
#include "millwright/controllers/provisioning/overlays.hpp"
#include "millwright/controllers/provisioning/provisioning.hpp"
#include "millwright/controllers/provisioning/reservations.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <utility>

namespace millwright::controllers {
namespace {

constexpr std::size_t kSuffixLength = 5;  // as the API server's generateName
// How often, and for how long, the API server is asked for one claim while its answers are lost.
constexpr int kLeastAsked = 2;
constexpr int kMostAsked = 4;
constexpr auto kAskFor = std::chrono::seconds(10);
constexpr auto kAskPause = std::chrono::milliseconds(500);

model::NodeClaim claim_object(const scheduling::PlannedClaim& planned, const model::NodePool& pool,
                              const std::vector<scheduling::Reservation>& reservations) {
  model::NodeClaim claim = scheduling::to_node_claim(planned, pool);
  claim.meta.finalizers = {std::string(model::kTerminationFinalizer)};
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

// As long as the API server is being asked.
class InCreation {
 public:
  InCreation(const Services& services, ClaimsInCreation::Purchase purchase)
      : claims_(services.claims_in_creation), state_(services.state), name_(purchase.name) {
    claims_->begin(std::move(purchase));
    state_.expect_claim(name_);
  }
  ~InCreation() {
    claims_->fail(name_);
    state_.stop_expecting(name_);
  }
  InCreation(const InCreation&) = delete;
  InCreation& operator=(const InCreation&) = delete;

  void succeeded(base::TimePoint now) { claims_->succeed(name_, now); }

 private:
  std::shared_ptr<ClaimsInCreation> claims_;
  cluster::State& state_;
  std::string name_;
};

// A request of ours may have made it. Names are drawn by chance, so one that was there before is
// another's: reservations say until when they are kept, and nobody else's do to the microsecond.
bool is_that_claim(const model::NodeClaim& found, const model::NodeClaim& wanted,
                   bool asked_before) {
  const auto& reservations = wanted.meta.annotation(model::kReservationsAnnotation);
  const auto same = [&](std::string_view annotation) {
    return found.meta.annotation(annotation) == wanted.meta.annotation(annotation);
  };
  return reservations.empty() ? asked_before && same(model::kNodePoolHashAnnotation)
                              : same(model::kReservationsAnnotation);
}

// The reply was lost and not the claim, if it is there.
base::Task<base::Result<CreatedClaim>> find_created(Services& services, model::NodeClaim wanted,
                                                    base::Error error, bool asked_before) {
  if (const auto record = services.state.find_claim(wanted.meta.name);
      record && is_that_claim(*record->claim, wanted, asked_before)) {
    co_return record->claim;
  }
  if (error.kind == base::ErrorKind::Invalid || error.kind == base::ErrorKind::Denied) {
    co_return tl::unexpected(std::move(error));
  }
  auto object = co_await services.client.get(model::kNodeClaimResource, model::key_of(wanted.meta));
  auto found = object ? model::decode<model::NodeClaim>(*object)
                      : base::Result<model::NodeClaim>(tl::unexpected(object.error()));
  if (!found || !is_that_claim(*found, wanted, asked_before)) {
    co_return tl::unexpected(std::move(error));
  }
  co_return std::make_shared<const model::NodeClaim>(*std::move(found));
}

// Nobody knows what became of the request; it may even take effect later.
bool leaves_open(const base::Error& error) {
  return error.kind == base::ErrorKind::Timeout || error.kind == base::ErrorKind::Unavailable;
}

// This request did nothing; what became of an earlier one, it does not say. "Exists" may mean that
// one.
bool leaves_as_it_was(const base::Error& error) {
  return error.kind == base::ErrorKind::Exists || error.kind == base::ErrorKind::Throttled ||
         error.kind == base::ErrorKind::Conflict || error.kind == base::ErrorKind::Unauthorized;
}

// A request whose fate is open is repeated under the same name: whichever of them comes first makes
// the claim, and the others find it there. A new plan would buy it under another name.
base::Task<base::Result<CreatedClaim>> write_claim(Services& services, model::NodeClaim wanted) {
  const base::TimePoint enough = services.loop.now() + kAskFor;
  base::Duration pause = kAskPause;
  bool asked_before = false;
  for (int asked = 1;; ++asked) {
    auto reply = co_await services.client.create(model::kNodeClaimResource, model::encode(wanted));
    if (reply) {
      MW_CO_TRY(decoded, model::decode<model::NodeClaim>(*reply));
      co_return std::make_shared<const model::NodeClaim>(std::move(decoded));
    }
    if (base::planted(base::Mutant::NewNameAfterLostReply)) {
      co_return tl::unexpected(std::move(reply).error());
    }
    const bool open =
        leaves_open(reply.error()) || (asked_before && leaves_as_it_was(reply.error()));
    asked_before = asked_before || open;
    auto found = co_await find_created(services, wanted, std::move(reply).error(), asked_before);
    const bool late = asked >= kLeastAsked && services.loop.now() >= enough;
    if (found || !open || late || asked == kMostAsked) {
      co_return found;
    }
    co_await base::sleep(services.loop, pause);
    pause *= 2;
  }
}

}  // namespace

base::Task<base::Result<std::shared_ptr<const model::NodeClaim>>> create_claim(Services& services,
                                                                               NewClaim wanted) {
  scheduling::PlannedClaim& planned = wanted.planned;
  const auto limit = services.claims_in_creation->exceeded_limit(
      planned.node_pool, wanted.trace, wanted.snapshot, planned.limit_left);
  if (limit && !base::planted(base::Mutant::LimitsForgotten)) {
    co_return base::fail(base::ErrorKind::Conflict,
                         "NodePool " + planned.node_pool + ": another decision has bought what " +
                             "was left of spec.limits." + *limit + "; this one is made again");
  }
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
  InCreation in_creation(services, {.name = name,
                                    .node_pool = planned.node_pool,
                                    .decision = wanted.trace,
                                    .charge = planned.limit_charge});
  services.ledger.reserve_all(reservations);
  auto written = co_await write_claim(services, std::move(wanted_object));
  if (!written) {
    // Should the claim exist after all, its annotation restores the reservations.
    services.ledger.forget_target(name);
  }
  MW_CO_TRY(claim, std::move(written));
  services.state.assume(claim);
  in_creation.succeeded(services.loop.now());
  const bool relaxed = claim->meta.annotation(model::kMinValuesRelaxedAnnotation) == "true";
  services.metrics.count("karpenter_nodeclaims_created_total", "NodeClaims created, by reason.",
                         {{"reason", wanted.reason},
                          {"nodepool", planned.node_pool},
                          {"min_values_relaxed", relaxed ? "true" : "false"}});
  note_purchase(services, wanted, *claim);
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
