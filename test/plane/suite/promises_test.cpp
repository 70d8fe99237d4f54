// Promises 1 and 2 under the real scheduler: rolling updates of a Deployment that spreads over
// hosts, with a stream of small unrelated pods in between. MILLWRIGHT_ROUNDS and
// MILLWRIGHT_ROUND_PODS make it longer and larger (20 rounds of 500 are what counts),
// MILLWRIGHT_ROUND_SKEW=1 gives every pod a node of its own.

#include "millwright/base/random.hpp"
#include "plane/suite/facts.hpp"
#include "plane/suite/fixture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sstream>

namespace millwright::plane {
namespace {

int setting(const char* name, int fallback) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? fallback : std::atoi(value);
}

// The planner treats a preferred spread as a required one while it can, as Karpenter does, and a
// new node is always an empty domain: maxSkew is how many of the pods a node gets. The default
// makes about sixty nodes of any number of pods, which two cores can play.
std::string spread(int pods) {
  return fmt::format(
      "      topologySpreadConstraints:\n"
      "      - {{maxSkew: {}, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: "
      "ScheduleAnyway, labelSelector: {{matchLabels: {{app: web}}}}}}\n",
      setting("MILLWRIGHT_ROUND_SKEW", std::max(1, pods / 60)));
}

std::string web(int replicas, int round) {
  return deployment({.name = "web",
                     .replicas = replicas,
                     .cpu = "500m",
                     .pod_spec = spread(replicas),
                     .pod_annotations = fmt::format("{{round: \"{}\"}}", round)});
}

json::value stray_pod(const std::string& name) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"labels", {{"app", "stray"}}}}},
          {"spec",
           {{"containers", json::array{{{"name", "main"},
                                        {"image", "registry.k8s.io/pause:3.10"},
                                        {"resources", {{"requests", {{"cpu", "50m"}}}}}}}}}}};
}

// What we see comes late in a third of the rounds; what the scheduler sees does not.
bool is_late(int seed) {
  return seed % 3 == 0;
}

