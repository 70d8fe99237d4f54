// EC2 instance types with every label of karpenter.k8s.aws/*, and capacity and overhead by the
// formulas of Karpenter's AWS provider for Amazon Linux 2023.
#include "cloud/common/catalog/reserved_cpu.hpp"
#include "cloud/simulated/aws_table.hpp"
#include "cloud/simulated/catalog.hpp"
#include "cloud/simulated/profile.hpp"

#include <array>
#include <cmath>

namespace millwright::cloud::simulated {
namespace {

constexpr std::array<std::string_view, 2> kAwsCapacityTypes{model::kSpot, model::kOnDemand};
constexpr double kVmMemoryOverhead = 0.075;
constexpr std::int64_t kArmReservedMib = 64;  // the kernel's contiguous memory area
constexpr std::int64_t kRootVolume = 20 * kGibibyte;

struct FamilyFacts {
  std::string_view family;
  std::string_view arch;
  std::string_view manufacturer;
  std::string_view hypervisor;
};
constexpr std::array<FamilyFacts, 14> kAwsFamilies{{{"m4", "amd64", "intel", "xen"},
                                                    {"m5", "amd64", "intel", "nitro"},
                                                    {"m5d", "amd64", "intel", "nitro"},
                                                    {"m6g", "arm64", "aws", "nitro"},
                                                    {"c4", "amd64", "intel", "xen"},
                                                    {"c5", "amd64", "intel", "nitro"},
                                                    {"c5d", "amd64", "intel", "nitro"},
                                                    {"c6g", "arm64", "aws", "nitro"},
                                                    {"r4", "amd64", "intel", "xen"},
                                                    {"r5", "amd64", "intel", "nitro"},
                                                    {"t2", "amd64", "intel", "xen"},
                                                    {"t3", "amd64", "intel", "nitro"},
                                                    {"t3a", "amd64", "amd", "nitro"},
                                                    {"t4g", "arm64", "aws", "nitro"}}};

const FamilyFacts& facts_of(std::string_view family) {
  for (const auto& facts : kAwsFamilies) {
    if (facts.family == family) {
      return facts;
    }
  }
  return kAwsFamilies.front();  // unreachable: every shape's family is in the table (tested)
}

constexpr std::string_view zone_id(std::string_view zone) {
  if (zone == "us-west-2a") {
    return "usw2-az2";
  }
  return zone == "us-west-2b" ? "usw2-az1" : "usw2-az3";
}

std::string optional_number(std::int64_t value) {
  return value == 0 ? std::string() : std::to_string(value);
}

void add_labels(scheduling::InstanceType& type, const Ec2Shape& shape, const FamilyFacts& facts) {
  const auto& profile = traits(Profile::Aws);
  pin_core_labels(type, facts.arch, profile.zones, kAwsCapacityTypes);
  pin(type.requirements, model::kOsLabel, "linux");
  pin(type.requirements, model::kRegionLabel, std::string(profile.region));
  forbid(type.requirements, model::kWindowsBuildLabel);
  std::vector<std::string> zone_ids;
  for (const auto zone : profile.zones) {
    zone_ids.emplace_back(zone_id(zone));
  }
  pin(type.requirements, "topology.k8s.aws/zone-id", zone_ids);

  const auto family = facts.family;
  const auto digits = family.find_first_of("0123456789");
  const auto after = family.find_first_not_of("0123456789", digits);
  // An empty value means that the label does not apply to the type.
  const auto label = [&type](std::string_view name, std::string value) {
    const std::string key = std::string("karpenter.k8s.aws/").append(name);
    if (value.empty()) {
      forbid(type.requirements, key);
    } else {
      pin(type.requirements, key, std::move(value));
    }
  };
  label("instance-category", std::string(family.substr(0, digits)));
  label("instance-family", std::string(family));
  label("instance-generation", std::string(family.substr(digits, after - digits)));
  label("instance-size", std::string(shape.name.substr(shape.name.find('.') + 1)));
  label("instance-cpu", std::to_string(shape.cpus));
  label("instance-cpu-manufacturer", std::string(facts.manufacturer));
  label("instance-cpu-sustained-clock-speed-mhz", std::to_string(shape.clock_mhz));
  label("instance-memory", std::to_string(shape.memory_mib));
  label("instance-ebs-bandwidth", optional_number(shape.ebs_mbps));
  label("instance-network-bandwidth", optional_number(shape.network_mbps));
  label("instance-hypervisor", std::string(facts.hypervisor));
  label("instance-encryption-in-transit-supported", "false");
  label("instance-local-nvme", optional_number(shape.nvme_gb));
  label("instance-capability-flex", "false");
  label("instance-tenancy", "default");
  for (const auto name : {"gpu-name", "gpu-manufacturer", "gpu-count", "gpu-memory",
                          "accelerator-name", "accelerator-manufacturer", "accelerator-count"}) {
    label(std::string("instance-").append(name), {});
  }
  for (const auto name : {"capacity-reservation-id", "capacity-reservation-type",
                          "capacity-reservation-interruptible", "placement-group-id",
                          "placement-group-partition", "nitro-sandbox"}) {
    label(name, {});
  }
}

scheduling::InstanceType aws_type(const Ec2Shape& shape) {
  scheduling::InstanceType type;
  type.name = std::string(shape.name);
  const auto& facts = facts_of(shape.name.substr(0, shape.name.find('.')));
  const auto usable_mib = shape.memory_mib - (facts.arch == "arm64" ? kArmReservedMib : 0);
  const auto memory_mib =
      usable_mib -
      static_cast<std::int64_t>(std::ceil(static_cast<double>(usable_mib) * kVmMemoryOverhead));
  const auto pods = shape.enis * (shape.addresses - 1) + 2;
  type.capacity = {{"cpu", count(shape.cpus)},
                   {"memory", bytes(memory_mib * kMebibyte)},
                   {"pods", count(pods)},
                   {"ephemeral-storage", bytes(kRootVolume)}};
  // kube-reserved + eviction threshold; system-reserved is nothing by default.
  type.overhead = {{"cpu", millicores(reserved_millicores(shape.cpus))},
                   {"memory", bytes((11 * pods + 255 + 100) * kMebibyte)},
                   {"ephemeral-storage", bytes(kGibibyte + kRootVolume / 10)}};
  add_labels(type, shape, facts);
  for (const auto zone : traits(Profile::Aws).zones) {
    for (const auto& each :
         {offering(zone, model::kSpot, shape.price * spot_fraction(type.name, zone)),
          offering(zone, model::kOnDemand, shape.price)}) {
      type.offerings.push_back(each);
      pin(type.offerings.back().requirements, "topology.k8s.aws/zone-id",
          std::string(zone_id(zone)));
    }
  }
  return type;
}

}  // namespace

Types aws_types() {
  Types types;
  for (const auto& shape : ec2_shapes()) {
    types.push_back(aws_type(shape));
  }
  return types;
}

}  // namespace millwright::cloud::simulated
