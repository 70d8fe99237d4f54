// EC2's own checks of instances and its plans for their hosts (DescribeInstanceStatus): which of
// them mean that an instance has to go (Karpenter's controller interruption.instancestatus).
#pragma once

#include "cloud/aws/ec2.hpp"
#include "cloud/aws/interruption.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace millwright::cloud::aws {

// Karpenter's categories: "InstanceStatus", "SystemStatus", "EventStatus".
std::string_view category_of(InterruptionKind kind);

class HealthWatch {
 public:
  // A check that fails is borne that long.
  static constexpr base::Duration kTolerated = std::chrono::seconds(120);

  struct Finding {
    std::string instance;
    std::string zone;
    InterruptionKind kind = InterruptionKind::None;
    bool is_news = false;  // the last look did not find it
    bool operator==(const Finding&) const = default;
  };
  // What of the latest answer is to be acted on: planned events at once, failed checks when they
  // have failed for long enough. By instance, failed checks before events.
  std::vector<Finding> judge(const std::vector<InstanceHealth>& all, base::TimePoint now);

 private:
  struct Known {
    base::TimePoint since;
    bool found = false;
  };
  std::map<std::pair<std::string, InterruptionKind>, Known> known_;
};

}  // namespace millwright::cloud::aws
