#include "cloud/aws/catalog/capacity.hpp"

#include "cloud/aws/catalog/branch_interfaces.hpp"
#include "cloud/aws/launch/ami_family.hpp"
#include "cloud/common/catalog/reserved_cpu.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace millwright::cloud::aws {
namespace {

using model::Quantity;
using model::ResourceList;

constexpr std::int64_t kMebi = 1024 * 1024;
constexpr std::int64_t kGibi = 1024 * kMebi;
constexpr std::int64_t kArmReservedMib = 64;  // the kernel's contiguous memory area
constexpr std::int64_t kWindowsPods = 110;
constexpr std::string_view kEbsDriver = "ebs.csi.aws.com";
constexpr std::int64_t kMostVolumes = 10'000;  // beyond what is sane

Quantity bytes(std::int64_t count) {
  return Quantity::from_units(count, Quantity::Format::BinarySI);
}

std::int64_t usable_memory(const TypeFacts& type, double overhead) {
  const auto mib = type.memory_mib - (type.arch == "arm64" ? kArmReservedMib : 0);
  const auto lost = static_cast<std::int64_t>(std::ceil(static_cast<double>(mib) * overhead));
  return std::max<std::int64_t>(mib - lost, 0) * kMebi;
}

std::optional<Quantity> quantity(const std::string& text) {
  const auto parsed = Quantity::parse(text);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

// The volume that pods' files end up on.
Quantity ephemeral_storage(const TypeFacts& type, const NodeClassSpec& spec) {
  if (spec.raid0 && type.nvme_gb > 0) {
    return Quantity::from_units(type.nvme_gb * 1'000'000'000);
  }
  const auto& devices = spec.block_devices;
  auto found = std::find_if(devices.begin(), devices.end(),
                            [](const BlockDevice& device) { return device.root_volume; });
  if (found == devices.end() && spec.family == Family::Custom && !devices.empty()) {
    found = devices.end() - 1;
  }
  if (found == devices.end()) {
    const auto data_device = data_device_of(spec.family);
    found = std::find_if(devices.begin(), devices.end(), [&](const BlockDevice& device) {
      return device.device_name == data_device;
    });
  }
  if (found != devices.end()) {
    if (const auto size = quantity(found->volume_size)) {
      return *size;
    }
  }
  return bytes((is_windows(spec.family) ? 50 : 20) * kGibi);
}

std::int64_t address_pods(const TypeFacts& type, std::int64_t reserved_enis) {
  const auto usable = std::max<std::int64_t>(type.interfaces - reserved_enis, 0);
  return usable * (type.addresses - 1) + 2;
}

void override_with(ResourceList& list, const model::StringMap& values) {
  for (const auto& [name, text] : values) {
    if (const auto value = quantity(text)) {
      list[name] = *value;
    }
  }
}

// "100Mi" or "10%" of the capacity, rounded up; "100%" turns the signal off.
std::optional<Quantity> threshold(const std::string& text, Quantity capacity) {
  if (!text.ends_with('%')) {
    return quantity(text);
  }
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size() - 1, percent);
  if (error != std::errc() || end != text.data() + text.size() - 1 || percent < 0 ||
      percent > 100) {
    return std::nullopt;
  }
  if (percent == 100) {
    return Quantity();
  }
  return bytes(static_cast<std::int64_t>(std::ceil(capacity.as_double() / 100 * percent)));
}

ResourceList eviction_of(const Kubelet& kubelet, const ResourceList& capacity) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kSignals{
      {{"memory.available", model::kMemory}, {"nodefs.available", model::kEphemeralStorage}}};
  const auto storage = model::get(capacity, model::kEphemeralStorage);
  ResourceList result{
      {std::string(model::kMemory), bytes(100 * kMebi)},
      {std::string(model::kEphemeralStorage),
       bytes(static_cast<std::int64_t>(std::ceil(storage.as_double() / 100 * 10)))}};
  ResourceList overrides;
  for (const auto* signals : {&kubelet.eviction_hard, &kubelet.eviction_soft}) {
    if (!*signals) {
      continue;
    }
    for (const auto& [signal, resource] : kSignals) {
      const auto found = (*signals)->find(signal);
      if (found == (*signals)->end()) {
        continue;
      }
      if (const auto value = threshold(found->second, model::get(capacity, resource))) {
        ResourceList one{{std::string(resource), *value}};
        model::max_into(overrides, one);
      }
    }
  }
  for (const auto& [resource, value] : overrides) {
    result[resource] = value;
  }
  return result;
}

void add_devices(const TypeFacts& type, ResourceList& capacity) {
  const auto add = [&capacity](std::string_view name, std::int64_t count) {
    if (count > 0) {
      auto& total = capacity[std::string(name)];
      total += Quantity::from_units(count);
    }
  };
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kGpus{
      {{"NVIDIA", "nvidia.com/gpu"}, {"AMD", "amd.com/gpu"}, {"Habana", "habana.ai/gaudi"}}};
  for (const auto& gpu : type.gpus) {
    for (const auto& [manufacturer, resource] : kGpus) {
      if (gpu.manufacturer == manufacturer) {
        add(resource, gpu.count);
      }
    }
  }
  for (const auto& device : type.neuron) {
    add("aws.amazon.com/neuron", device.count);
    add("aws.amazon.com/neuroncore", device.count * device.cores);
  }
  if (type.neuron.empty()) {
    for (const auto& device : type.inference) {
      add("aws.amazon.com/neuron", device.count);
    }
  }
  add("vpc.amazonaws.com/efa", type.efa_interfaces);
  add("vpc.amazonaws.com/pod-eni", branch_interfaces(type.name));
}

}  // namespace

