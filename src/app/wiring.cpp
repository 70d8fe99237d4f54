#include "millwright/app/wiring.hpp"

#include "app/metrics_page.hpp"
#include "millwright/controllers/buffers.hpp"
#include "millwright/controllers/claim_status.hpp"
#include "millwright/controllers/disruption.hpp"
#include "millwright/controllers/feed.hpp"
#include "millwright/controllers/garbage_collection.hpp"
#include "millwright/controllers/holds.hpp"
#include "millwright/controllers/legacy.hpp"
#include "millwright/controllers/lifecycle.hpp"
#include "millwright/controllers/nodeclass.hpp"
#include "millwright/controllers/nodepool.hpp"
#include "millwright/controllers/overlays.hpp"
#include "millwright/controllers/provisioning.hpp"
#include "millwright/controllers/registration_health.hpp"
#include "millwright/controllers/static_capacity.hpp"
#include "millwright/controllers/termination.hpp"
#include "millwright/telemetry/chronicle.hpp"

#include <algorithm>
#include <map>
#include <mutex>

namespace millwright::app {
namespace {

using webhooks::World;

// What admission looks at, made on the loop and read from any thread.
class AdmissionWorld {
 public:
  std::shared_ptr<const World> get() const {
    const std::scoped_lock lock(mutex_);
    return world_;
  }

  void refresh(const controllers::Services& services) {
    const auto snapshot = services.state.snapshot();
    auto world = std::make_shared<World>();
    auto types = std::make_shared<std::map<model::NodeClassReference, scheduling::InstanceTypes>>();
    for (const auto& pool : snapshot->node_pools) {
      world->node_pools.push_back(*pool);
    }
    for (const auto& node_class : snapshot->node_classes) {
      world->node_classes.push_back(*node_class);
      const std::string group =
          node_class->api_version.substr(0, node_class->api_version.find('/'));
      const model::NodeClassReference ref{
          .group = group, .kind = node_class->kind, .name = node_class->meta.name};
      const auto* provider = services.providers.find(group, node_class->kind);
      if (provider != nullptr) {
        if (auto found = provider->instance_types(model::NodePool{}, *node_class)) {
          types->emplace(ref, *std::move(found));
        }
      }
    }
    world->instance_types = [types](const model::NodeClassReference& ref) {
      const auto found = types->find(ref);
      return found == types->end() ? nullptr : found->second;
    };
    world->now = services.loop.now();
    const std::scoped_lock lock(mutex_);
    world_ = std::move(world);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const World> world_;
};

}  // namespace

struct Engine::Impl {
  explicit Impl(EngineParts parts)
      : chronicle(parts.metrics, parts.loop.now()),
        state(ledger),
        events(parts.client, "karpenter", parts.seed + 1, parts.log.named("events")),
        services{.loop = parts.loop,
                 .compute = parts.compute,
                 .client = parts.client,
                 .state = state,
                 .ledger = ledger,
                 .providers = parts.providers,
                 .events = events,
                 .metrics = parts.metrics,
                 .chronicle = chronicle,
                 .registration_health = registration_health,
                 .log = parts.log,
                 .options = parts.options,
                 .seed = parts.seed,
                 .overlays = parts.options.node_overlay ? &overlay_cache : nullptr,
                 .buffers = parts.options.capacity_buffer ? &buffer_room : nullptr},
        transitions([this](std::string_view node) { claim_status.pod_event(node); }),
        holds(services),
        provisioner(services, holds),
        lifecycle(services),
        termination(services),
        disruption(services),
        node_pools(services),
        node_classes(services),
        claim_status(services),
        garbage_collection(services),
        node_overlays(services),
        static_capacity(services),
        buffers(services, [this] { provisioner.notify(); }),
        extender({.snapshot = [this] { return state.latest(); },
                  .ledger = &ledger,
                  .now = [&loop = parts.loop] { return loop.now(); },
                  .on_refused =
                      [this](const extender::PodFacts& pod, bool everywhere) {
                        on_loop([this, uid = pod.uid, key = pod.key, everywhere] {
                          holds.refused(uid, key);
                          if (everywhere) {
                            provisioner.refused(uid);
                          }
                        });
                      },
                  .metrics = &parts.metrics},
                 parts.policy),
        admission([this] { return admission_world.get(); }) {
    state.on_change(
        [this](std::string_view kind, const model::ObjectKey& key) { dispatch(kind, key); });
    registration_health.on_change([this](const std::string& pool) { node_pools.enqueue(pool); });
    holds.on_expired([this] { provisioner.notify(); });
    state.on_problem([this](const std::string& problem) {
      services.log.warn("ignoring a mirrored promise", {{"problem", problem}});
    });
    for (const auto& provider : parts.providers.all()) {
      provider->on_catalog_change([this] { catalog_changed(); });
      provider->on_interruption([this](const std::string& id) { interrupted(id); });
      provider->set_recorded([this](std::string_view id) { return is_recorded(id); });
    }
  }

