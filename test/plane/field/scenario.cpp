#include "plane/field/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace millwright::field {
namespace {

// `large`: any size of machine; `small`: 16 CPUs at most.
constexpr int kAnySize = 512;
constexpr int kSmall = 17;
constexpr int kFourCpus = 5;

// `cpus_below`: only machines with fewer CPUs. `edition` is a label of the template: another one
// drifts every node.
std::string node_pool(int cpus_below, int edition = 1) {
  return fmt::format(R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: default}}
spec:
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 0s
    budgets: [{{nodes: "100%"}}]
  template:
    metadata: {{labels: {{edition: e{1}}}}}
    spec:
      nodeClassRef: {{group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}
      requirements:
      - {{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}}
      - {{key: kubernetes.io/os, operator: In, values: [linux]}}
      - {{key: kubernetes.io/arch, operator: In, values: [amd64]}}
      - {{key: karpenter.kwok.sh/instance-cpu, operator: Lt, values: ["{0}"]}}
)",
                     cpus_below, edition);
}

std::string node_class(const std::string& registration_delay = "") {
  return "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: "
         "default}\n" +
         (registration_delay.empty()
              ? std::string()
              : "spec: {nodeRegistrationDelay: " + registration_delay + "}\n");
}

Phase pools(int cpus_below, const std::string& registration_delay = "") {
  return {.name = "",
          .steps = {{0, node_class(registration_delay) + "---\n" + node_pool(cpus_below)}}};
}

struct Work {
  std::string name = "work";
  int replicas = 0;
  std::string cpu = "1";
  std::string memory = "1Gi";
  std::string rules = "";  // YAML of the pod's spec, such as affinity; six spaces deep
  std::string strategy = "{}";
  int edition = 1;
};

std::string deployment(const Work& work) {
  return fmt::format(R"(apiVersion: apps/v1
kind: Deployment
metadata: {{name: {0}, namespace: default}}
spec:
  replicas: {1}
  selector: {{matchLabels: {{app: {0}}}}}
  strategy: {6}
  template:
    metadata: {{labels: {{app: {0}, edition: e{5}}}}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: main
        image: registry.k8s.io/pause:3.10
        resources: {{requests: {{cpu: "{2}", memory: {3}}}}}
{4})",
                     work.name, work.replicas, work.cpu, work.memory, work.rules, work.edition,
                     work.strategy);
}

std::string job(int number) {
  return fmt::format(R"(apiVersion: batch/v1
kind: Job
metadata: {{name: batch-{0}, namespace: default}}
spec:
  completions: 20
  parallelism: 20
  backoffLimit: 1000
  template:
    metadata:
      labels: {{app: batch}}
      annotations: {{pod-complete.stage.kwok.x-k8s.io/delay: 10s}}
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      containers:
      - name: main
        image: registry.k8s.io/pause:3.10
        resources: {{requests: {{cpu: "1", memory: 1Gi}}}}
)",
                     number);
}

Scenario burst(const std::string& name, int cpus_below, const std::string& about) {
  return {.name = name,
          .about = about,
          .phases = {pools(cpus_below),
                     {name, {{0, deployment({.replicas = 500})}}},
                     {name + "-500-to-100", {{0, deployment({.replicas = 100})}}}}};
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
          .phases = {pools(kSmall), phase}};
}

Scenario rolling_update() {
  const Work before{.replicas = 200, .strategy = "{rollingUpdate: {maxSurge: 25%}}"};
  Work after = before;
  after.edition = 2;
  return {.name = "rolling-update",
          .about = "200 pods replaced, a quarter at a time",
          .phases = {pools(kSmall),
                     {"", {{0, deployment(before)}}},
                     {"rolling-update", {{0, deployment(after)}}}}};
}

Scenario jobs() {
  constexpr int kJobs = 10;
  Phase phase{.name = "jobs", .steps = {}};
  for (int i = 0; i < kJobs; ++i) {
    phase.steps.push_back({30.0 * i, job(i)});
  }
  return {.name = "jobs",
          .about = "a Job of 20 pods every 30 s for five minutes",
          .phases = {pools(kSmall), phase}};
}

Scenario random_walk() {
  constexpr double kLength = 600;
  std::mt19937 random(7);  // the same walk for both sides
  std::vector<int> replicas{40, 40, 40};
  Phase phase{.name = "random-walk", .steps = {}};
  const std::vector<std::string> cpus{"500m", "1", "2"};
  for (double at = 0; at < kLength; at += 2 + static_cast<double>(random() % 5)) {
    const auto which = random() % replicas.size();
    const int move = static_cast<int>(random() % 41) - 20;
    replicas[which] = std::clamp(replicas[which] + move, 0, 120);
    phase.steps.push_back({at, deployment({.name = fmt::format("walk-{}", which),
                                           .replicas = replicas[which],
                                           .cpu = cpus[which]})});
  }
  return {.name = "random-walk",
          .about = "replicas of three Deployments walk for ten minutes",
          .phases = {pools(kSmall), phase}};
}

Scenario drift() {
  const std::string apart = R"(      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: work}}}
)";
  return {.name = "drift",
          .about = "a NodePool edit that drifts 40 nodes",
          .phases = {pools(kFourCpus),
                     {"", {{0, deployment({.replicas = 40, .rules = apart})}}},
                     {"drift", {{0, node_pool(kFourCpus, 2)}}}}};
}

Scenario spread() {
  const auto over = [](const std::string& key, const std::string& app) {
    return "      topologySpreadConstraints:\n      - {maxSkew: 1, topologyKey: " + key +
           ", whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: " + app +
           "}}}\n";
  };
  const std::string apart = R"(      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: apart}}}
)";
  const std::string zone = "topology.kubernetes.io/zone";
  return {
      .name = "spread",
      .about = "zone spread, host spread and anti-affinity with 300 pods",
      .phases = {
          pools(kSmall),
          {"spread",
           {{0, deployment({.name = "zones", .replicas = 160, .rules = over(zone, "zones")}) +
                    "---\n" +
                    deployment({.name = "hosts",
                                .replicas = 100,
                                .cpu = "500m",
                                .rules = over("kubernetes.io/hostname", "hosts")}) +
                    "---\n" + deployment({.name = "apart", .replicas = 40, .rules = apart})}}}}};
}

Scenario slow_boot() {
  return {.name = "slow-boot",
          .about = "500 pods, nodes that take 30 s to boot",
          .phases = {pools(kSmall, "30s"), {"slow-boot", {{0, deployment({.replicas = 500})}}}}};
}

Scenario default_manager() {
  return {.name = "default-manager",
          .about = "500 pods, kube-controller-manager at its default 20 requests a second",
          .manager_qps = 20,
          .phases = {pools(kSmall), {"default-manager", {{0, deployment({.replicas = 500})}}}}};
}

}  // namespace

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all{
      burst("burst-large", kAnySize, "500 pods of one Deployment, then 100; any size of machine"),
      burst("burst-small", kSmall, "the same, machines of 16 CPUs at most"),
      mixed_deployments(),
      rolling_update(),
      jobs(),
      random_walk(),
      drift(),
      spread(),
      slow_boot(),
      default_manager()};
  return all;
}

}  // namespace millwright::field
