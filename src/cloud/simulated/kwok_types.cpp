// The instance types of Karpenter's kwok provider: 12 sizes × 3 memory ratios × 2 systems × 2
// architectures, in its order, with its prices. Many prices are exactly equal, as they are there.
#include "cloud/simulated/catalog.hpp"
#include "cloud/simulated/profile.hpp"

#include <array>

namespace millwright::cloud::simulated {
namespace {

constexpr std::array<std::int64_t, 12> kCpus{1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256};

struct KwokFamily {
  std::string_view letter;
  std::int64_t gib_per_cpu;
};
constexpr std::array<KwokFamily, 3> kKwokFamilies{{{"c", 2}, {"s", 4}, {"m", 8}}};
constexpr std::array<std::string_view, 2> kSystems{"linux", "windows"};
constexpr std::array<std::string_view, 2> kArchitectures{"amd64", "arm64"};
constexpr std::array<std::string_view, 2> kKwokCapacityTypes{model::kSpot, model::kOnDemand};

constexpr double kPricePerCpu = 0.025;
constexpr double kPricePerGigabyte = 0.001;
constexpr double kSpotFraction = 0.7;

scheduling::InstanceType kwok_type(std::int64_t cpu, const KwokFamily& family, std::string_view os,
                                   std::string_view arch) {
  scheduling::InstanceType type;
  type.name = std::string(family.letter)
                  .append("-")
                  .append(std::to_string(cpu))
                  .append("x-")
                  .append(arch)
                  .append("-")
                  .append(os);
  const auto memory = cpu * family.gib_per_cpu * kGibibyte;
  type.capacity = {{"cpu", count(cpu)},
                   {"memory", bytes(memory)},
                   {"pods", count(std::min<std::int64_t>(16 * cpu, 1024))},
                   {"ephemeral-storage", bytes(20 * kGibibyte)}};
  type.overhead = {{"cpu", millicores(100)}, {"memory", bytes(10 * kMebibyte)}};

  const auto& zones = traits(Profile::Kwok).zones;
  pin_core_labels(type, arch, zones, kKwokCapacityTypes);
  pin(type.requirements, model::kOsLabel, std::string(os));
  pin(type.requirements, "karpenter.kwok.sh/instance-size", std::to_string(cpu));
  pin(type.requirements, "karpenter.kwok.sh/instance-family", std::string(family.letter));
  pin(type.requirements, "karpenter.kwok.sh/instance-cpu", std::to_string(cpu));
  pin(type.requirements, "karpenter.kwok.sh/instance-memory", bytes(memory).to_string());

  const double price = kPricePerCpu * static_cast<double>(cpu) +
                       kPricePerGigabyte * static_cast<double>(memory) / 1e9;
  for (const auto zone : zones) {
    type.offerings.push_back(offering(zone, model::kSpot, price * kSpotFraction));
    type.offerings.push_back(offering(zone, model::kOnDemand, price));
  }
  return type;
}

}  // namespace

Types kwok_types() {
  Types types;
  for (const auto cpu : kCpus) {
    for (const auto& family : kKwokFamilies) {
      for (const auto os : kSystems) {
        for (const auto arch : kArchitectures) {
          types.push_back(kwok_type(cpu, family, os, arch));
        }
      }
    }
  }
  return types;
}

}  // namespace millwright::cloud::simulated
