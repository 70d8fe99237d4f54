#include "plane/field/scenarios.hpp"

#include "plane/field/manifests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace millwright::field {
namespace {

// For node_pool(): machines of any size, of 16 CPUs at most, of 4 at most.
constexpr int kAnySize = 512;
constexpr int kSmall = 17;
constexpr int kFourCpus = 5;

std::string pools(int cpus_below, const std::string& registration_delay = "") {
  return node_class(registration_delay) + "---\n" + node_pool(cpus_below);
}

Scenario burst(const std::string& name, int cpus_below, const std::string& about) {
  return {.name = name,
          .about = about,
          .pools = pools(cpus_below),
          .phases = {{.name = name, .steps = {{0, deployment({.replicas = 500})}}},
                     {.name = name + "-500-to-100",
                      .steps = {{0, deployment({.replicas = 100})}},
                      .begins_without_room = false}}};
}

Scenario mixed_deployments() {
  Phase phase{.name = "mixed-arrival", .steps = {}};
  const std::vector<Work> works{{.name = "api", .replicas = 60, .cpu = "500m", .memory = "512Mi"},
                                {.name = "web", .replicas = 80, .cpu = "250m", .memory = "256Mi"},
                                {.name = "cache", .replicas = 12, .cpu = "1", .memory = "8Gi"},
                                {.name = "index", .replicas = 10, .cpu = "4", .memory = "16Gi"},
                                {.name = "queue", .replicas = 30, .cpu = "750m", .memory = "1Gi"},
                                {.name = "stream", .replicas = 24, .cpu = "1500m", .memory = "3Gi"},
                                {.name = "model", .replicas = 6, .cpu = "7", .memory = "12Gi"},
                                {.name = "cron", .replicas = 50, .cpu = "100m", .memory = "128Mi"},
                                {.name = "proxy", .replicas = 40, .cpu = "300m", .memory = "2Gi"},
                                {.name = "report", .replicas = 20, .cpu = "2", .memory = "4Gi"}};
  for (std::size_t i = 0; i < works.size(); ++i) {
    phase.steps.push_back({0.5 * static_cast<double>(i), deployment(works[i])});
  }
  return {.name = "mixed-arrival",
          .about = "ten Deployments of different shapes within five seconds",
          .pools = pools(kSmall),
          .phases = {phase}};
}

Scenario rolling_update() {
  const Work before{.replicas = 200, .strategy = "{rollingUpdate: {maxSurge: 25%}}"};
  Work after = before;
  after.edition = 2;
  return {
      .name = "rolling-update",
      .about = "200 pods replaced, a quarter at a time",
      .pools = pools(kSmall),
      .phases = {
          {.name = "rolling-update-before", .steps = {{0, deployment(before)}}, .measured = false},
          {.name = "rolling-update",
           .steps = {{0, deployment(after)}},
           .begins_without_room = false}}};
}

Scenario jobs(double minutes) {
  constexpr double kEvery = 30;
  Phase phase{.name = "jobs", .steps = {}};
  for (int i = 0; kEvery * i < 60 * minutes; ++i) {
    phase.steps.push_back({kEvery * i, job(i)});
  }
  return {.name = "jobs",
          .about = "a Job of 20 pods that run ten seconds, every 30 s for five minutes",
          .pools = pools(kSmall),
          .phases = {phase}};
}

Scenario random_walk(double minutes) {
  std::mt19937 random(7);  // the same walk for both sides
  std::vector<int> replicas{40, 40, 40};
  const std::vector<std::string> cpus{"500m", "1", "2"};
  const auto walked = [&](std::size_t which) {
    return deployment(
        {.name = fmt::format("walk-{}", which), .replicas = replicas[which], .cpu = cpus[which]});
  };
  Phase phase{.name = "random-walk",
              .steps = {{0, walked(0) + "---\n" + walked(1) + "---\n" + walked(2)}}};
  const auto pause = [&] { return 2 + static_cast<double>(random() % 5); };
  for (double at = pause(); at < 60 * minutes; at += pause()) {
    const auto which = random() % replicas.size();
    const int move = static_cast<int>(random() % 41) - 20;
    replicas[which] = std::clamp(replicas[which] + move, 0, 120);
    phase.steps.push_back({at, walked(which)});
  }
  return {.name = "random-walk",
          .about = "replicas of three Deployments walk for ten minutes",
          .pools = pools(kSmall),
          .phases = {phase}};
}

Scenario drift() {
  return {.name = "drift",
          .about = "a NodePool edit that drifts 40 nodes; its budget is 100 %",
          .pools = pools(kFourCpus),
          .phases = {{.name = "drift-before",
                      .steps = {{0, deployment({.replicas = 40, .rules = kept_apart("work")})}},
                      .measured = false},
                     {.name = "drift",
                      .steps = {{0, node_pool(kFourCpus, 2)}},
                      .begins_without_room = false}}};
}

Scenario spread() {
  const std::string objects =
      deployment({.name = "zones",
                  .replicas = 160,
                  .rules = spread_over("topology.kubernetes.io/zone", "zones")}) +
      "---\n" +
      deployment({.name = "hosts",
                  .replicas = 100,
                  .cpu = "500m",
                  .rules = spread_over("kubernetes.io/hostname", "hosts")}) +
      "---\n" + deployment({.name = "apart", .replicas = 40, .rules = kept_apart("apart")});
  return {.name = "spread",
          .about = "zone spread, host spread and anti-affinity with 300 pods",
          .pools = pools(kSmall),
          .phases = {{.name = "spread", .steps = {{0, objects}}}}};
}

Scenario slow_boot() {
  return {.name = "slow-boot",
          .about = "500 pods, nodes that take 30 s to boot",
          .pools = pools(kSmall, "30s"),
          .phases = {{.name = "slow-boot", .steps = {{0, deployment({.replicas = 500})}}}}};
}

Scenario default_manager() {
  return {.name = "default-manager",
          .about = "500 pods, kube-controller-manager at its default 20 requests a second",
          .manager_qps = 20,
          .pools = pools(kSmall),
          .phases = {{.name = "default-manager", .steps = {{0, deployment({.replicas = 500})}}}}};
}

}  // namespace

std::vector<Scenario> scenarios(std::optional<double> minutes) {
  return {burst("burst-large", kAnySize, "500 pods, then 100; machines of any size"),
          burst("burst-small", kSmall, "500 pods, then 100; machines of 16 CPUs at most"),
          mixed_deployments(),
          rolling_update(),
          jobs(minutes.value_or(5)),
          random_walk(minutes.value_or(10)),
          drift(),
          spread(),
          slow_boot(),
          default_manager()};
}

}  // namespace millwright::field
