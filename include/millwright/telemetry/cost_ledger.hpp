// What nodes have cost since this process began to lead, by what they were used for, so that one
// can see what is paid for waiting. It adds up what each look finds, as if it had been so since the
// look before. One thread.
#pragma once

#include "millwright/base/metrics.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <optional>
#include <string_view>

namespace millwright::telemetry {

enum class NodeUse : std::uint8_t {
  Starting,  // launched, and not initialized yet
  Reserved,  // only DaemonSets' pods on it, and room kept for others
  Empty,     // only DaemonSets' pods on it
  Working,
  Leaving,  // being removed
};
std::string_view to_string(NodeUse use);  // "starting"

class CostLedger {
 public:
  // Writes millwright_cost_total{nodepool, use}.
  explicit CostLedger(base::Metrics& metrics) : metrics_(metrics) {}

  void look(const scheduling::Snapshot& snapshot, const scheduling::Catalog& catalog,
            base::TimePoint now);

 private:
  base::Metrics& metrics_;
  std::optional<base::TimePoint> last_;
};

}  // namespace millwright::telemetry
