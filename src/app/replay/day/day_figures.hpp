// What a day came to: from a record of its pods, nodes and NodeClaims, recorded or replayed. Both
// are counted alike. Pure.
#pragma once

#include "millwright/base/time.hpp"
#include "millwright/sandbox/recorder.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace millwright::app {

struct DayMoment {
  base::TimePoint at;
  std::size_t nodes = 0;    // registered
  std::size_t waiting = 0;  // pods without a node
  double price = 0;         // per hour, of machines whose price is known
};

struct DayFigures {
  double cost = 0;  // of all machines, from launch to end, within the day
  double machine_hours = 0;
  std::size_t without_price = 0;  // machines
  std::size_t most_nodes = 0;
  std::size_t claims = 0;   // NodeClaims that were made
  std::size_t removed = 0;  // nodes that went, of those that NodeClaims made
  std::size_t evicted = 0;  // pods
  // Pods that wanted a node in the day; those of DaemonSets and static ones do not count. The times
  // are those of the pods that got one; nullopt when there is none.
  std::size_t pods = 0;
  std::size_t never_placed = 0;  // of them, those that got none before they left or the day ended
  std::optional<base::Duration> median_wait;
  std::optional<base::Duration> p99_wait;
  std::optional<base::Duration> longest_wait;
  std::vector<DayMoment> moments;  // from start to end, equally far apart
};

struct DayBounds {
  base::TimePoint start;
  base::TimePoint end;
  std::size_t moments = 2;  // at least two
};

// A point of the picture for each minute of an eight-hour day, or as many for another.
std::size_t moments_of(base::Duration day);

// `price` is per hour, by the labels of a node or NodeClaim. A machine is what a NodeClaim
// launched, or a node without one.
DayFigures figures_of(const sandbox::Recorder& recorder, const DayBounds& bounds,
                      const sandbox::Recorder::PriceLookup& price);

}  // namespace millwright::app
