// Flavors as CCE offers them in one region: c9 (current compute, ratios 1:2 and 1:4), s7
// (general purpose) and m7 (memory). Sizes and ratios follow Huawei Cloud's naming; prices are
// rounded list prices per hour. On-demand only. Allocatable by CCE's reservation formulas.
#include "cloud/common/catalog/reserved_cpu.hpp"
#include "cloud/simulated/catalog.hpp"
#include "cloud/simulated/profile.hpp"

#include <array>

namespace millwright::cloud::simulated {
namespace {

struct HuaweiSize {
  std::string_view name;
  std::int64_t cpus;
  std::int64_t max_rate_mbps;
};
constexpr std::array<HuaweiSize, 9> kHuaweiSizes{{{"large", 2, 4000},
                                                  {"xlarge", 4, 8000},
                                                  {"2xlarge", 8, 15000},
                                                  {"3xlarge", 12, 17000},
                                                  {"4xlarge", 16, 20000},
                                                  {"6xlarge", 24, 25000},
                                                  {"8xlarge", 32, 30000},
                                                  {"12xlarge", 48, 35000},
                                                  {"16xlarge", 64, 40000}}};

struct HuaweiFamily {
  std::string_view name;
  std::int64_t gib_per_cpu;
  std::int64_t largest_cpus;
  double price_per_cpu;
};
constexpr std::array<HuaweiFamily, 5> kHuaweiFamilies{{{"c9", 2, 64, 0.0390},
                                                       {"c9", 4, 64, 0.0490},
                                                       {"s7", 2, 16, 0.0310},
                                                       {"s7", 4, 16, 0.0400},
                                                       {"m7", 8, 64, 0.0620}}};
constexpr std::array<std::string_view, 1> kHuaweiCapacityTypes{model::kOnDemand};

// What ext4 leaves of the "kubernetes" volume on CCE's default 100 GiB data disk.
constexpr std::int64_t kEphemeralBytes = 10459828224;

// CCE's default for the most pods of a node, by memory.
std::int64_t pods_for(std::int64_t memory_gib) {
  struct Tier {
    std::int64_t gib;
    std::int64_t pods;
  };
  static constexpr std::array<Tier, 4> kTiers{{{64, 110}, {32, 80}, {16, 60}, {8, 40}}};
  for (const auto& tier : kTiers) {
    if (memory_gib >= tier.gib) {
      return tier.pods;
    }
  }
  return 20;
}

scheduling::InstanceType huawei_type(const HuaweiFamily& family, const HuaweiSize& size) {
  scheduling::InstanceType type;
  const auto gib = size.cpus * family.gib_per_cpu;
  const std::string size_name =
      std::string(size.name).append(".").append(std::to_string(family.gib_per_cpu));
  type.name = std::string(family.name).append(".").append(size_name);
  const auto pods = pods_for(gib);
  type.capacity = {{"cpu", count(size.cpus)},
                   {"memory", bytes(gib * kGibibyte)},
                   {"pods", count(pods)},
                   {"ephemeral-storage", bytes(kEphemeralBytes)}};
  // kube-reserved (containerd) + system-reserved + eviction threshold.
  const auto memory_mib = (500 + 5 * pods) + (400 + gib * 25) + 100;
  type.overhead = {{"cpu", millicores(reserved_millicores(size.cpus))},
                   {"memory", bytes(memory_mib * kMebibyte)},
                   {"ephemeral-storage", bytes(kEphemeralBytes / 10)}};

  const auto& profile = traits(Profile::Huawei);
  pin_core_labels(type, "amd64", profile.zones, kHuaweiCapacityTypes);
  pin(type.requirements, model::kOsLabel, "linux");
  pin(type.requirements, model::kRegionLabel, std::string(profile.region));
  const auto label = [&type](std::string_view name, std::string value) {
    pin(type.requirements, std::string("karpenter.k8s.huawei/").append(name), std::move(value));
  };
  label("instance-category", std::string(family.name.substr(0, 1)));
  label("instance-family", std::string(family.name));
  label("instance-generation", std::string(family.name.substr(1)));
  label("instance-size", size_name);
  label("instance-cpu", std::to_string(size.cpus));
  label("instance-memory", std::to_string(gib * 1024));
  label("instance-network-bandwidth", std::to_string(size.max_rate_mbps));
  for (const auto name : {"name", "manufacturer", "count", "memory"}) {
    forbid(type.requirements, std::string("karpenter.k8s.huawei/instance-gpu-").append(name));
  }
  const double price = family.price_per_cpu * static_cast<double>(size.cpus);
  for (const auto zone : profile.zones) {
    type.offerings.push_back(offering(zone, model::kOnDemand, price));
  }
  return type;
}

}  // namespace

Types huawei_types() {
  Types types;
  for (const auto& family : kHuaweiFamilies) {
    for (const auto& size : kHuaweiSizes) {
      if (size.cpus <= family.largest_cpus) {
        types.push_back(huawei_type(family, size));
      }
    }
  }
  return types;
}

}  // namespace millwright::cloud::simulated