  // Who looks again after which change.
  void dispatch(std::string_view kind, const model::ObjectKey& key) {
    if (kind == "Pod") {
      holds.notify();
    } else if (kind == "Node") {
      termination.enqueue(key.name);
      if (const auto record = controllers::find_node(*state.snapshot(), key.name);
          record && record->claim) {
        claim_changed(*record);
      }
      holds.notify();
    } else if (kind == "NodeClaim") {
      lifecycle.enqueue(key.name);
      claim_status.enqueue(key.name);
      if (const auto record = state.find_claim(key.name)) {
        claim_changed(*record);
      }
    } else if (kind == "NodePool") {
      pool_changed(key.name);
    } else if (kind == "NodeClass") {
      node_class_changed(key.name);
    } else if (kind == "NodeOverlay") {
      node_overlays.enqueue();
    } else if (kind == "CapacityBuffer") {
      buffers.enqueue(key);
    }
    buffers.notify();
    if (kind == "NodeClaim" || kind == "NodePool") {
      enqueue_static_pools();
    }
    publish();
    provisioner.notify();
    disruption.notify();
  }

  // Any thread. Nothing happens if the engine is gone when its turn comes.
  template <class Work>
  void on_loop(Work work) {
    services.loop.post([weak = std::weak_ptr(life), work = std::move(work)] {
      if (weak.lock()) {
        work();
      }
    });
  }

  // The extender answers from the newest snapshot that was made: one per turn of the loop.
  void publish() {
    if (!std::exchange(publishing, true)) {
      on_loop([this] {
        publishing = false;
        state.snapshot();
      });
    }
  }

  void claim_changed(const scheduling::NodeRecord& record) {
    lifecycle.enqueue(record.claim_name());
    claim_status.enqueue(record.claim_name());
    if (record.node) {
      termination.enqueue(record.node->meta.name);
    }
    node_pools.enqueue(record.node_pool());
  }

  void pool_changed(const std::string& pool) {
    node_pools.enqueue(pool);
    const auto found = controllers::find_pool(*state.snapshot(), pool);
    const std::int64_t generation = found ? found->meta.generation : -1;
    if (std::exchange(pool_generations[pool], generation) == generation) {
      return;  // only its status changed
    }
    for (const auto& record : state.snapshot()->nodes) {
      if (record->claim && record->node_pool() == pool) {
        claim_status.enqueue(record->claim_name());
      }
    }
    node_overlays.enqueue();
    catalog_used();
  }

  void enqueue_static_pools() {
    if (services.options.static_capacity) {
      for (const auto& pool : state.snapshot()->node_pools) {
        if (pool->replicas) {
          static_capacity.enqueue(pool->meta.name);
        }
      }
    }
  }

  void node_class_changed(const std::string& name) {
    const auto snapshot = state.snapshot();
    for (const auto& node_class : snapshot->node_classes) {
      if (node_class->meta.name == name) {
        node_classes.enqueue(node_class->kind + "/" + name);
      }
    }
    for (const auto& pool : snapshot->node_pools) {
      if (pool->template_.node_class_ref.name == name) {
        node_pools.enqueue(pool->meta.name);
      }
    }
    catalog_used();
  }

  void catalog_changed() {
    node_overlays.enqueue();
    provisioner.notify();
    disruption.notify();
    catalog_used();
  }

  // What other threads look at is made anew.
  void catalog_used() {
    admission_world.refresh(services);
    page.refresh(services);
  }

  bool is_recorded(std::string_view provider_id) {
    const auto snapshot = state.snapshot();
    return std::any_of(snapshot->nodes.begin(), snapshot->nodes.end(), [&](const auto& record) {
      return record->claim && record->claim->provider_id == provider_id;
    });
  }

  // The cloud takes the instance back: its node is drained while there is still time.
  void interrupted(const std::string& provider_id) {
    for (const auto& record : state.snapshot()->nodes) {
      if (record->claim && record->claim->provider_id == provider_id &&
          !record->claim->meta.is_deleting() && leading) {
        interruptions->spawn(end_interrupted(record->claim));
        return;
      }
    }
  }

  base::Task<void> end_interrupted(std::shared_ptr<const model::NodeClaim> claim) {
    services.events.record({.object = kube::reference_to(model::kNodeClaimResource, claim->meta),
                            .warning = true,
                            .reason = "SpotInterrupted",
                            .message = "The cloud is about to take the instance back",
                            .dedupe_values = {}});
    auto deleted = co_await controllers::delete_claim(services, claim, "spot_interrupted");
    if (!deleted) {
      services.log.error("deleting an interrupted nodeclaim failed",
                         {{"NodeClaim", claim->meta.name}, {"error", deleted.error().message}});
    }
  }

