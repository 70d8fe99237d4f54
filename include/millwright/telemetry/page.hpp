// The gauges of the cluster state, written from a snapshot when /metrics is read. Nothing is
// counted as events come, so the series of an object ends with the object. Names and labels are
// Karpenter's (docs/metrics.md). Pure: any thread, over an immutable snapshot.
#pragma once

#include "millwright/scheduling/snapshot.hpp"
#include "millwright/telemetry/chronicle.hpp"

#include <cstddef>
#include <string>

namespace millwright::telemetry {

struct PageInput {
  const scheduling::Snapshot& snapshot;
  const scheduling::Catalog& catalog;  // for what nodes cost
  const Chronicle& chronicle;
  base::TimePoint now;
};

// Prometheus text format; a family without series still has its help line. `expected_size` is the
// size of the last page in bytes, and saves copying.
std::string render_page(const PageInput& input, std::size_t expected_size = 0);

}  // namespace millwright::telemetry
