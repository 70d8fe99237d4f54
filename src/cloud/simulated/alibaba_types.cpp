// ECS families as ACK offers them in one region: compute, general purpose and memory of three
// generations, Intel, AMD and Arm. Prices are rounded list prices per hour. Capacity by ACK's
// memory overhead, Terway's ENI formula and ACK's reservation policy.
#include "cloud/alibaba_labels.hpp"
#include "cloud/simulated/catalog.hpp"
#include "cloud/simulated/profile.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace millwright::cloud::simulated {
namespace {

struct AlibabaSize {
  std::string_view name;
  std::int64_t cpus;
  std::int64_t enis;
  std::int64_t addresses;  // private IPv4 addresses per ENI
};
constexpr std::array<AlibabaSize, 8> kAlibabaSizes{{{"large", 2, 3, 6},
                                                    {"xlarge", 4, 4, 15},
                                                    {"2xlarge", 8, 4, 15},
                                                    {"3xlarge", 12, 8, 15},
                                                    {"4xlarge", 16, 8, 30},
                                                    {"6xlarge", 24, 8, 30},
                                                    {"8xlarge", 32, 8, 30},
                                                    {"16xlarge", 64, 8, 30}}};

struct AlibabaFamily {
  std::string_view name;
  std::string_view category;
  std::string_view generation;
  std::string_view arch;
  std::string_view cpu_model;
  std::int64_t gib_per_cpu;
  double price_per_cpu;
};
constexpr std::array<AlibabaFamily, 11> kAlibabaFamilies{{
    {"c6", "c", "6", "amd64", "Intel-Xeon-Platinum-8269CY", 2, 0.0360},
    {"g6", "g", "6", "amd64", "Intel-Xeon-Platinum-8269CY", 4, 0.0465},
    {"r6", "r", "6", "amd64", "Intel-Xeon-Platinum-8269CY", 8, 0.0615},
    {"c7", "c", "7", "amd64", "Intel-Xeon-Platinum-8369B", 2, 0.0378},
    {"g7", "g", "7", "amd64", "Intel-Xeon-Platinum-8369B", 4, 0.0488},
    {"r7", "r", "7", "amd64", "Intel-Xeon-Platinum-8369B", 8, 0.0646},
    {"c7a", "c", "7", "amd64", "AMD-EPYC-7T83", 2, 0.0340},
    {"g7a", "g", "7", "amd64", "AMD-EPYC-7T83", 4, 0.0440},
    {"u1-c1m2", "u", "1", "amd64", "Intel-Xeon-Platinum", 2, 0.0295},
    {"c8y", "c", "8", "arm64", "Yitian-710", 2, 0.0302},
    {"g8y", "g", "8", "arm64", "Yitian-710", 4, 0.0390},
}};
constexpr std::array<std::string_view, 2> kAlibabaCapacityTypes{model::kSpot, model::kOnDemand};
constexpr double kMemoryOverhead = 0.065;

// ACK keeps 60m of the first core, 10m of the second, 5m of the third and fourth, 0.25 % beyond.
std::int64_t reserved_cpu(std::int64_t cpus) {
  std::int64_t milli = 60;
  milli += cpus >= 2 ? 10 : 0;
  milli += cpus >= 3 ? 5 : 0;
  milli += cpus >= 4 ? 5 : 0;
  return milli + (cpus > 4 ? (cpus - 4) * 1000 * 25 / 10000 : 0);
}

void add_labels(scheduling::InstanceType& type, const AlibabaFamily& family,
                const AlibabaSize& size) {
  const auto& profile = traits(Profile::Alibaba);
  pin_core_labels(type, family.arch, profile.zones, kAlibabaCapacityTypes);
  pin(type.requirements, model::kOsLabel, "linux");
  pin(type.requirements, model::kRegionLabel, std::string(profile.region));
  pin(type.requirements, "topology.k8s.alibabacloud/zone-id",
      std::vector<std::string>(profile.zones.begin(), profile.zones.end()));
  const auto label = [&type](std::string_view name, std::string value) {
    pin(type.requirements, std::string("karpenter.k8s.alibabacloud/").append(name),
        std::move(value));
  };
  label("instance-category", std::string(family.category));
  label("instance-family", std::string("ecs.").append(family.name));
  label("instance-generation", std::string(family.generation));
  label("instance-size", std::string(size.name));
  label("instance-cpu", std::to_string(size.cpus));
  label("instance-cpu-model", std::string(family.cpu_model));
  label("instance-memory", std::to_string(size.cpus * family.gib_per_cpu * 1024));
  for (const auto name : {"name", "manufacturer", "count", "memory"}) {
    forbid(type.requirements, std::string("karpenter.k8s.alibabacloud/instance-gpu-").append(name));
  }
  // They are well known: whoever asks for them must not get a node of a class without them.
  for (const auto name : kOfficialAlibabaLabels) {
    forbid(type.requirements, name);
  }
}

// Its name in the group of Alibaba Cloud's own provider; empty when there is none.
std::string official_label(std::string_view name) {
  const auto has_name = [&name](std::string_view key) {
    return key.ends_with(name) && key.size() > name.size() &&
           key[key.size() - name.size() - 1] == '/';
  };
  const auto found =
      std::find_if(kOfficialAlibabaLabels.begin(), kOfficialAlibabaLabels.end(), has_name);
  return found == kOfficialAlibabaLabels.end() ? std::string() : std::string(*found);
}

scheduling::InstanceType alibaba_type(const AlibabaFamily& family, const AlibabaSize& size) {
  scheduling::InstanceType type;
  type.name = std::string("ecs.").append(family.name).append(".").append(size.name);
  const auto total_mib = size.cpus * family.gib_per_cpu * 1024;
  const auto overhead =
      static_cast<std::int64_t>(std::ceil(static_cast<double>(total_mib) * kMemoryOverhead));
  const auto memory_mib = total_mib - overhead;
  const auto pods = (size.enis - 1) * size.addresses + 3;
  type.capacity = {{"cpu", count(size.cpus)},
                   {"memory", bytes(memory_mib * kMebibyte)},
                   {"pods", count(pods)},
                   {"ephemeral-storage", bytes(20 * kGibibyte)}};
  const auto reserved_mib = std::min(11 * pods + 255, memory_mib / 4) + 200;
  type.overhead = {{"cpu", millicores(reserved_cpu(size.cpus))},
                   {"memory", bytes(reserved_mib * kMebibyte)}};
  add_labels(type, family, size);

  const double price = family.price_per_cpu * static_cast<double>(size.cpus);
  for (const auto zone : traits(Profile::Alibaba).zones) {
    for (const auto& each : {offering(zone, model::kSpot, price * spot_fraction(type.name, zone)),
                             offering(zone, model::kOnDemand, price)}) {
      type.offerings.push_back(each);
      pin(type.offerings.back().requirements, "topology.k8s.alibabacloud/zone-id",
          std::string(zone));
    }
  }
  return type;
}

}  // namespace

