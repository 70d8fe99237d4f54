#include "arrival.hpp"

#include "millwright/model/codec.hpp"
#include "mixes.hpp"
#include "support/bought.hpp"
#include "worlds.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

namespace millwright::scheduling::bench {
namespace {

namespace json = boost::json;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::uint32_t kArrivalSeed = 42;  // that of beside_peer.cpp
constexpr std::array kRates = {20, 100, 500};
// One of each sort: one kind of machine, many kinds, unlike pods, markets of their own.
constexpr std::array<std::string_view, 4> kArrivingMixes = {"1:4", "ratios-mixed", "big-and-small",
                                                            "selectors"};

// What the program knows and does.
struct Manner {
  std::string_view name;
  bool foresight = true;  // a ReplicaSet says at once how many pods it will have
  bool drafts = true;
};
constexpr std::array kManners = {
    Manner{.name = "as it is"},
    Manner{.name = "no drafts", .drafts = false},
    Manner{.name = "no foresight", .foresight = false},
};

constexpr std::string_view kOpenPool = R"(
apiVersion: karpenter.kwok.sh/v1alpha1
kind: KWOKNodeClass
metadata: {name: default}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements:
        - {key: kubernetes.io/os, operator: In, values: [linux]}
        - {key: kubernetes.io/arch, operator: In, values: [amd64, arm64]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand, spot]}
  disruption:
    consolidationPolicy: WhenEmpty
    consolidateAfter: Never
)";

// Pods of one template that come one after another.
struct ArrivingSet {
  PodPtr like;
  int replicas = 0;
};

std::vector<ArrivingSet> sets_of(const WorkloadMix& mix, int pods) {
  std::vector<ArrivingSet> sets;
  for (const auto& pod : problem_of(mix, kwok_types(), pods, kArrivalSeed).pods) {
    if (sets.empty() || sets.back().like->meta.labels != pod->meta.labels) {
      sets.push_back({.like = pod});
    }
    ++sets.back().replicas;
  }
  return sets;
}

json::value replica_set(const ArrivingSet& set, int replicas) {
  auto pod = model::encode(*set.like);
  for (auto& container : pod.at("spec").at("containers").as_array()) {
    container.as_object()["image"] = "registry.example/work";
  }
  const auto labels = model::encode(set.like->meta.labels);
  return json::object{
      {"apiVersion", "apps/v1"},
      {"kind", "ReplicaSet"},
      {"metadata",
       {{"name", set.like->meta.labels.at("app")}, {"namespace", set.like->meta.namespace_}}},
      {"spec",
       {{"replicas", replicas},
        {"selector", {{"matchLabels", labels}}},
        {"template", {{"metadata", {{"labels", labels}}}, {"spec", pod.at("spec")}}}}}};
}

app::EmbeddedOptions options_of(const Manner& manner, int rate) {
  app::EmbeddedOptions options;
  options.seed = kArrivalSeed;
  options.profiles = {cloud::Profile::Kwok};
  auto settings = cloud::default_settings(cloud::Profile::Kwok);
  settings.launch = {seconds(2), seconds(3), seconds(4)};
  settings.boot = {seconds(20), seconds(25), seconds(30)};
  options.settings[cloud::Profile::Kwok] = settings;
  if (manner.foresight) {
    options.world.replica_pods_per_second = rate;
  }
  if (!manner.drafts) {
    options.controllers.draft_idle = {};
    options.controllers.draft_max = {};
  }
  return options;
}

base::Result<> create_open_pool(sandbox::ApiServer& api) {
  MW_TRY(documents, model::parse_yaml(kOpenPool));
  for (const auto& document : documents) {
    const auto* resource = model::find_by_kind(std::string(document.at("apiVersion").as_string()),
                                               std::string(document.at("kind").as_string()));
    if (const auto created = api.create(*resource, document); !created) {
      return tl::unexpected(created.error());
    }
  }
  return {};
}