std::unique_ptr<Cluster> start_cluster(bool extender, bool late) {
  ClusterOptions options;
  options.cloud = std::vector<std::string>{"--launch=1s", "--boot=2s"};
  options.extender = extender;
  if (late) {
    options.faults = ProxyFaults{.watch_delay = milliseconds(2'000)};
  }
  auto cluster = Cluster::start(std::move(options));
  if (cluster != nullptr) {
    cluster->apply(node_pool("default", "5s"));
  }
  return cluster;
}

std::int64_t number_at(const json::value& object, std::string_view pointer) {
  boost::system::error_code none;
  const auto* found = object.find_pointer(pointer, none);
  return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

// All pods are of the newest template and run, and no older one is left. Asks for one object: lists
// of 500 pods, over and over, would be most of the load.
bool is_rolled_out(Plane& plane, int pods) {
  const auto web = plane.call("GET", "/apis/apps/v1/namespaces/default/deployments/web").body;
  return number_at(web, "/status/observedGeneration") == number_at(web, "/metadata/generation") &&
         number_at(web, "/status/updatedReplicas") == pods &&
         number_at(web, "/status/replicas") == pods &&
         number_at(web, "/status/availableReplicas") == pods;
}

// Why room that was reserved went unused, so far: what a broken promise is looked into with.
std::string void_reservations(Controller& controller) {
  std::istringstream page(controller.metrics());
  std::string text;
  for (std::string line; std::getline(page, line);) {
    text += line.starts_with("millwright_reservations_void_total") ? line + "\n" : "";
  }
  return text;
}

// One round: a Deployment comes, is rolled over twice with small pods in between, and goes.
PromiseCounts play(Cluster& cluster, int seed, int pods) {
  auto& plane = cluster.plane();
  Facts facts(plane.kubeconfig());
  const double elsewhere = cluster.controller().metric("millwright_pods_placed_elsewhere_total");
  base::Random random(static_cast<std::uint64_t>(seed));
  int strays = 0;
  for (int update = 0; update <= 2; ++update) {
    cluster.apply(web(pods, update));
    cluster.wait("the update is through", seconds(240), [&] {
      if (update > 0 && random.below(6) == 0) {
        const std::string name = fmt::format("stray-{}-{}", seed, ++strays);
        plane.call("POST", std::string(kPods), stray_pod(name));
      }
      return is_rolled_out(plane, pods);
    });
  }
  cluster.kubectl({"delete", "deployment", "web"});
  // Where the machine is busy, the API server may give a collection up half-way.
  const std::string stray_pods = std::string(kPods) + "?labelSelector=app%3Dstray";
  cluster.wait("the small pods are deleted", seconds(60), [&] {
    plane.call("DELETE", stray_pods);
    return plane.list(stray_pods).empty();
  });
  cluster.wait_no_nodes("default", seconds(240));
  cluster.wait("no pod is left", seconds(60),
               [&] { return plane.list(std::string(kPods)).empty(); });
  auto counts = facts.count();
  counts.elsewhere = static_cast<std::size_t>(
      cluster.controller().metric("millwright_pods_placed_elsewhere_total") - elsewhere);
  if (counts.died_unused > 0) {
    counts.details += void_reservations(cluster.controller());
  }
  return counts;
}

void add(PromiseCounts& sum, const PromiseCounts& more) {
  sum.planned += more.planned;
  sum.elsewhere += more.elsewhere;
  sum.nodes += more.nodes;
  sum.died_unused += more.died_unused;
  sum.bound_closed += more.bound_closed;
  sum.details += more.details;
}

void print(const std::string& what, const PromiseCounts& counts) {
  std::printf(
      "%s: %zu pods with a plan, %zu elsewhere; %zu nodes gone, %zu unused; %zu pods bound to a "
      "closed node\n",
      what.c_str(), counts.planned, counts.elsewhere, counts.nodes, counts.died_unused,
      counts.bound_closed);
  std::fflush(stdout);
}

// Rounds share a cluster, which each leaves empty: those with late watches have their own.
PromiseCounts play_rounds(bool extender) {
  PromiseCounts sum;
  const int rounds = setting("MILLWRIGHT_ROUNDS", 1);
  const int pods = setting("MILLWRIGHT_ROUND_PODS", 60);
  for (const bool late : {false, true}) {
    std::unique_ptr<Cluster> cluster;
    for (int seed = 1; seed <= rounds && !testing::Test::HasFailure(); ++seed) {
      if (is_late(seed) != late) {
        continue;
      }
      cluster = cluster == nullptr ? start_cluster(extender, late) : std::move(cluster);
      if (cluster == nullptr) {
        break;
      }
      const auto begun = std::chrono::steady_clock::now();
      const auto counts = play(*cluster, seed, pods);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
      print(fmt::format("round {}{} ({:.0f} s)", seed, late ? ", watches 2 s late" : "",
                        took.count()),
            counts);
      add(sum, counts);
    }
  }
  print(extender ? "with the extender" : "without", sum);
  return sum;
}

TEST(Promises, AreKeptWhileDeploymentsRoll) {
  const auto counts = play_rounds(true);
  EXPECT_GT(counts.planned, 0U);
  EXPECT_GT(counts.nodes, 0U);
  // One in a hundred: the scheduler may have been about to bind a pod as it was planned.
  EXPECT_LE(counts.elsewhere, (counts.planned + 99) / 100) << counts.details;
  EXPECT_EQ(counts.died_unused, 0U) << counts.details;
  EXPECT_EQ(counts.bound_closed, 0U) << counts.details;
}

// Not a promise but what it is compared with: the same load, the extender unwired.
TEST(Promises, AreCountedWithoutTheExtender) {
  if (setting("MILLWRIGHT_COMPARE", 0) == 0) {
    GTEST_SKIP() << "MILLWRIGHT_COMPARE=1 counts the same without the extender";
  }
  EXPECT_GT(play_rounds(false).planned, 0U);
}

}  // namespace
}  // namespace millwright::plane