  void enqueue_everything() {
    const auto snapshot = state.snapshot();
    for (const auto& record : snapshot->nodes) {
      if (record->claim) {
        claim_changed(*record);
      }
    }
    for (const auto& pool : snapshot->node_pools) {
      node_pools.enqueue(pool->meta.name);
    }
    for (const auto& node_class : snapshot->node_classes) {
      node_classes.enqueue(node_class->kind + "/" + node_class->meta.name);
    }
    node_overlays.enqueue();
    enqueue_static_pools();
    buffers.enqueue_all();
    provisioner.notify();
    disruption.notify();
    holds.notify();
  }

  telemetry::Chronicle chronicle;
  controllers::RegistrationHealth registration_health;
  cluster::Ledger ledger;
  cluster::State state;
  kube::EventRecorder events;
  controllers::OverlayCache overlay_cache;
  controllers::BufferRoom buffer_room;
  controllers::Services services;
  controllers::PodTransitions transitions;
  controllers::Holds holds;
  controllers::Provisioner provisioner;
  controllers::Lifecycle lifecycle;
  controllers::Termination termination;
  controllers::Disruption disruption;
  controllers::NodePools node_pools;
  controllers::NodeClasses node_classes;
  controllers::ClaimStatus claim_status;
  controllers::GarbageCollection garbage_collection;
  controllers::NodeOverlays node_overlays;
  controllers::StaticCapacity static_capacity;
  controllers::Buffers buffers;
  extender::Extender extender;
  AdmissionWorld admission_world;
  MetricsPage page;
  webhooks::Admission admission;
  bool leading = false;
  bool publishing = false;
  std::map<std::string, std::int64_t> pool_generations;
  std::unique_ptr<base::TaskGroup> interruptions;
  const std::shared_ptr<const bool> life = std::make_shared<const bool>(true);
};

Engine::Engine(EngineParts parts) : impl_(std::make_unique<Impl>(std::move(parts))) {}
Engine::~Engine() = default;

const extender::Extender& Engine::extender() const {
  return impl_->extender;
}
const webhooks::Admission& Engine::admission() const {
  return impl_->admission;
}
std::string Engine::metrics_page() const {
  if (impl_->services.chronicle.leading()) {
    impl_->on_loop([impl = impl_.get()] { impl->page.refresh(impl->services); });
  }
  return impl_->page.render(impl_->services);
}
cluster::State& Engine::state() {
  return impl_->state;
}
cluster::Ledger& Engine::ledger() {
  return impl_->ledger;
}

base::Task<void> Engine::watch(std::stop_token stop) {
  base::TaskGroup group(impl_->services.loop);
  group.spawn(controllers::run_feed(impl_->services, impl_->transitions, stop));
  for (const auto& provider : impl_->services.providers.all()) {
    group.spawn(provider->run(stop));
  }
  co_await group.join();
}

base::Task<void> Engine::lead(std::stop_token stop) {
  auto& impl = *impl_;
  base::TaskGroup group(impl.services.loop);
  impl.interruptions = std::make_unique<base::TaskGroup>(impl.services.loop);
  impl.leading = true;
  impl.chronicle.set_leading(true);
  group.spawn(impl.events.run(stop));
  group.spawn(impl.holds.run(stop));
  group.spawn(impl.provisioner.run(stop));
  group.spawn(impl.lifecycle.run(stop));
  group.spawn(impl.termination.run(stop));
  group.spawn(impl.disruption.run(stop));
  group.spawn(impl.node_pools.run(stop));
  group.spawn(impl.node_classes.run(stop));
  group.spawn(impl.claim_status.run(stop));
  group.spawn(impl.garbage_collection.run(stop));
  if (impl.services.options.node_overlay) {
    group.spawn(impl.node_overlays.run(stop));
  }
  if (impl.services.options.capacity_buffer) {
    group.spawn(impl.buffers.run(stop));
  }
  if (impl.services.options.static_capacity) {
    group.spawn(impl.static_capacity.run(stop));
  }
  group.spawn(
      controllers::run_legacy_translation(impl.services, impl.services.options.legacy, stop));
  for (const auto& provider : impl.services.providers.all()) {
    group.spawn(provider->lead(stop));
  }
  co_await base::yield(impl.services.loop);  // the queues accept once they run
  impl.enqueue_everything();
  co_await group.join();
  impl.leading = false;
  impl.chronicle.set_leading(false);
  co_await impl.interruptions->join();
}

}  // namespace millwright::app
