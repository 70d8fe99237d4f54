#include "cloud/huawei/catalog/capacity.hpp"

#include "cloud/common/catalog/reserved_cpu.hpp"
#include "cloud/common/text/text.hpp"

#include <algorithm>
#include <array>

namespace millwright::cloud::huawei {
namespace {

using model::Quantity;
using model::ResourceList;

constexpr std::int64_t kMebibyte = 1LL << 20U;
constexpr std::int64_t kGibibyte = 1LL << 30U;
constexpr std::int64_t kExtent = 4 * kMebibyte;  // of LVM
constexpr std::int64_t kBlock = 4096;            // of ext4, as the sizes below
constexpr std::int64_t kBlocksPerGroup = 32768;
constexpr std::int64_t kDescriptorsPerBlock = 64;
constexpr std::int64_t kGroupBlocks = 2 + 512;  // a group's bitmaps and inode table
constexpr std::int64_t kEvictionMemoryMib = 100;
constexpr std::string_view kGpuResource = "nvidia.com/gpu";

Quantity whole_mebibytes(std::int64_t count) {
  return Quantity::from_units(count * kMebibyte, Quantity::Format::BinarySI);
}
Quantity whole_bytes(std::int64_t count) {
  return Quantity::from_units(count, Quantity::Format::BinarySI);
}

std::int64_t rounded_up(std::int64_t value, std::int64_t by) {
  return (value + by - 1) / by;
}

std::int64_t pods_by_memory(std::int64_t memory_mib) {
  struct Tier {
    std::int64_t gib;
    std::int64_t pods;
  };
  constexpr std::array<Tier, 4> kTiers{{{64, 110}, {32, 80}, {16, 60}, {8, 40}}};
  for (const auto& tier : kTiers) {
    if (memory_mib >= tier.gib * 1024) {
      return tier.pods;
    }
  }
  return 20;
}

// mke2fs's choice by the number of blocks.
std::int64_t journal_blocks(std::int64_t blocks) {
  struct Step {
    std::int64_t below;
    std::int64_t journal;
  };
  constexpr std::int64_t kKibi = 1024;
  constexpr std::array<Step, 8> kSteps{{{2048, 0},
                                        {32768, 1024},
                                        {256 * kKibi, 4096},
                                        {512 * kKibi, 8192},
                                        {4 * kKibi * kKibi, 16384},
                                        {8 * kKibi * kKibi, 32768},
                                        {16 * kKibi * kKibi, 65536},
                                        {32 * kKibi * kKibi, 131072}}};
  for (const auto& step : kSteps) {
    if (blocks < step.below) {
      return step.journal;
    }
  }
  return 262144;
}

// Blocks kept so that the table of groups can grow with the file system, to 1024 times its size.
std::int64_t reserved_table_blocks(std::int64_t blocks, std::int64_t descriptors) {
  constexpr std::int64_t kMostBlocks = (1LL << 32U) - 1;
  const auto grown = blocks < kMostBlocks / 1024 ? blocks * 1024 : kMostBlocks;
  const auto table = rounded_up(rounded_up(grown, kBlocksPerGroup), kDescriptorsPerBlock);
  return std::clamp<std::int64_t>(table - descriptors, 0, 1024);
}

// Groups 0 and 1, and those numbered by powers of 3, 5 and 7.
std::int64_t superblock_copies(std::int64_t groups) {
  std::int64_t copies = 2;
  for (const std::int64_t base : {3, 5, 7}) {
    for (std::int64_t power = base; power < groups; power *= base) {
      ++copies;
    }
  }
  return copies;
}

void override_each(ResourceList& reserved, const ResourceList& by) {
  for (const auto& [name, quantity] : by) {
    reserved[name] = quantity;
  }
}

}  // namespace

std::int64_t kubernetes_volume_bytes(std::int64_t gib) {
  const auto aligned = [](std::int64_t bytes) { return bytes / kExtent * kExtent; };
  const auto managed = aligned(gib * kGibibyte - kExtent);
  const auto volume = aligned(managed / 10);
  const auto blocks = volume / kBlock;
  const auto groups = rounded_up(blocks, kBlocksPerGroup);
  const auto descriptors = rounded_up(groups, kDescriptorsPerBlock);
  const auto table = descriptors + reserved_table_blocks(blocks, descriptors);
  const auto taken =
      groups * kGroupBlocks + superblock_copies(groups) * (1 + table) + journal_blocks(blocks);
  return std::max<std::int64_t>(volume - kBlock * taken, 0);
}

std::int64_t max_pods(const Flavor& flavor, const NodeClassSpec& spec) {
  const auto pods = spec.max_pods.value_or(pods_by_memory(flavor.memory_mib));
  return flavor.sub_interfaces > 0 ? std::min(pods, flavor.sub_interfaces) : pods;
}

ResourceList capacity_of(const Flavor& flavor, const NodeClassSpec& spec) {
  ResourceList capacity{
      {std::string(model::kCpu), Quantity::from_units(flavor.cpus)},
      {std::string(model::kMemory), whole_mebibytes(flavor.memory_mib)},
      {std::string(model::kPods), Quantity::from_units(max_pods(flavor, spec))},
      {std::string(model::kEphemeralStorage), whole_bytes(kubernetes_volume_bytes(spec.k8s.gib))}};
  if (flavor.gpus > 0 && lower_case(flavor.gpu_name).find("ascend") == std::string::npos) {
    capacity[std::string(kGpuResource)] = Quantity::from_units(flavor.gpus);
  }
  return capacity;
}

ResourceList overhead_of(const Flavor& flavor, const NodeClassSpec& spec,
                         const ResourceList& capacity) {
  const std::int64_t per_pod = spec.runtime == "docker" ? 20 : 5;
  ResourceList overhead{
      {std::string(model::kCpu), Quantity::from_milli(reserved_millicores(flavor.cpus))},
      {std::string(model::kMemory),
       whole_mebibytes(500 + per_pod * pods_by_memory(flavor.memory_mib))}};
  override_each(overhead, spec.kube_reserved);
  ResourceList system{
      {std::string(model::kMemory), whole_mebibytes(400 + flavor.memory_mib * 25 / 1024)}};
  override_each(system, spec.system_reserved);
  const auto storage = model::get(capacity, model::kEphemeralStorage).units();
  // A tenth as a 32-bit float, as the provider computes it.
  const auto kept = static_cast<std::int64_t>(static_cast<float>(storage) * 0.1F);
  const ResourceList eviction{{std::string(model::kMemory), whole_mebibytes(kEvictionMemoryMib)},
                              {std::string(model::kEphemeralStorage), whole_bytes(kept)}};
  model::add_to(overhead, system);
  model::add_to(overhead, eviction);
  return overhead;
}

}  // namespace millwright::cloud::huawei
