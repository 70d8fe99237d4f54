#include "plane/runner/plane_with_nodes.hpp"

#include "plane/runner/controller.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace millwright::plane {
namespace {

constexpr auto kNodesLimit = seconds(300);
// Thousands of heartbeats would be most of what the machine does.
constexpr auto kRareLease = std::chrono::hours(4);

json::value node_of(int number) {
  const json::object room{{"cpu", "16"}, {"memory", "64Gi"}, {"pods", "110"}};
  const std::string name = name_of_node(number);
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata",
           {{"name", name},
            {"labels",
             {{"kubernetes.io/hostname", name},
              {"kwok.x-k8s.io/node", "fake"},
              {"topology.kubernetes.io/zone", fmt::format("zone-{}", number % 3)}}},
            {"annotations", {{"kwok.x-k8s.io/node", "fake"}}}}},
          {"spec", {{"providerID", "bench://" + name}}},
          {"status",
           {{"capacity", room},
            {"allocatable", room},
            {"conditions", json::array{{{"type", "Ready"}, {"status", "True"}}}}}}};
}

bool is_ready_node(const json::value& node) {
  const std::string text = json::serialize(node);
  return text.find(R"("type":"Ready","status":"True")") != std::string::npos ||
         text.find(R"("status":"True","type":"Ready")") != std::string::npos;
}

bool all_ready(Plane& plane, int count) {
  const auto nodes = plane.list("/api/v1/nodes");
  return nodes.size() >= static_cast<std::size_t>(count) &&
         std::all_of(nodes.begin(), nodes.end(), is_ready_node);
}

}  // namespace

std::string name_of_node(int number) {
  return fmt::format("node-{:05}", number);
}

json::value small_pod(const std::string& name) {
  const json::object container{
      {"name", "main"},
      {"image", "registry.k8s.io/pause:3.10"},
      {"resources", {{"requests", {{"cpu", "100m"}, {"memory", "64Mi"}}}}}};
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"namespace", "default"}, {"labels", {{"app", "bench"}}}}},
          {"spec", {{"containers", json::array{container}}}}};
}

base::Result<std::unique_ptr<Plane>> start_plane_with_nodes(int count) {
  PlaneOptions options;
  // No controller manager runs: nobody makes ServiceAccounts or takes the first taints off.
  options.api_server_flags = {"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition"};
  MW_TRY(plane, Plane::start(std::move(options)));
  auto done = apply_crds(*plane);
  done = done ? plane->start_kwok(kRareLease) : done;
  if (!done) {
    return tl::unexpected(std::move(done).error());
  }
  for (int i = 0; i < count; ++i) {
    plane->call("POST", "/api/v1/nodes", node_of(i));
  }
  if (!wait_until(kNodesLimit, [&] { return all_ready(*plane, count); })) {
    return base::fail(base::ErrorKind::Timeout, "the nodes are not Ready");
  }
  // What kubelets would write of their pods competes with kube-scheduler for the machine.
  plane->stop("kwok");
  return plane;
}

}  // namespace millwright::plane
