#include "cloud/huawei/launch/node_body.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>

namespace millwright::cloud::huawei {
namespace {

namespace json = boost::json;

// CCE's node controller sets it itself and takes it away once the network is there.
constexpr std::string_view kNetworkTaint = "node.kubernetes.io/network-unavailable";
constexpr std::size_t kLongestLabelValue = 63;

json::object volume(const Disk& disk) {
  json::object result{{"size", disk.gib}, {"volumetype", disk.type}};
  if (const auto iops = disk.iops) {
    result["iops"] = *iops;
  }
  if (const auto throughput = disk.throughput) {
    result["throughput"] = *throughput;
  }
  return result;
}

json::array data_volumes(const NodeClassSpec& spec) {
  json::array volumes{volume(spec.k8s)};
  for (const auto& disk : spec.users) {
    volumes.push_back(volume(disk));
  }
  return volumes;
}

// Nine tenths of the k8s disk are the runtime's, one tenth the kubelet's: what ephemeral storage is
// computed from.
json::object storage(const Disk& k8s) {
  json::object match{{"size", std::to_string(k8s.gib)}, {"volumeType", k8s.type}, {"count", "1"}};
  if (const auto iops = k8s.iops) {
    match["iops"] = std::to_string(*iops);
  }
  if (const auto throughput = k8s.throughput) {
    match["throughput"] = std::to_string(*throughput);
  }
  const json::object runtime{
      {"name", "runtime"}, {"size", "90%"}, {"runtimeConfig", json::object{{"lvType", "linear"}}}};
  const json::object kubernetes{
      {"name", "kubernetes"}, {"size", "10%"}, {"lvmConfig", json::object{{"lvType", "linear"}}}};
  return {{"storageSelectors",
           json::array{json::object{
               {"name", "k8s-data"}, {"storageType", "evs"}, {"matchLabels", std::move(match)}}}},
          {"storageGroups",
           json::array{json::object{{"name", "vgpaas"},
                                    {"cceManaged", true},
                                    {"selectorNames", json::array{"k8s-data"}},
                                    {"virtualSpaces", json::array{runtime, kubernetes}}}}}};
}

json::object login(const NodeClassSpec& spec) {
  if (!spec.ssh_key.empty()) {
    return {{"sshKey", spec.ssh_key}};
  }
  return {{"userPassword", json::object{{"username", spec.user}, {"password", spec.password}}}};
}

// Each resource in CCE's own unit, as the schema's rules make sure that it can be.
void add_reserved(json::object& extend, std::string_view whose,
                  const model::ResourceList& reserved) {
  struct Unit {
    std::string_view resource;
    std::string_view suffix;
    std::int64_t milli;
  };
  constexpr std::int64_t kOneUnit = 1000;
  constexpr std::array<Unit, 4> kReservedUnits{
      {{"cpu", "ReservedCpu", 1},
       {"memory", "ReservedMem", kOneUnit << 20U},
       {"pid", "ReservedPid", kOneUnit},
       {"ephemeral-storage", "ReservedStorage", kOneUnit << 30U}}};
  for (const auto& unit : kReservedUnits) {
    if (const auto found = reserved.find(unit.resource); found != reserved.end()) {
      extend[std::string(whose).append(unit.suffix)] = found->second.milli() / unit.milli;
    }
  }
}

json::object extend_param(const NodeClassSpec& spec, bool spot) {
  json::object extend;
  if (spot) {
    extend["marketType"] = "spot";
  }
  if (const auto pods = spec.max_pods) {
    extend["maxPods"] = *pods;
  }
  add_reserved(extend, "kube", spec.kube_reserved);
  add_reserved(extend, "system", spec.system_reserved);
  return extend;
}

json::array taints(const model::NodeClaim& claim) {
  std::vector<model::Taint> all{{.key = std::string(model::kUnregisteredTaint),
                                 .value = {},
                                 .effect = "NoExecute",
                                 .time_added = {}}};
  all.insert(all.end(), claim.startup_taints.begin(), claim.startup_taints.end());
  all.insert(all.end(), claim.taints.begin(), claim.taints.end());
  json::array result;
  std::vector<std::pair<std::string, std::string>> seen;
  for (const auto& taint : all) {
    std::pair<std::string, std::string> what{taint.key, taint.effect};
    if (taint.key == kNetworkTaint || std::find(seen.begin(), seen.end(), what) != seen.end()) {
      continue;
    }
    seen.push_back(std::move(what));
    result.push_back(
        json::object{{"key", taint.key}, {"value", taint.value}, {"effect", taint.effect}});
  }
  return result;
}

json::object tags(const model::NodeClaim& claim, bool spot) {
  json::object result{{kClaimUidTag, claim.meta.uid}};
  if (spot) {
    result[model::kCapacityTypeLabel] = model::kSpot;
  }
  if (claim.meta.name.size() <= kLongestLabelValue) {
    result[kClaimTag] = claim.meta.name;
  }
  if (const auto pool = claim.meta.label(model::kNodePoolLabel); !pool.empty()) {
    result[model::kNodePoolLabel] = pool;
  }
  return result;
}

}  // namespace

json::value node_body(const NodeOrder& order, const model::NodeClaim& claim,
                      const NodeClassSpec& spec) {
  json::object node{
      {"flavor", order.flavor},
      {"az", order.zone},
      {"os", spec.ims_family},
      {"login", login(spec)},
      {"count", 1},
      {"billingMode", 0},
      {"rootVolume", volume(spec.root)},
      {"dataVolumes", data_volumes(spec)},
      {"storage", storage(spec.k8s)},
      {"runtime", json::object{{"name", spec.runtime}}},
      {"offloadNode", true},
      {"nodeNicSpec", json::object{{"primaryNic", json::object{{"subnetId", order.subnet}}}}},
      {"taints", taints(claim)},
      {"k8sTags", tags(claim, order.spot)}};
  if (!spec.server_group.empty()) {
    node["ecsGroupId"] = spec.server_group;
  }
  if (auto extend = extend_param(spec, order.spot); !extend.empty()) {
    node["extendParam"] = std::move(extend);
  }
  return json::object{{"kind", "Node"}, {"apiVersion", "v3"}, {"spec", std::move(node)}};
}

}  // namespace millwright::cloud::huawei
