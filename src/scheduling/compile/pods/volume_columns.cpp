#include "scheduling/compile/pods/volume_columns.hpp"

#include <algorithm>

namespace millwright::scheduling {
namespace {

// Names of resources have no spaces.
constexpr std::string_view kVolumesOf = "volumes of ";

const std::int32_t* limit_of(const VolumeCounts& limits, std::string_view driver) {
  const auto found = limits.find(driver);
  return found == limits.end() ? nullptr : &found->second;
}

}  // namespace

std::shared_ptr<const VolumeLimits> learned_limits(const Problem& problem) {
  return problem.cluster ? problem.cluster->volume_limits : nullptr;
}

Drivers limited_drivers(const Problem& problem) {
  Drivers drivers;
  const auto note = [&](const VolumeCounts& limits) {
    for (const auto& [driver, limit] : limits) {
      drivers.insert(driver);
    }
  };
  for (const PoolOption& option : problem.pools) {
    if (option.types) {
      std::for_each(option.types->begin(), option.types->end(),
                    [&](const InstanceType& type) { note(type.volume_limits); });
    }
  }
  if (const auto learned = learned_limits(problem)) {
    for (const auto& [type, limits] : *learned) {
      note(limits);
    }
  }
  return drivers;
}

std::string volume_column_name(std::string_view driver) {
  return std::string(kVolumesOf).append(driver);
}

std::vector<VolumeColumn> volume_columns(const Columns& columns) {
  std::vector<VolumeColumn> result;
  for (std::size_t column = 0; column < columns.size(); ++column) {
    if (const std::string& name = columns.name(column); name.starts_with(kVolumesOf)) {
      result.push_back({column, name.substr(kVolumesOf.size())});
    }
  }
  return result;
}

std::int64_t volume_room(const InstanceType& type, std::string_view driver,
                         const VolumeLimits* learned) {
  const std::int32_t* limit = nullptr;
  if (learned != nullptr) {
    if (const auto found = learned->find(type.name); found != learned->end()) {
      limit = limit_of(found->second, driver);
    }
  }
  if (limit == nullptr) {
    limit = limit_of(type.volume_limits, driver);
  }
  return limit == nullptr ? kAnyVolumes
                          : std::clamp<std::int64_t>(*limit * kOneVolume, 0, kAnyVolumes);
}

}  // namespace millwright::scheduling
