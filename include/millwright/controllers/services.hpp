// What every controller is given: the loop, the API, the cluster state, the clouds. Plain
// references to things that outlive all controllers. Loop thread only.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/metrics.hpp"
#include "millwright/base/random.hpp"
#include "millwright/base/task.hpp"
#include "millwright/cloud/provider.hpp"
#include "millwright/cluster/ledger.hpp"
#include "millwright/cluster/state.hpp"
#include "millwright/controllers/provisioning/claims_in_creation.hpp"
#include "millwright/controllers/reconciler.hpp"
#include "millwright/disruption/decide.hpp"
#include "millwright/kube/client.hpp"
#include "millwright/kube/events.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

namespace millwright::telemetry {
class Chronicle;
class DecisionLog;
}  // namespace millwright::telemetry

namespace millwright::controllers {

class BufferRoom;
class OverlayCache;
class RegistrationHealth;

// How legacy AWS objects are translated (legacy.hpp).
struct LegacySettings {
  // For templates without instanceProfile: Karpenter took these from its global settings.
  std::string default_instance_profile;
  std::string node_role = "KarpenterNodeRole";
  // AL2 has no image from Kubernetes 1.33 on; 0: not known. The controller asks the API server.
  int kubernetes_minor = 0;
};

// Behaviour that flags may change; the defaults are Karpenter's.
struct Options {
  scheduling::SolveOptions solve;
  // Feature gates, by Karpenter's names; all of them are off unless asked for.
  bool spot_to_spot = false;
  bool node_overlay = false;
  bool static_capacity = false;
  bool capacity_buffer = false;
  bool node_repair = false;
  // A kube-scheduler calls the extender, so that pods may be refused and have to be woken.
  bool extender_called = true;
  base::Duration launch_timeout = std::chrono::minutes(5);
  base::Duration registration_timeout = std::chrono::minutes(15);
  base::Duration garbage_collection_period = std::chrono::minutes(2);
  base::Duration min_drain_time = std::chrono::seconds(5);
  // Pods that arrive within so long of each other are planned together; never longer than the
  // second after the first. Much shorter than Karpenter's 1 s and 10 s: pods that kube-scheduler
  // has not tried yet are planned along with those it could not place.
  base::Duration batch_idle = std::chrono::milliseconds(25);
  base::Duration batch_max = std::chrono::milliseconds(80);
  // When planned claims that have room for more pods are created: once no more have come for so
  // long, or so long after the first of them was planned. They decide money, never correctness.
  base::Duration draft_idle = std::chrono::milliseconds(60);
  base::Duration draft_max = std::chrono::seconds(1);
  // How long room stays reserved once the node is Ready.
  base::Duration reserve_after_ready = std::chrono::seconds(30);
  base::Duration settle_time = std::chrono::seconds(15);  // disruption::Options::settle_time
  double node_overhead = 0.005;                           // disruption::Options::node_overhead
  double max_price_ratio = 0;                             // disruption::Options::max_price_ratio
  base::Duration disruption_poll = std::chrono::seconds(10);
  // Decides which nodes go. Benchmarks play other rules in its place, in the same world.
  std::function<disruption::Decisions(const disruption::Input&)> decide = disruption::decide;
  LegacySettings legacy;
};

struct Services {
  base::Loop& loop;
  base::Compute& compute;
  kube::Client& client;
  cluster::State& state;
  cluster::Ledger& ledger;
  cloud::ProviderSet& providers;
  kube::EventSink& events;
  base::Metrics& metrics;
  telemetry::Chronicle& chronicle;
  RegistrationHealth& registration_health;
  base::Logger log;
  Options options;
  std::uint64_t seed = 0;
  OverlayCache* overlays = nullptr;             // nullptr: no NodeOverlay counts
  BufferRoom* buffers = nullptr;                // nullptr: no CapacityBuffer counts
  telemetry::DecisionLog* decisions = nullptr;  // nullptr: nothing is recorded
  // Called when etcd was restored from a backup: what this process knows and remembers may be of a
  // history that never was.
  std::function<void()> on_rewound = [] {};
  // Names of new NodeClaims. They are known before the API server is asked, so that what is
  // reserved on one counts from then on, and a claim whose reply was lost is recognised.
  std::shared_ptr<base::Random> claim_names = std::make_shared<base::Random>(0);
  // Those that the API server is being asked to create now.
  std::shared_ptr<ClaimsInCreation> claims_in_creation = std::make_shared<ClaimsInCreation>();

  // The same services with another logger: one that says which controller speaks.
  Services logging_to(base::Logger logger) const;
};

// For a controller of this name; `kind` is that of the objects its keys name, or empty.
ReconcilerContext reconciler_context(const Services& services, std::string name,
                                     std::string_view kind);

// Lookups in a snapshot; nullptr when absent. That of a Node by its name is quick on clusters of
// any size. A NodeClaim's record is the State's to find.
scheduling::NodeRecordPtr find_node(const scheduling::Snapshot& snapshot, std::string_view node);
std::shared_ptr<const model::NodePool> find_pool(const scheduling::Snapshot& snapshot,
                                                 std::string_view name);
std::shared_ptr<const model::NodeClass> find_node_class(const scheduling::Snapshot& snapshot,
                                                        const model::NodeClassReference& ref);
bool is_managed(const Services& services, const model::NodeClassReference& ref);

// What each pool may buy now, from the providers' memory and with NodeOverlays applied. Pools whose
// NodeClass or provider is missing are left out.
scheduling::Catalog catalog_of(const Services& services, const scheduling::Snapshot& snapshot);

// Merge-patches metadata (with the object's resourceVersion as a lock) and then status, and feeds
// the answer back into the state, so that the next decision sees it. A null part is skipped.
struct ClaimPatch {
  boost::json::value metadata;  // null, or the members of "metadata" to merge
  boost::json::value status;

  static ClaimPatch of_metadata(boost::json::value metadata);
  static ClaimPatch of_status(boost::json::value status);
};
base::Task<base::Result<std::shared_ptr<const model::NodeClaim>>> patch_claim(
    Services& services, std::shared_ptr<const model::NodeClaim> claim, ClaimPatch patch);
base::Task<base::Result<std::shared_ptr<const model::Node>>> patch_node(
    Services& services, std::shared_ptr<const model::Node> node, boost::json::value patch);
// The same without the error NotFound: to delete what is gone already is a success.
template <class T>
base::Result<> ignore_not_found(const base::Result<T>& result) {
  if (!result && result.error().kind != base::ErrorKind::NotFound) {
    return tl::unexpected(result.error());
  }
  return {};
}

// Success also when they are gone already.
base::Task<base::Result<>> delete_node(Services& services, std::shared_ptr<const model::Node> node);
base::Task<base::Result<>> delete_claim(Services& services,
                                        std::shared_ptr<const model::NodeClaim> claim,
                                        std::string reason);

}  // namespace millwright::controllers
