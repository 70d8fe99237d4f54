#include "bench/day/played_cluster.hpp"

#include "disruption/methods/consolidation/consolidation.hpp"
#include "disruption/methods/methods.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace millwright::bench {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kSeed = 42;

constexpr std::string_view kPool = R"(
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
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 0s
    budgets: [{{nodes: "{}"}}]
)";

template <class Outcome>
void must(const Outcome& outcome) {
  if (!outcome) {
    throw std::runtime_error(outcome.error().message);
  }
}

// Emptiness, then Karpenter's consolidation. Hysteresis, nodes that wait for each other and what a
// node costs beside its instance are ours alone; Options::settle_time stays, as Karpenter validates
// a decision 15 s after it.
disruption::Decisions decide_as_karpenter(const disruption::Input& ours) {
  auto input = ours;
  input.settle_times.clear();
  input.idle_times.clear();
  input.options.settle_together = {};
  input.options.node_overhead = 0;
  // Nobody asks here why a node stays.
  disruption::Decisions decisions;
  disruption::Survey survey(input, {});
  auto command = disruption::remove_empty(survey);
  if (!command) {
    command = disruption::consolidate_as_karpenter(survey);
  }
  if (command) {
    decisions.commands.push_back(*std::move(command));
  }
  return decisions;
}

disruption::Decisions shown(disruption::Decisions decisions) {
  for (const auto& command : decisions.commands) {
    std::printf("  %zu pods %s\n", command.placements.size(), command.summary.c_str());
  }
  return decisions;
}

app::EmbeddedOptions embedded(const PlayOptions& options) {
  app::EmbeddedOptions result;
  result.seed = kSeed;
  result.profiles = {cloud::Profile::Kwok};
  if (options.side == Side::Peer) {
    result.controllers.decide = decide_as_karpenter;
  }
  if (options.show_commands) {
    result.controllers.decide = [decide = result.controllers.decide](const auto& input) {
      return shown(decide(input));
    };
  }
  return result;
}

}  // namespace

PlayedCluster::PlayedCluster(const PlayOptions& options) : cluster_(embedded(options)) {
  const auto documents = model::parse_yaml(fmt::format(kPool, options.cpus_below, options.budget));
  must(documents);
  for (const auto& document : *documents) {
    const auto* resource = model::find_by_kind(std::string(document.at("apiVersion").as_string()),
                                               std::string(document.at("kind").as_string()));
    must(cluster_.cluster->world().api().create(*resource, document));
  }
}

void PlayedCluster::deploy(const PlayedWork& work, int replicas) {
  const json::object requests{{"cpu", std::to_string(work.milli_cpu) + "m"},
                              {"memory", std::to_string(work.mebibytes) + "Mi"}};
  const json::array containers{json::object{
      {"name", "app"}, {"image", "registry.example/app"}, {"resources", {{"requests", requests}}}}};
  must(cluster_.cluster->world().api().create(
      model::kDeploymentResource, {{"apiVersion", "apps/v1"},
                                   {"kind", "Deployment"},
                                   {"metadata", {{"name", work.name}, {"namespace", "default"}}},
                                   {"spec",
                                    {{"replicas", replicas},
                                     {"selector", {{"matchLabels", {{"app", work.name}}}}},
                                     {"template",
                                      {{"metadata", {{"labels", {{"app", work.name}}}}},
                                       {"spec", {{"containers", containers}}}}}}}}));
}

void PlayedCluster::scale(const std::string& deployment, int replicas) {
  must(cluster_.cluster->world().api().update(
      model::kDeploymentResource, {.namespace_ = "default", .name = deployment},
      [replicas](json::value& object) { object.at("spec").as_object()["replicas"] = replicas; }));
}

double PlayedCluster::evictions() const {
  return cluster_.cluster->metrics().value("karpenter_pods_eviction_requests_total",
                                           {{"code", "200"}});
}

scheduling::InstanceTypes PlayedCluster::types() {
  return cluster_.cluster->cloud(cloud::Profile::Kwok)
      ->instance_types(model::NodePool{}, model::NodeClass{})
      .value();
}

}  // namespace millwright::bench
