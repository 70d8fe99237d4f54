#include "millwright/controllers/feed.hpp"

#include "millwright/kube/informer.hpp"
#include "millwright/telemetry/chronicle.hpp"
#include "millwright/telemetry/condition_watch.hpp"

#include <memory>
#include <set>
#include <type_traits>

namespace millwright::controllers {
namespace {

using RemoveHandler = std::function<void(const model::ObjectKey&, const std::string&)>;

// Knows which of the kinds that decisions cannot do without were listed.
struct SyncBarrier {
  explicit SyncBarrier(cluster::State& s) : state(s) {}
  std::function<void()> member(const std::string& kind) {
    waiting.insert(kind);
    return [this, kind] {
      waiting.erase(kind);
      if (waiting.empty()) {
        state.set_synced(true);
      }
    };
  }
  cluster::State& state;
  std::set<std::string> waiting;
};

template <class T>
constexpr bool kHasWatchedConditions =
    std::is_same_v<T, model::NodeClaim> || std::is_same_v<T, model::NodePool> ||
    std::is_same_v<T, model::Node> || std::is_same_v<T, model::CapacityBuffer>;

class Feed {
 public:
  Feed(Services& services, PodTransitions& transitions, std::stop_token stop)
      : services_(services),
        transitions_(transitions),
        stop_(std::move(stop)),
        barrier_(services.state),
        conditions_(services.metrics, services.chronicle),
        group_(services.loop) {}

  base::Task<void> run() {
    auto& state = services_.state;
    required<model::Pod>(model::kPodResource, [this, &state](const auto& key, const auto& uid) {
      transitions_.remove(uid);
      services_.chronicle.pod_gone(uid);
      state.remove_pod(key, uid);
    });
    required<model::Node>(model::kNodeResource, [this, &state](const auto& key, const auto& uid) {
      gone("node", uid);
      state.remove_node(key.name);
    });
    required<model::NodePool>(model::kNodePoolResource,
                              [this, &state](const auto& key, const auto& uid) {
                                gone("nodepool", uid);
                                state.remove_node_pool(key.name);
                              });
    required<model::NodeClaim>(model::kNodeClaimResource,
                               [this, &state](const auto& key, const auto& uid) {
                                 gone("nodeclaim", uid);
                                 state.remove_node_claim(key.name);
                               });
    if (services_.options.node_overlay) {
      required<model::NodeOverlay>(model::kNodeOverlayResource, removal("NodeOverlay"));
    }
    if (services_.options.capacity_buffer) {
      required<model::CapacityBuffer>(model::kCapacityBufferResource,
                                      [this, &state](const auto& key, const auto& uid) {
                                        gone("capacitybuffer", uid);
                                        state.remove("CapacityBuffer", key);
                                      });
    }
    optional<model::DaemonSet>(model::kDaemonSetResource);
    optional<model::PodDisruptionBudget>(model::kPodDisruptionBudgetResource);
    optional<model::PersistentVolumeClaim>(model::kPersistentVolumeClaimResource);
    optional<model::PersistentVolume>(model::kPersistentVolumeResource);
    optional<model::StorageClass>(model::kStorageClassResource);
    optional<model::CSINode>(model::kCSINodeResource);
    optional<model::VolumeAttachment>(model::kVolumeAttachmentResource);
    optional<model::Namespace>(model::kNamespaceResource);
    if (!services_.options.solve.default_spread.empty()) {
      for (const auto& resource : model::kPodSelectorResources) {
        watch_selectors(resource);
      }
    }
    for (const auto& provider : services_.providers.all()) {
      for (const auto& resource : provider->node_classes()) {
        watch<model::NodeClass>(
            resource,
            [&state, kind = std::string(resource.kind)](const auto& key, const auto&) {
              state.remove_node_class(kind, key.name);
            },
            {});
      }
    }
    co_await group_.join();
  }

 private:
  void gone(std::string_view kind, const std::string& uid) {
    conditions_.gone(kind, uid, services_.loop.now());
  }

  template <class T>
  void required(const model::Resource& resource, RemoveHandler remove) {
    watch<T>(resource, std::move(remove), barrier_.member(std::string(resource.kind)));
  }

  template <class T>
  void optional(const model::Resource& resource) {
    watch<T>(resource, removal(std::string(resource.kind)), {});
  }

  // Known before the first plan: a pod whose peers are not known would be spread with nobody.
  void watch_selectors(const model::Resource& resource) {
    const std::string kind(resource.kind);
    const auto upsert = [this, kind](const boost::json::value& object) {
      auto decoded = model::decode_pod_selector(kind, object);
      if (!decoded) {
        services_.log.warn("ignoring an object that cannot be read",
                           {{"error", decoded.error().message}});
        return;
      }
      services_.state.upsert(std::make_shared<const model::PodSelector>(*std::move(decoded)));
    };
    inform(resource, {.upsert = upsert, .remove = removal(kind), .synced = barrier_.member(kind)});
  }

  RemoveHandler removal(std::string kind) {
    return [this, kind = std::move(kind)](const auto& key, const auto&) {
      services_.state.remove(kind, key);
    };
  }

  template <class T>
  void watch(const model::Resource& resource, RemoveHandler remove, std::function<void()> synced) {
    kube::TypedHandlers<T> handlers{.upsert =
                                        [this](std::shared_ptr<const T> object) {
                                          if constexpr (std::is_same_v<T, model::Pod>) {
                                            transitions_.upsert(*object);
                                            services_.chronicle.pod_seen(*object);
                                          }
                                          if constexpr (kHasWatchedConditions<T>) {
                                            conditions_.seen(*object);
                                          }
                                          services_.state.upsert(std::move(object));
                                        },
                                    .remove = std::move(remove),
                                    .synced = synced ? std::move(synced) : [] {}};
    inform(resource, kube::decode_into<T>(std::move(handlers), services_.log));
  }

  void inform(const model::Resource& resource, kube::InformerHandlers handlers) {
    group_.spawn(kube::run_informer(services_.client, resource, {}, std::move(handlers),
                                    services_.log, services_.seed + (++informers_), stop_));
  }

  Services& services_;
  PodTransitions& transitions_;
  std::stop_token stop_;
  SyncBarrier barrier_;
  telemetry::ConditionWatch conditions_;
  std::uint64_t informers_ = 0;
  base::TaskGroup group_;
};

}  // namespace

base::Task<void> run_feed(Services& services, PodTransitions& transitions, std::stop_token stop) {
  Feed feed(services, transitions, std::move(stop));
  co_await feed.run();
}

}  // namespace millwright::controllers
