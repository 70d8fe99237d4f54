#include "burst_world.hpp"

#include "millwright/cluster/ledger.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <set>

namespace millwright::test {

namespace json = boost::json;

std::vector<std::uint64_t> seeds_of(std::uint64_t block) {
  if (const char* one = std::getenv("MILLWRIGHT_BURST_SEED"); one != nullptr) {
    return std::vector<std::uint64_t>(block == 0 ? 1 : 0, std::strtoull(one, nullptr, 10));
  }
  std::vector<std::uint64_t> seeds(kSeedsPerBlock);
  std::iota(seeds.begin(), seeds.end(), block * kSeedsPerBlock + 1);
  return seeds;
}

void tell(std::uint64_t seed, std::string_view what, const std::string& name) {
  std::printf("seed %llu: %.*s: %s\n", static_cast<unsigned long long>(seed),
              static_cast<int>(what.size()), what.data(), name.c_str());
}

double draw_pods_per_second(base::Random& random) {
  return 5 * std::pow(100, random.unit());
}

json::value container(int milli_cpu, int mebibytes) {
  return json::array{json::object{{"name", "work"},
                                  {"image", "registry.example/work"},
                                  {"resources",
                                   {{"requests",
                                     {{"cpu", std::to_string(milli_cpu) + "m"},
                                      {"memory", std::to_string(mebibytes) + "Mi"}}}}}}};
}

json::value deployment(const std::string& name, int replicas, int milli_cpu, int mebibytes) {
  return {{"apiVersion", "apps/v1"},
          {"kind", "Deployment"},
          {"metadata", {{"name", name}, {"namespace", "default"}}},
          {"spec",
           {{"replicas", replicas},
            {"selector", {{"matchLabels", {{"app", name}}}}},
            {"template",
             {{"metadata", {{"labels", {{"app", name}}}}},
              {"spec", {{"containers", container(milli_cpu, mebibytes)}}}}}}}};
}

std::string kwok_pool(int cpus_below, std::string_view disruption) {
  return fmt::format(R"(
apiVersion: karpenter.kwok.sh/v1alpha1
kind: KWOKNodeClass
metadata: {{name: default}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: default}}
spec:
  template:
    spec:
      nodeClassRef: {{group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}
      requirements:
        - {{key: kubernetes.io/os, operator: In, values: [linux]}}
        - {{key: kubernetes.io/arch, operator: In, values: [amd64]}}
        - {{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}}
        - {{key: karpenter.kwok.sh/instance-cpu, operator: Lt, values: ["{}"]}}
  disruption: {}
)",
                     cpus_below, disruption);
}

void create_pool(VirtualCluster& cluster, std::string_view manifest) {
  const auto documents = model::parse_yaml(manifest);
  ASSERT_TRUE(documents);
  for (const auto& document : *documents) {
    const auto* resource = model::find_by_kind(std::string(document.at("apiVersion").as_string()),
                                               std::string(document.at("kind").as_string()));
    create(cluster, *resource, document);
  }
}

void create(VirtualCluster& cluster, const model::Resource& resource, json::value object) {
  const auto created = cluster.cluster->world().api().create(resource, std::move(object));
  ASSERT_TRUE(created) << created.error().message;
}

void scale(VirtualCluster& cluster, const std::string& deployment, int replicas) {
  const auto updated = cluster.cluster->world().api().update(
      model::kDeploymentResource, {.namespace_ = "default", .name = deployment},
      [replicas](json::value& object) { object.at("spec").as_object()["replicas"] = replicas; });
  ASSERT_TRUE(updated) << updated.error().message;
}

void drift_all_nodes(VirtualCluster& cluster) {
  const auto edited = cluster.cluster->world().api().update(
      model::kNodePoolResource, {.namespace_ = {}, .name = "default"}, [](json::value& pool) {
        auto& pod_template = pool.at("spec").at("template").as_object();
        pod_template["metadata"] = json::object{{"labels", json::object{{"generation", "2"}}}};
      });
  ASSERT_TRUE(edited) << edited.error().message;
}

void settle(VirtualCluster& cluster) {
  cluster.loop.run_for(std::chrono::minutes(10));
  const auto& recorder = cluster.cluster->world().recorder();
  EXPECT_TRUE(cluster.loop.run_until([&] { return all_run(recorder); }, std::chrono::minutes(5)));
}

std::size_t claims_for_demand(VirtualCluster& cluster) {
  return static_cast<std::size_t>(cluster.cluster->metrics().value(
      "karpenter_nodeclaims_created_total",
      {{"reason", "provisioned"}, {"nodepool", "default"}, {"min_values_relaxed", "false"}}));
}

bool all_run(const sandbox::Recorder& recorder) {
  const auto& pods = recorder.pods();
  return std::all_of(pods.begin(), pods.end(),
                     [](const auto& item) { return item.second.gone || item.second.running; });
}

struct SurplusWatch::State {
  cluster::State& cluster;
  base::Loop& loop;
  base::TimePoint begin;
  std::set<std::string, std::less<>> groups;
  std::vector<std::string> found;
  std::size_t looks = 0;

  void look() {
    const auto sight = cluster.sight();
    if (!sight.snapshot->synced) {
      return;
    }
    for (const auto& [text, targets] : sight.ledger->targets_by_group) {
      ++looks;
      const scheduling::GroupId group(text);
      const auto* const demand = scheduling::find_demand(sight.snapshot->demand, group);
      const auto most = demand == nullptr ? 0 : demand->most_reserved();
      const auto reserved = sight.ledger->reserved(group);
      if (group.is_whole_owner() || reserved <= most || !groups.insert(text).second) {
        continue;
      }
      const std::chrono::duration<double> since = loop.now() - begin;
      found.push_back(text + " needs " + std::to_string(most) + " and has " +
                      std::to_string(reserved) + " reserved on " + std::to_string(targets.size()) +
                      " targets, after " + std::to_string(since.count()) + " s");
    }
  }
};

SurplusWatch::SurplusWatch(VirtualCluster& cluster)
    : state_(std::make_shared<State>(
          State{cluster.cluster->engine().state(), cluster.loop, cluster.loop.now(), {}, {}, 0})) {
  // The cluster outlives the watch by its last events.
  state_->cluster.on_change(
      [state = state_](cluster::Kind, const model::ObjectKey&) { state->look(); });
}

const std::vector<std::string>& SurplusWatch::found() const {
  return state_->found;
}

std::size_t SurplusWatch::looks() const {
  return state_->looks;
}

}  // namespace millwright::test