// With foresight a set is created whole, and its controller keeps the rate; without, the set grows
// by one replica whenever a pod is due.
base::Result<> add_pod(sandbox::ApiServer& api, const ArrivingSet& set, int number,
                       const Manner& manner) {
  base::Result<sandbox::Object> written;
  if (number == 1) {
    written = api.create(model::kReplicaSetResource,
                         replica_set(set, manner.foresight ? set.replicas : 1));
  } else if (!manner.foresight) {
    const model::ObjectKey key{set.like->meta.namespace_, set.like->meta.labels.at("app")};
    written = api.update(model::kReplicaSetResource, key, [number](json::value& object) {
      object.at("spec").as_object()["replicas"] = number;
    });
  }
  if (!written) {
    return tl::unexpected(written.error());
  }
  return {};
}

base::Result<> let_arrive(test::VirtualCluster& cluster, const std::vector<ArrivingSet>& sets,
                          const Manner& manner, int rate) {
  const auto begin = cluster.loop.now();
  std::int64_t before = 0;
  for (const auto& set : sets) {
    for (int number = 1; number <= set.replicas; ++number, ++before) {
      cluster.loop.run_until(begin + before * base::Duration(seconds(1)) / rate);
      const auto added = add_pod(cluster.cluster->world().api(), set, number, manner);
      if (!added) {
        return added;
      }
    }
  }
  return {};
}

bool all_bound(const sandbox::Recorder& recorder, std::size_t pods) {
  const auto& records = recorder.pods();
  return records.size() == pods &&
         std::all_of(records.begin(), records.end(),
                     [](const auto& item) { return item.second.bound.has_value(); });
}

base::Result<json::value> arrival_row(const WorkloadMix& mix, int pods, int rate,
                                      const Manner& manner) {
  test::VirtualCluster cluster(options_of(manner, rate));
  if (const auto created = create_open_pool(cluster.cluster->world().api()); !created) {
    return tl::unexpected(created.error());
  }
  cluster.loop.run_for(seconds(2));
  const auto begin = cluster.loop.now();
  const auto sets = sets_of(mix, pods);
  if (const auto arrived = let_arrive(cluster, sets, manner, rate); !arrived) {
    return tl::unexpected(arrived.error());
  }
  const auto& recorder = cluster.cluster->world().recorder();
  const auto count = static_cast<std::size_t>(pods);
  if (!cluster.loop.run_until([&] { return all_bound(recorder, count); }, minutes(10))) {
    return base::fail(base::ErrorKind::Internal,
                      "pods of " + mix.name + " were left without a node");
  }
  const std::chrono::duration<double> took = cluster.loop.now() - begin;
  const auto bought = test::bought_in(cluster);
  const auto at_once = test::plan_of_all(cluster);
  const std::string name = "kwok/" + mix.name;
  std::printf("%-22s %6d %6d %-13.*s %9.3f %9.3f %7.3f %6zu %8zu %8.1f\n", name.c_str(), pods, rate,
              static_cast<int>(manner.name.size()), manner.name.data(), bought.price, at_once.price,
              bought.price / at_once.price, bought.claims, at_once.claims, took.count());
  std::fflush(stdout);
  return json::object{{"workload", name},
                      {"pods", pods},
                      {"pods_per_second", rate},
                      {"manner", manner.name},
                      {"ours", bought.price},
                      {"at_once", at_once.price},
                      {"claims_ours", bought.claims},
                      {"claims_at_once", at_once.claims},
                      {"all_bound_seconds", took.count()}};
}

}  // namespace

base::Result<json::value> arrival(const ArrivalOptions& options) {
  std::printf("\n%-22s %6s %6s %-13s %9s %9s %7s %6s %8s %8s\n", "cost under arrival, $/h", "pods",
              "per s", "", "ours", "at once", "ratio", "nodes", "at once", "bound, s");
  json::array rows;
  for (const auto& mix : workload_mixes()) {
    if (std::find(kArrivingMixes.begin(), kArrivingMixes.end(), mix.name) == kArrivingMixes.end() ||
        ("kwok/" + mix.name).find(options.only) == std::string::npos) {
      continue;
    }
    for (const int pods : options.pods) {
      for (const int rate : kRates) {
        for (const auto& manner : kManners) {
          MW_TRY(row, arrival_row(mix, pods, rate, manner));
          rows.push_back(std::move(row));
        }
      }
    }
  }
  if (rows.empty()) {
    return base::fail(base::ErrorKind::Invalid, "no arriving workload is called " + options.only);
  }
  return rows;
}

}  // namespace millwright::scheduling::bench
