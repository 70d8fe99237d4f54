#include "millwright/controllers/feed.hpp"

#include "millwright/kube/informer.hpp"
#include "millwright/telemetry/chronicle.hpp"
#include "millwright/telemetry/condition_watch.hpp"

#include <cstdint>
#include <memory>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace millwright::controllers {
namespace {

class Feed {
 public:
  Feed(Services& services, Sources& sources, PodTransitions& transitions, std::stop_token stop)
      : services_(services),
        sources_(sources),
        transitions_(transitions),
        stop_(std::move(stop)),
        conditions_(services.metrics, services.chronicle),
        group_(services.loop) {}

  base::Task<void> run() {
    cluster::for_each_watched_kind([this]<class T>(const cluster::WatchedKind<T>& kind) {
      if (!is_needed(kind.needed_by)) {
        return;
      }
      if constexpr (std::is_same_v<T, model::NodeClass>) {
        for (const auto& provider : services_.providers.all()) {
          watch_all(kind, provider->node_classes());
        }
      } else {
        watch_all(kind, kind.resources);
      }
    });
    group_.spawn(sources_.watch_over(stop_));
    co_await group_.join();
  }

 private:
  bool is_needed(cluster::NeededBy feature) const {
    const auto& options = services_.options;
    switch (feature) {
      case cluster::NeededBy::NodeOverlays:
        return options.node_overlay;
      case cluster::NeededBy::CapacityBuffers:
        return options.capacity_buffer;
      case cluster::NeededBy::DefaultSpread:
        return !options.solve.default_spread.empty();
      case cluster::NeededBy::ResourceClaims:
        return options.solve.resource_claims;
      case cluster::NeededBy::Always:
        break;
    }
    return true;
  }

  template <class T, class Resources>
  void watch_all(const cluster::WatchedKind<T>& kind, const Resources& resources) {
    for (const model::Resource& resource : resources) {
      const bool optional = kind.first_list == cluster::FirstList::AwaitedIfListable;
      const std::size_t source = sources_.add(std::string(resource.plural));
      kube::InformerHandlers handlers;
      handlers.synced = [this, source] { sources_.listed(source); };
      handlers.heard = [this, source] { sources_.heard(source); };
      handlers.lost = [this, source] { sources_.lost(source); };
      if (optional) {
        handlers.not_listable = [this, source, resource](const base::Error& why) {
          not_listable(source, resource, why.kind);
        };
      } else {
        needed_.push_back(resource);
      }
      watch<T>(resource, std::move(handlers));
    }
  }

  // Of a kind that decisions are possible without.
  void not_listable(std::size_t source, const model::Resource& resource, base::ErrorKind why) {
    if (why == base::ErrorKind::NotFound) {
      sources_.done_without(source);
    } else if (why == base::ErrorKind::Denied) {
      const auto since = sources_.refused(source);
      if (since && looked_into_.insert(source).second) {
        group_.spawn(look_into_refusal(source, resource, *since));
      }
    }
  }

  // An API server whose authorizer fails refuses everything, and is no reason to do without
  // anything. So what every installation may read is asked for, one object of each kind, and what
  // was refused once more: the authorizer may be back just now. Where this tells nothing, the
  // informer's next try begins anew.
  base::Task<void> look_into_refusal(std::size_t source, model::Resource refused,
                                     base::TimePoint since) {
    const std::string all_namespaces;
    bool others_pass = true;
    for (std::size_t i = 0; i < needed_.size() && others_pass; ++i) {
      const auto answered =
          co_await services_.client.current_version(needed_[i], all_namespaces, stop_);
      others_pass = answered.has_value();
    }
    if (others_pass) {
      const auto answered =
          co_await services_.client.current_version(refused, all_namespaces, stop_);
      if (!answered && answered.error().kind == base::ErrorKind::Denied) {
        sources_.refused_alone(source, since);
      }
    }
    looked_into_.erase(source);
  }

  template <class T>
  void watch(const model::Resource& resource, kube::InformerHandlers handlers) {
    const std::string kind(resource.kind);
    handlers.rewound = services_.on_rewound;
    handlers.upsert = [this, kind](const boost::json::value& json) {
      auto decoded = decode<T>(kind, json);
      if (!decoded) {
        services_.log.warn("ignoring an object that cannot be read",
                           {{"error", decoded.error().message}});
        return;
      }
      seen(std::make_shared<const T>(*std::move(decoded)));
    };
    handlers.remove = [this, kind, group = std::string(resource.group)](const model::ObjectKey& key,
                                                                        const std::string& uid) {
      gone<T>(uid);
      services_.state.remove<T>(key, {.uid = uid, .kind = kind, .group = group});
    };
    kube::InformerOptions options{
        .resource = resource, .seed = services_.seed + (++informers_), .log = services_.log};
    group_.spawn(
        kube::run_informer(services_.client, std::move(options), std::move(handlers), stop_));
  }

  // Items of a list do not name their kind.
  template <class T>
  static base::Result<T> decode(const std::string& kind, const boost::json::value& json) {
    if constexpr (std::is_same_v<T, model::PodSelector>) {
      return model::decode_pod_selector(kind, json);
    } else if constexpr (std::is_same_v<T, model::Workload>) {
      return model::decode_workload(kind, json);
    } else {
      return model::decode<T>(json);
    }
  }

  template <class T>
  void seen(std::shared_ptr<const T> object) {
    if constexpr (std::is_same_v<T, model::Pod>) {
      transitions_.upsert(*object);
      services_.chronicle.pod_seen(*object);
    }
    if constexpr (telemetry::kHasConditionMetrics<T>) {
      conditions_.seen(*object);
    }
    services_.state.upsert(std::move(object));
  }

  template <class T>
  void gone(const std::string& uid) {
    if constexpr (std::is_same_v<T, model::Pod>) {
      transitions_.remove(uid);
      services_.chronicle.pod_gone(uid);
    }
    if constexpr (telemetry::kHasConditionMetrics<T>) {
      conditions_.gone<T>(uid, services_.loop.now());
    }
  }

  Services& services_;
  Sources& sources_;
  PodTransitions& transitions_;
  std::stop_token stop_;
  telemetry::ConditionWatch conditions_;
  std::uint64_t informers_ = 0;
  std::vector<model::Resource> needed_;  // without them nothing is decided at all
  std::set<std::size_t> looked_into_;    // whose refusal is being looked into
  base::TaskGroup group_;
};

}  // namespace

base::Task<void> run_feed(Services& services, Sources& sources, PodTransitions& transitions,
                          std::stop_token stop) {
  Feed feed(services, sources, transitions, std::move(stop));
  co_await feed.run();
}

}  // namespace millwright::controllers
