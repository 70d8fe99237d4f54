#include "aws_types.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::scheduling::bench {
namespace {

constexpr double kGi = 1024.0 * 1024 * 1024;

// A family sells the same proportions in several sizes; the price grows with the size.
struct Family {
  std::string name;
  std::string_view arch;
  double gib_per_cpu;
  double price_per_cpu;  // on demand, per hour
  std::vector<int> cpus;
  int gpus = 0;  // of the smallest size; they grow with the size
};

std::string size_name(int cpu) {
  switch (cpu) {
    case 1:
      return "medium";
    case 2:
      return "large";
    case 4:
      return "xlarge";
    default:
      return std::to_string(cpu / 4) + "xlarge";
  }
}

// What sizes a generation is sold in.
const std::vector<int> kOld = {2, 4, 8, 16, 32, 48, 64, 96};
const std::vector<int> kIntel = {2, 4, 8, 16, 32, 48, 64, 96, 128};
const std::vector<int> kAmd = {2, 4, 8, 16, 32, 48, 64, 96, 128, 192};
const std::vector<int> kArm = {1, 2, 4, 8, 16, 32, 48, 64};
const std::vector<int> kNewArm = {1, 2, 4, 8, 16, 32, 48, 64, 96, 192};
const std::vector<int> kBurstable = {2, 4, 8};
const std::vector<int> kLarge = {64, 96, 128};

std::vector<Family> families() {
  std::vector<Family> list;
  // One line per generation: its letter, processor, sizes and price of 2 vCPUs by memory ratio.
  struct Generation {
    std::string_view suffix;
    std::string_view arch;
    const std::vector<int>* sizes;
    double general, compute, memory;
  };
  const std::array<Generation, 11> generations = {{
      {"5", "amd64", &kOld, .0960, .0850, .1260},
      {"5a", "amd64", &kOld, .0860, .0770, .1130},
      {"6i", "amd64", &kIntel, .0960, .0850, .1260},
      {"6a", "amd64", &kAmd, .0864, .0765, .1134},
      {"6g", "arm64", &kArm, .0770, .0680, .1008},
      {"7i", "amd64", &kAmd, .1008, .0893, .1323},
      {"7a", "amd64", &kAmd, .1159, .1026, .1522},
      {"7g", "arm64", &kArm, .0816, .0725, .1071},
      {"8g", "arm64", &kNewArm, .0898, .0798, .1178},
      {"8i", "amd64", &kAmd, .1058, .0937, .1389},
      {"8a", "amd64", &kAmd, .1217, .1078, .1598},
  }};
  // Variants with local disks and with more network cost more; not every generation has them.
  struct Variant {
    std::string_view letter;
    double factor;
  };
  for (const Generation& of : generations) {
    for (const Variant& variant : {Variant{"", 1}, Variant{"d", 1.19}, Variant{"n", 1.37}}) {
      const bool sold = variant.letter.empty() || (of.suffix != "5a" && of.suffix != "6a" &&
                                                   of.suffix != "7a" && of.suffix != "8a");
      if (!sold) {
        continue;
      }
      const auto add = [&](std::string_view letter, double ratio, double price) {
        std::string name(letter);
        name.append(of.suffix).append(variant.letter);
        list.push_back({std::move(name), of.arch, ratio, price * variant.factor / 2, *of.sizes});
      };
      add("m", 4, of.general);
      add("c", 2, of.compute);
      add("r", 8, of.memory);
    }
  }
  list.push_back({"t3", "amd64", 4, .0416, kBurstable});
  list.push_back({"t3a", "amd64", 4, .0376, kBurstable});
  list.push_back({"t4g", "arm64", 4, .0336, kBurstable});
  list.push_back({"x2gd", "arm64", 16, .0835, kArm});
  list.push_back({"x2idn", "amd64", 16, .1042, kLarge});
  list.push_back({"x2iedn", "amd64", 32, .2084, {4, 8, 16, 32, 64, 96, 128}});
  list.push_back({"z1d", "amd64", 8, .0930, {2, 4, 8, 12, 24, 48}});
  list.push_back({"i4i", "amd64", 8, .0858, kIntel});
  list.push_back({"i3", "amd64", 7.625, .0780, {2, 4, 8, 16, 32, 64}});
  list.push_back({"im4gn", "arm64", 4, .0910, {2, 4, 8, 16, 32, 64}});
  list.push_back({"g4dn", "amd64", 4, .1315, {4, 8, 16, 32, 64}, 1});
  list.push_back({"g5", "amd64", 4, .2515, {4, 8, 16, 32, 64, 96}, 1});
  list.push_back({"g6", "amd64", 4, .2012, {4, 8, 16, 32, 64, 96}, 1});
  list.push_back({"p3", "amd64", 7.625, .3825, {8, 32, 64}, 1});
  return list;
}

// FNV-1a: a fixed number for a name, the same on every machine.
std::uint32_t number_of(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619U;
  }
  return hash ^ (hash >> 15);
}