std::int64_t max_pods(const TypeFacts& type, const NodeClassSpec& spec,
                      std::int64_t reserved_enis) {
  std::int64_t pods = kWindowsPods;
  if (spec.kubelet.max_pods) {
    pods = *spec.kubelet.max_pods;
  } else if (!is_windows(spec.family)) {
    // Interfaces for EFA alone carry no pods' addresses.
    const auto efa_only = std::count_if(spec.interfaces.begin(), spec.interfaces.end(),
                                        [](const auto& each) { return each.type == "efa-only"; });
    pods = address_pods(type, reserved_enis + efa_only);
  }
  const auto per_core = spec.kubelet.pods_per_core.value_or(0);
  if (per_core > 0 && spec.family != Family::Bottlerocket) {
    pods = std::min(pods, per_core * type.cpus);
  }
  return pods;
}

ResourceList kube_reserved(const TypeFacts& type, const NodeClassSpec& spec, std::int64_t pods) {
  // EKS's bootstrap scripts count by addresses whatever maxPods says; the others by real pods.
  const bool by_addresses =
      spec.family == Family::Al2 || spec.family == Family::Al2023 || spec.family == Family::Custom;
  const auto counted = by_addresses ? address_pods(type, 0) : pods;
  ResourceList result{
      {std::string(model::kCpu), Quantity::from_milli(reserved_millicores(type.cpus))},
      {std::string(model::kMemory), bytes((11 * counted + 255) * kMebi)},
      {std::string(model::kEphemeralStorage), bytes(kGibi)}};
  override_with(result, spec.kubelet.kube_reserved);
  return result;
}

ResourceList capacity_of(const TypeFacts& type, const NodeClassSpec& spec,
                         const CapacitySettings& settings) {
  ResourceList capacity{
      {std::string(model::kCpu), Quantity::from_units(type.cpus)},
      {std::string(model::kMemory), bytes(usable_memory(type, settings.vm_memory_overhead))},
      {std::string(model::kPods),
       Quantity::from_units(max_pods(type, spec, settings.reserved_enis))},
      {std::string(model::kEphemeralStorage), ephemeral_storage(type, spec)}};
  add_devices(type, capacity);
  if (is_windows(spec.family) && type.addresses > 1) {
    capacity["vpc.amazonaws.com/PrivateIPv4Address"] = Quantity::from_units(type.addresses - 1);
  }
  return capacity;
}

scheduling::VolumeCounts volume_limits_of(const TypeFacts& type, const NodeClassSpec& spec) {
  if (!type.ebs_attachments) {
    return {};
  }
  const auto& named = spec.block_devices;
  const auto own = named.empty() ? default_devices(spec.family).size() : named.size();
  const auto left =
      *type.ebs_attachments - static_cast<std::int64_t>(std::max<std::size_t>(own, 1));
  // The driver reports one where none is left.
  return {{std::string(kEbsDriver),
           static_cast<std::int32_t>(std::clamp<std::int64_t>(left, 1, kMostVolumes))}};
}

ResourceList overhead_of(const TypeFacts& type, const NodeClassSpec& spec,
                         const ResourceList& capacity) {
  ResourceList overhead = kube_reserved(type, spec, model::get(capacity, model::kPods).units());
  overhead.erase("pid");  // a kubelet setting, not something that pods ask for
  ResourceList system;
  override_with(system, spec.kubelet.system_reserved);
  system.erase("pid");
  model::add_to(overhead, system);
  model::add_to(overhead, eviction_of(spec.kubelet, capacity));
  return overhead;
}

}  // namespace millwright::cloud::aws
