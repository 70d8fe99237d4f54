// The gauges that are read off the cluster's picture when somebody asks for /metrics: nothing is
// counted as events come, and a series of an object that is gone is gone with it. Names and labels
// are Karpenter's (docs/metrics.md). Pure: any thread, over an immutable snapshot.
#pragma once

#include "millwright/scheduling/snapshot.hpp"
#include "millwright/telemetry/chronicle.hpp"

#include <cstddef>
#include <string>

namespace millwright::telemetry {

struct Picture {
  const scheduling::Snapshot& snapshot;
  const scheduling::Catalog& catalog;  // for what nodes cost
  const Chronicle& chronicle;
  base::TimePoint now;
};

// Prometheus text format; every family is there with its help, also without any series.
// `expected_size` in bytes: that of the last page saves copying.
std::string render_page(const Picture& picture, std::size_t expected_size = 0);

}  // namespace millwright::telemetry
