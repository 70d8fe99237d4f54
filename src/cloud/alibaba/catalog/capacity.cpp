#include "cloud/alibaba/catalog/capacity.hpp"

#include "cloud/common/catalog/reserved_cpu.hpp"

#include <algorithm>
#include <cmath>

namespace millwright::cloud::alibaba {
namespace {

using model::Quantity;
using model::ResourceList;

constexpr std::int64_t kMebi = 1LL << 20;
constexpr std::int64_t kGibi = 1024 * kMebi;
constexpr std::int64_t kLeastTerwayPods = 11;
constexpr std::int64_t kLeastExclusivePods = 7;
constexpr std::int64_t kFlannelPods = 256;
constexpr std::int64_t kUsualPods = 110;
// Pods of the host's network, which Terway's addresses do not count.
constexpr std::int64_t kHostNetworkPods = 3;
// CloudPilot's correction of ACK's formula, found on real nodes.
constexpr std::int64_t kMemoryCorrectionMib = 200;

Quantity in_bytes(std::int64_t count) {
  return Quantity::from_units(count, Quantity::Format::BinarySI);
}

std::int64_t terway_pods(const TypeFacts& type) {
  return std::max<std::int64_t>(type.enis - 1, 0) * type.addresses_per_eni + kHostNetworkPods;
}

// The primary interface is the node's own.
std::int64_t exclusive_pods(const TypeFacts& type) {
  return std::max<std::int64_t>(type.enis - 1, 0);
}

// Members of a trunk interface come on top of what the type may have otherwise.
std::int64_t trunk_members(const TypeFacts& type) {
  return type.has_trunk ? std::max<std::int64_t>(type.total_enis - type.enis, 0) : 0;
}

void add_interfaces(const TypeFacts& type, const CapacitySettings& settings,
                    ResourceList& capacity) {
  if (settings.network != Network::Terway) {
    return;
  }
  if (settings.interfaces == Interfaces::Exclusive) {
    capacity["aliyun/eni"] = Quantity::from_units(exclusive_pods(type));
  } else if (settings.interfaces == Interfaces::Trunk && trunk_members(type) > 0) {
    capacity["aliyun/member-eni"] = Quantity::from_units(trunk_members(type));
  }
}

void put_over(ResourceList& list, const model::StringMap& values) {
  for (const auto& [name, text] : values) {
    if (const auto value = Quantity::parse(text)) {
      list[name] = *value;
    }
  }
}

}  // namespace

bool has_room_for_pods(const TypeFacts& type, const NodeClassSpec& spec,
                       const CapacitySettings& settings) {
  if (settings.network != Network::Terway) {
    return true;
  }
  if (settings.interfaces == Interfaces::Exclusive) {
    return exclusive_pods(type) >= kLeastExclusivePods;  // whatever maxPods says
  }
  return spec.kubelet.max_pods.has_value() || terway_pods(type) >= kLeastTerwayPods;
}

std::int64_t max_pods(const TypeFacts& type, const NodeClassSpec& spec, Network network) {
  const std::int64_t by_network = network == Network::Terway    ? terway_pods(type)
                                  : network == Network::Flannel ? kFlannelPods
                                                                : kUsualPods;
  const auto pods = spec.kubelet.max_pods.value_or(by_network);
  const auto per_core = spec.kubelet.pods_per_core.value_or(0);
  return per_core > 0 ? std::min(pods, per_core * type.cpus) : pods;
}

ResourceList capacity_of(const TypeFacts& type, const NodeClassSpec& spec,
                         const CapacitySettings& settings) {
  const auto lost = static_cast<std::int64_t>(
      std::ceil(static_cast<double>(type.memory_mib) * settings.vm_memory_overhead));
  const auto memory = std::max<std::int64_t>(type.memory_mib - lost, 0) * kMebi;
  ResourceList result{
      {std::string(model::kCpu), Quantity::from_units(type.cpus)},
      {std::string(model::kMemory), in_bytes(memory)},
      {std::string(model::kPods), Quantity::from_units(max_pods(type, spec, settings.network))},
      {std::string(model::kEphemeralStorage), in_bytes(spec.system_disk.gib * kGibi)}};
  if (type.gpus > 0) {
    const bool is_amd = type.gpu.starts_with("AMD");
    result[is_amd ? "amd.com/gpu" : "nvidia.com/gpu"] = Quantity::from_units(type.gpus);
  }
  add_interfaces(type, settings, result);
  return result;
}

ResourceList overhead_of(const TypeFacts& type, const NodeClassSpec& spec,
                         const ResourceList& capacity) {
  const auto pods = model::get(capacity, model::kPods).units();
  const auto memory_mib = model::get(capacity, model::kMemory).units() / kMebi;
  const auto reserved_mib = std::min(11 * pods + 255, memory_mib / 4) + kMemoryCorrectionMib;
  ResourceList result{
      {std::string(model::kCpu), Quantity::from_milli(reserved_millicores(type.cpus))},
      {std::string(model::kMemory), in_bytes(reserved_mib * kMebi)}};
  put_over(result, spec.kubelet.kube_reserved);
  ResourceList system;
  put_over(system, spec.kubelet.system_reserved);
  for (const auto& [name, value] : system) {
    result[name] += value;
  }
  return result;
}

}  // namespace millwright::cloud::alibaba