scheduling::Requirements with_official_labels(const scheduling::Requirements& of_type) {
  constexpr std::string_view kServed = "karpenter.k8s.alibabacloud/";
  constexpr std::string_view kFamilyPrefix = "ecs.";
  scheduling::Requirements result;
  forbid(result, "karpenter.k8s.alibabacloud/ecsnodeclass");
  for (const auto& requirement : of_type) {
    const std::string_view key = requirement.key();
    const bool is_official = std::find(kOfficialAlibabaLabels.begin(), kOfficialAlibabaLabels.end(),
                                       key) != kOfficialAlibabaLabels.end();
    if (is_official) {
      continue;  // what the type does not have in the first group's terms
    }
    if (!key.starts_with(kServed)) {
      result.add(requirement);
      continue;
    }
    forbid(result, key);
    const auto twin = official_label(key.substr(kServed.size()));
    if (twin.empty()) {
      continue;
    }
    const auto& values = requirement.values();
    if (requirement.is_complement() || values.empty()) {
      forbid(result, twin);
    } else {
      std::string_view value = values.front();
      value.remove_prefix(value.starts_with(kFamilyPrefix) ? kFamilyPrefix.size() : 0);
      pin(result, twin, std::string(value));
    }
  }
  return result;
}

Types alibaba_types() {
  Types types;
  for (const auto& family : kAlibabaFamilies) {
    for (const auto& size : kAlibabaSizes) {
      types.push_back(alibaba_type(family, size));
    }
  }
  return types;
}

}  // namespace millwright::cloud::simulated