double rounded(double price) {
  return std::round(price * 1e4) / 1e4;
}

model::Quantity bytes(double value) {
  return model::Quantity::from_units(static_cast<std::int64_t>(value) >> 20 << 20,
                                     model::Quantity::Format::BinarySI);
}

// As EKS reserves it: 6 % of the first CPU, 1 % of the second, half of that of two more, then a
// quarter; 255Mi, 11Mi per pod and 100Mi of eviction threshold.
model::ResourceList overhead_of(int cpu, int pods) {
  int milli = 60;
  milli += cpu > 1 ? 10 : 0;
  milli += 5 * std::clamp(cpu - 2, 0, 2);
  milli += 5 * std::max(cpu - 4, 0) / 2;
  return {{"cpu", model::Quantity::from_milli(milli)},
          {"memory", bytes((255.0 + 11.0 * pods + 100.0) * 1024 * 1024)}};
}

int pods_of(int cpu) {
  return cpu <= 1 ? 8 : cpu <= 2 ? 29 : cpu <= 8 ? 58 : cpu <= 48 ? 234 : 737;
}

Offering offering_of(const std::string& zone, std::string_view capacity_type, double price) {
  Offering offering;
  offering.requirements.add(Requirement::in(model::kZoneLabel, {zone}));
  offering.requirements.add(
      Requirement::in(model::kCapacityTypeLabel, {std::string(capacity_type)}));
  offering.price = rounded(price);
  return offering;
}

InstanceType type_of(const Family& family, int cpu) {
  InstanceType type;
  type.name = std::string(family.name) + "." + size_name(cpu);
  const int pods = pods_of(cpu);
  type.capacity = {{"cpu", model::Quantity::from_milli(1000LL * cpu)},
                   {"memory", bytes(family.gib_per_cpu * cpu * kGi * 0.925)},
                   {"pods", model::Quantity::from_milli(1000LL * pods)}};
  if (family.gpus > 0) {
    const int gpus = std::max(family.gpus, family.gpus * cpu / (2 * family.cpus.front()));
    type.capacity["nvidia.com/gpu"] = model::Quantity::from_milli(1000LL * gpus);
  }
  type.overhead = overhead_of(cpu, pods);
  const double price = family.price_per_cpu * cpu;
  std::vector<std::string> zones;
  for (const char* suffix : {"a", "b", "c"}) {
    const std::string zone = std::string("test-zone-") + suffix;
    const std::uint32_t chance = number_of(type.name + zone);
    if (chance % 8 == 0 && !(zones.empty() && suffix[0] == 'c')) {
      continue;  // not sold here
    }
    zones.push_back(zone);
    type.offerings.push_back(offering_of(zone, model::kOnDemand, price));
    // 25 to 75 % off, by family; within 10 % of that by size and zone.
    const double of_family = 0.25 + 0.5 * (number_of(family.name) % 1000) / 1000.0;
    const double discount = std::min(of_family * (0.9 + 0.2 * (chance / 8 % 1000) / 1000.0), 0.8);
    type.offerings.push_back(offering_of(zone, model::kSpot, price * (1 - discount)));
  }
  type.requirements.add(Requirement::in(model::kInstanceTypeLabel, {type.name}));
  type.requirements.add(Requirement::in(model::kArchLabel, {std::string(family.arch)}));
  type.requirements.add(Requirement::in(model::kOsLabel, {"linux"}));
  type.requirements.add(Requirement::in(model::kZoneLabel, zones));
  type.requirements.add(Requirement::in(
      model::kCapacityTypeLabel, {std::string(model::kSpot), std::string(model::kOnDemand)}));
  return type;
}

}  // namespace

InstanceTypes aws_like_types() {
  std::vector<InstanceType> list;
  for (const Family& family : families()) {
    for (const int cpu : family.cpus) {
      list.push_back(type_of(family, cpu));
    }
  }
  return std::make_shared<const std::vector<InstanceType>>(std::move(list));
}

}  // namespace millwright::scheduling::bench
