// Volumes as a resource of machines to buy: one column for each CSI driver that limits how many a
// machine attaches. Existing nodes have their own count (VolumeSlots), since a volume that is
// attached already costs nothing there; in these columns they have room for any number.
#pragma once

#include "millwright/scheduling/solve.hpp"
#include "scheduling/values/amounts.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::scheduling {

inline constexpr std::int64_t kOneVolume = 1000;  // amounts are thousandths
// More than the pods of any node have. Small enough to be weighed against limits in linear
// programs.
inline constexpr std::int64_t kAnyVolumes = 10'000 * kOneVolume;

struct VolumeColumn {
  std::size_t column = 0;
  std::string driver;
  friend bool operator==(const VolumeColumn&, const VolumeColumn&) = default;
};

using Drivers = std::set<std::string, std::less<>>;

// Drivers for which a limit of some instance type is known.
Drivers limited_drivers(const Problem& problem);
// What CSINodes said; may be nullptr.
std::shared_ptr<const VolumeLimits> learned_limits(const Problem& problem);
// The name of the driver's column. No resource can have it.
std::string volume_column_name(std::string_view driver);
// The columns that are a driver's.
std::vector<VolumeColumn> volume_columns(const Columns& columns);
// What a node of the type can attach; kAnyVolumes where no limit is known.
std::int64_t volume_room(const InstanceType& type, std::string_view driver,
                         const VolumeLimits* learned);

}  // namespace millwright::scheduling
