#include "millwright/app/engine.hpp"

#include "app/engine/controller_set.hpp"
#include "app/engine/event_routes.hpp"
#include "app/engine/unseen_refusals.hpp"
#include "app/serving/admission_view.hpp"
#include "app/serving/metrics_page.hpp"
#include "millwright/base/mutant.hpp"
#include "millwright/controllers/feed.hpp"
#include "millwright/controllers/nodeclaim/interruption.hpp"
#include "millwright/controllers/nodeclaim/launch_records.hpp"
#include "millwright/controllers/pools/registration_health.hpp"
#include "millwright/controllers/process/caught_up.hpp"
#include "millwright/controllers/process/sources.hpp"
#include "millwright/telemetry/chronicle.hpp"
#include "millwright/telemetry/condition_watch.hpp"
#include "millwright/telemetry/decision_log.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace millwright::app {
namespace {

constexpr auto kRefreshPause = std::chrono::milliseconds(50);
// Prometheus has read by then what was counted last.
constexpr auto kSeriesOutlive = std::chrono::hours(1);

}  // namespace

struct Engine::Impl {
  explicit Impl(EngineParts parts)
      : chronicle(parts.metrics, parts.loop.now()),
        decisions([&loop = parts.loop] { return loop.now(); }, std::move(parts.write_decision)),
        state(
            ledger, [&loop = parts.loop] { return loop.now(); },
            parts.options.launch_timeout + parts.options.registration_timeout),
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
                 .buffers = parts.options.capacity_buffer ? &buffer_room : nullptr,
                 .decisions = &decisions,
                 .on_rewound = parts.on_rewound,
                 .claim_names = std::make_shared<base::Random>(parts.seed + 2)},
        controller_set(services),
        sources(parts.loop, state, parts.log),
        transitions([this](std::string_view node, std::optional<base::TimePoint> happened) {
          controller_set.claim_status.pod_event(node, happened);
        }),
        routes(services, controller_set, [this] { refresh_views(); }),
        extender({.sight = [this] { return state.sight(); },
                  .ledger = &ledger,
                  .now = [&loop = parts.loop] { return loop.now(); },
                  .on_refused =
                      [this](extender::RefusedPod refused) { pod_refused(std::move(refused)); },
                  .can_be_bought =
                      [this](const extender::PodFacts& pod) {
                        return !controller_set.provisioner.refuses(pod.group);
                      },
                  .on_spared = [this](const extender::PodFacts& pod) { victims_spared(pod); },
                  .on_problem = [this](const std::string& problem) { tell_problem(problem); },
                  .metrics = &parts.metrics},
                 parts.policy),
        admission([this] { return admission_view.get(); }),
        synced(parts.loop) {
    state.on_change([this](cluster::Kind kind, const model::ObjectKey& key) {
      publish();
      routes.object_changed(kind, key);
      if (kind == cluster::Kind::NodePool && !state.find_pool(key.name)) {
        forget_series_of(key.name);
      } else if (kind == cluster::Kind::NodeClass) {
        forget_series_of_classes(key.name);
      }
    });
    state.on_synced([this] {
      publish();
      synced.notify();
    });
    state.on_problem([this](const std::string& problem) {
      services.log.warn("ignoring a mirror annotation", {{"problem", problem}});
    });
    for (const auto& provider : parts.providers.all()) {
      provider->on_catalog_change([this] { routes.catalog_changed(); });
      provider->on_interruption(
          [this](cloud::InstanceNotice notice) { return act_on_notice(std::move(notice)); });
      provider->set_recorded([this](std::string_view id) {
        return controllers::is_launch_recorded(*state.snapshot(), id);
      });
    }
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

  // Makes one snapshot per turn of the loop: the extender answers from the newest one.
  void publish() {
    if (!std::exchange(publishing, true)) {
      on_loop([this] {
        publishing = false;
        for (const auto& refused : unseen_refusals.take(*state.snapshot(), services.loop.now())) {
          tell_refused(refused);
        }
        routes.after_changes();
      });
    }
  }

  // Waits for the first lists, until no watch is lost, and until all NodeClaims and Nodes are
  // known, or for `stop`. A Node looks empty whose claim or pods are not listed yet, or whose pods
  // were bound while this replica was cut off: no controller may act before.
  base::Task<void> wait_for_state(std::stop_token stop) {
    if (base::planted(base::Mutant::LeadsBeforeLists)) {
      co_return;
    }
    while (!state.snapshot()->synced && !stop.stop_requested()) {
      co_await synced.wait(stop);
    }
    co_await sources.wait_for_all(stop);
    co_await controllers::wait_until_caught_up(services, std::move(stop));
  }

  // Refreshes what the threads that answer HTTP requests read. It takes a walk over all pools, and
  // thousands may change one after the other.
  void refresh_views() {
    if (std::exchange(refreshing, true)) {
      return;
    }
    const base::TimePoint due = std::max(services.loop.now(), refreshed + kRefreshPause);
    services.loop.at(due, [this, weak = std::weak_ptr(life)] {
      if (weak.lock()) {
        refreshing = false;
        refreshed = services.loop.now();
        admission_view.refresh(services);
        page.refresh(services);
      }
    });
  }

  bool has_nodes(const std::string& pool) {
    const auto& nodes = state.snapshot()->nodes;
    return std::any_of(nodes.begin(), nodes.end(),
                       [&pool](const auto& record) { return record->node_pool() == pool; });
  }

  // Once the NodePool has been gone for a while, and its nodes, which would bring the series back:
  // they may drain for long. The series would pile up where pools come and go.
  void forget_series_of(std::string pool) {
    services.loop.after(kSeriesOutlive, [this, weak = std::weak_ptr(life), pool = std::move(pool)] {
      if (!weak.lock() || state.find_pool(pool)) {
        return;
      }
      if (has_nodes(pool)) {
        forget_series_of(pool);
        return;
      }
      services.metrics.forget("nodepool", pool);
      telemetry::forget_conditions_of_pool(services.metrics, pool);
    });
  }

  bool is_gone(const model::NodeClassReference& reference) {
    return controllers::find_node_class(*state.snapshot(), reference) == nullptr;
  }

  // Of those that have the name, since an event tells no more, and are gone.
  void forget_series_of_classes(const std::string& name) {
    for (const auto& provider : services.providers.all()) {
      for (const model::Resource& resource : provider->node_classes()) {
        model::NodeClassReference reference{
            .group = std::string(resource.group), .kind = std::string(resource.kind), .name = name};
        if (is_gone(reference) && classes_to_forget.insert(reference).second) {
          forget_series_of(std::move(reference));
        }
      }
    }
  }

  // Once the NodeClass has been gone for a while.
  void forget_series_of(model::NodeClassReference node_class) {
    services.loop.after(kSeriesOutlive,
                        [this, weak = std::weak_ptr(life), node_class = std::move(node_class)] {
                          if (!weak.lock()) {
                            return;
                          }
                          classes_to_forget.erase(node_class);
                          if (is_gone(node_class)) {
                            telemetry::forget_conditions_of(services.metrics, node_class);
                          }
                        });
  }

  void tell_refused(const extender::RefusedPod& refused) {
    controller_set.reservations.refused(refused);
    controller_set.provisioner.refused(refused.pod.uid);
  }

  // Any thread. Nothing is bought or freed for a pod before the watch shows it waiting, and nobody
  // would wake it where nobody leads.
  void pod_refused(extender::RefusedPod refused) {
    on_loop([this, refused = std::move(refused)] {
      if (!chronicle.leading()) {
        return;
      }
      if (refused.pod.shown == extender::Shown::Waiting) {
        tell_refused(refused);
      } else {
        unseen_refusals.put(refused, services.loop.now());
        publish();
      }
    });
  }

  // Any thread. If the watch does not show the pod, kube-scheduler's own report will ask for the
  // plan.
  void victims_spared(const extender::PodFacts& pod) {
    on_loop([this, key = pod.key, uid = pod.uid] {
      if (chronicle.leading() && extender::find_waiting(*state.snapshot(), key, uid) != nullptr) {
        controller_set.provisioner.refused(uid);
      }
    });
  }

  // Any thread.
  void tell_problem(std::string problem) {
    on_loop([this, problem = std::move(problem)] {
      services.log.warn("ignoring an annotation", {{"problem", problem}});
    });
  }

  base::Task<base::Result<>> act_on_notice(cloud::InstanceNotice notice) {
    const auto snapshot = state.snapshot();
    const auto claim = controllers::claim_to_act_on(*snapshot, notice, services.loop.now());
    if (!claim && controllers::may_be_of_a_launch(*snapshot, notice) &&
        !base::planted(base::Mutant::EarlyNoticesDropped)) {
      co_return base::fail(base::ErrorKind::NotReady,
                           "no NodeClaim has the instance " + notice.provider_id +
                               " yet, and some are being launched; it is looked for again");
    }
    if (!claim) {
      co_return base::Result<>{};
    }
    co_return co_await controllers::act_on_notice(services, claim, notice);
  }

  telemetry::Chronicle chronicle;
  telemetry::DecisionLog decisions;
  controllers::RegistrationHealth registration_health;
  cluster::Ledger ledger;
  cluster::State state;
  kube::EventRecorder events;
  controllers::OverlayCache overlay_cache;
  controllers::BufferRoom buffer_room;
  controllers::Services services;
  ControllerSet controller_set;
  controllers::Sources sources;
  controllers::PodTransitions transitions;
  EventRoutes routes;
  extender::Extender extender;
  AdmissionView admission_view;
  MetricsPage page;
  UnseenRefusals unseen_refusals;
  std::set<model::NodeClassReference> classes_to_forget;
  webhooks::Admission admission;
  base::Signal synced;
  bool publishing = false;
  bool refreshing = false;
  base::TimePoint refreshed;
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
const telemetry::DecisionLog& Engine::decisions() const {
  return impl_->decisions;
}
std::shared_ptr<const scheduling::Catalog> Engine::catalog() const {
  return impl_->page.catalog();
}
cluster::State& Engine::state() {
  return impl_->state;
}
cluster::Ledger& Engine::ledger() {
  return impl_->ledger;
}

base::Task<void> Engine::watch(std::stop_token stop) {
  base::TaskGroup group(impl_->services.loop);
  group.spawn(controllers::run_feed(impl_->services, impl_->sources, impl_->transitions, stop));
  for (const auto& provider : impl_->services.providers.all()) {
    group.spawn(provider->run(stop));
  }
  co_await group.join();
}

namespace {

// By the API server's clock.
base::TimePoint newest_claim(const scheduling::Snapshot& snapshot) {
  base::TimePoint newest;
  for (const auto& record : snapshot.nodes) {
    if (record->claim) {
      newest = std::max(newest, record->claim->meta.creation_timestamp.value_or(newest));
    }
  }
  return newest;
}

}  // namespace

base::Task<void> Engine::lead(std::stop_token stop) {
  auto& impl = *impl_;
  base::TaskGroup group(impl.services.loop);
  impl.chronicle.set_leading(true);
  group.spawn(impl.events.run(stop));
  co_await impl.wait_for_state(stop);
  if (!stop.stop_requested()) {
    impl.controller_set.spawn_all(group, stop);
    const base::TimePoint newest = newest_claim(*impl.services.state.snapshot());
    for (const auto& provider : impl.services.providers.all()) {
      provider->inherit(newest);
      group.spawn(provider->lead(stop));
    }
    co_await base::yield(impl.services.loop);  // the queues accept once they run
    impl.routes.wake_all();
  }
  co_await group.join();
  impl.chronicle.set_leading(false);
}

}  // namespace millwright::app
