// EC2's own checks of instances and its plans for their hosts (DescribeInstanceStatus): which of
// them mean that an instance has to go (Karpenter's controller interruption.instancestatus). Loop
// thread only.
#pragma once

#include "cloud/aws/calls/api.hpp"
#include "cloud/aws/health/interruption.hpp"
#include "cloud/aws/launch/ownership.hpp"
#include "millwright/base/log.hpp"
#include "millwright/base/metrics.hpp"

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace millwright::cloud::aws {

// What EC2 finds wrong with an instance, and since when, where it says that.
struct InstanceHealth {
  std::string instance;
  std::string zone;
  std::map<InterruptionKind, std::optional<base::TimePoint>> problems;
};

// The account's instances that fail a check of EC2's, or for which it has planned an event.
base::Task<ApiResult<std::vector<InstanceHealth>>> unhealthy_instances(Api& api);

// Karpenter's categories: "InstanceStatus", "SystemStatus", "EventStatus".
std::string_view category_of(InterruptionKind kind);

// How long each problem has lasted, over one answer after another. Pure.
class HealthHistory {
 public:
  // A check may fail that long before its instance has to go.
  static constexpr base::Duration kTolerated = std::chrono::seconds(120);

  struct Finding {
    std::string instance;
    std::string zone;
    InterruptionKind kind = InterruptionKind::None;
    bool is_new = false;  // the last answer did not lead to it
    bool operator==(const Finding&) const = default;
  };
  // What has to be acted on after the latest answer: planned events at once, failed checks when
  // they have failed for long enough. By instance, failed checks before events.
  std::vector<Finding> judge(const std::vector<InstanceHealth>& all, base::TimePoint now);

 private:
  struct Problem {
    base::TimePoint since;
    bool found = false;
  };
  std::map<std::pair<std::string, InterruptionKind>, Problem> known_;
};

// Asks EC2 every minute and tells of what it finds about nodes' instances.
class InstanceStatus {
 public:
  struct Parts {
    Api& api;
    const Ownership& ownership;
    base::Metrics& metrics;
    base::Logger log;
    TellInterruption tell;
  };
  explicit InstanceStatus(Parts parts) : parts_(std::move(parts)) {}

  base::Task<void> run(std::stop_token stop);

 private:
  // Returns how long to wait until the next.
  base::Task<base::Duration> check();

  Parts parts_;
  HealthHistory history_;
};

}  // namespace millwright::cloud::aws
