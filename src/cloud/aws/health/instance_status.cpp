#include "cloud/aws/health/instance_status.hpp"

#include "cloud/aws/calls/ec2.hpp"
#include "cloud/aws/launch/ownership.hpp"

#include <algorithm>
#include <array>

namespace millwright::cloud::aws {
namespace {

constexpr base::Duration kHealthPeriod = std::chrono::minutes(1);
// While the role lacks the permission: somebody may give it.
constexpr base::Duration kHealthAgain = std::chrono::minutes(30);

const std::array<std::string, 5> kEventCodes{"instance-reboot", "system-reboot",
                                             "system-maintenance", "instance-retirement",
                                             "instance-stop"};

// Since when a check fails; nullopt: it does not. EC2 may leave the time out.
struct Failure {
  std::optional<base::TimePoint> since;
};
std::optional<Failure> failure_of(const XmlNode& status) {
  std::optional<Failure> result;
  for (const auto& check : status.items("details")) {
    if (check.text_of("status") != "failed") {
      continue;
    }
    const auto parsed = base::parse_rfc3339(check.text_of("impairedSince"));
    if (!result) {
      result = Failure{};
    }
    if (parsed) {
      result->since = result->since ? std::min(*result->since, *parsed) : *parsed;
    }
  }
  return result;
}

// EC2 shows events for a week after they are over.
bool is_to_come(const XmlNode& event) {
  const auto& text = event.text_of("description");
  const auto& code = event.text_of("code");
  return !text.starts_with("[Completed]") && !text.starts_with("[Canceled]") &&
         std::find(kEventCodes.begin(), kEventCodes.end(), code) != kEventCodes.end();
}

InstanceHealth read_health(const XmlNode& item) {
  InstanceHealth health;
  health.instance = item.text_of("instanceId");
  health.zone = item.text_of("availabilityZone");
  if (const auto failed = failure_of(item.child("instanceStatus"))) {
    health.problems[InterruptionKind::InstanceCheckFailed] = failed->since;
  }
  if (const auto failed = failure_of(item.child("systemStatus"))) {
    health.problems[InterruptionKind::SystemCheckFailed] = failed->since;
  }
  const auto events = item.items("eventsSet");
  if (std::any_of(events.begin(), events.end(), is_to_come)) {
    health.problems[InterruptionKind::EventPlanned] = std::nullopt;
  }
  return health;
}

}  // namespace

std::string_view category_of(InterruptionKind kind) {
  return kind == InterruptionKind::InstanceCheckFailed ? "InstanceStatus"
         : kind == InterruptionKind::SystemCheckFailed ? "SystemStatus"
                                                       : "EventStatus";
}

// EC2 takes several filters for a conjunction, so that each is a call of its own.
base::Task<ApiResult<std::vector<InstanceHealth>>> unhealthy_instances(Api& api) {
  const std::vector<Filter> filters{{"instance-status.status", {"impaired"}},
                                    {"system-status.status", {"impaired"}},
                                    {"event.code", {kEventCodes.begin(), kEventCodes.end()}}};
  std::map<std::string, InstanceHealth> found;
  const auto read = [&found](const XmlNode& root) {
    for (const auto& item : root.items("instanceStatusSet")) {
      auto health = read_health(item);
      if (!health.problems.empty()) {
        found.try_emplace(health.instance, std::move(health));
      }
    }
  };
  Ec2 ec2(api);
  for (const auto& filter : filters) {
    Form form("DescribeInstanceStatus", kEc2Version);
    form.add_filter(filter.name, filter.values);
    form.add("MaxResults", 1000);
    MW_CO_CHECK(co_await ec2.pages(std::move(form), read));
  }
  std::vector<InstanceHealth> result;
  for (auto& [id, health] : found) {
    result.push_back(std::move(health));
  }
  co_return result;
}

std::vector<HealthHistory::Finding> HealthHistory::judge(const std::vector<InstanceHealth>& all,
                                                         base::TimePoint now) {
  std::map<std::pair<std::string, InterruptionKind>, Problem> still;
  std::vector<Finding> findings;
  for (const auto& health : all) {
    for (const auto& [kind, since] : health.problems) {
      const auto key = std::make_pair(health.instance, kind);
      const auto before = known_.find(key);
      Problem known{.since = now};
      if (before != known_.end()) {
        known = before->second;
      }
      if (since) {
        known.since = *since;
      }
      const bool is_due = kind == InterruptionKind::EventPlanned || now - known.since >= kTolerated;
      if (is_due) {
        findings.push_back({health.instance, health.zone, kind, !known.found});
      }
      known.found = is_due;
      still[key] = known;
    }
  }
  known_ = std::move(still);
  return findings;
}

base::Task<void> InstanceStatus::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const auto pause = co_await check();
    co_await base::sleep(parts_.api.loop(), pause, stop);
  }
}

base::Task<base::Duration> InstanceStatus::check() {
  auto unhealthy = co_await unhealthy_instances(parts_.api);
  if (!unhealthy) {
    const bool denied = unhealthy.error().kind == base::ErrorKind::Denied;
    parts_.log.error("the status checks of instances could not be read",
                     {{"error", unhealthy.error().message}});
    co_return denied ? kHealthAgain : kHealthPeriod;
  }
  // The answer is about the whole account.
  std::erase_if(*unhealthy, [this](const InstanceHealth& each) {
    return !parts_.ownership.is_recorded(provider_id_of(each.zone, each.instance));
  });
  std::string told;  // one notice for each instance: its worst problem
  const auto findings = history_.judge(*unhealthy, parts_.api.loop().now());
  for (const auto& finding : findings) {
    const std::string category(category_of(finding.kind));
    if (finding.is_new) {
      parts_.log.warn("an instance is unhealthy",
                      {{"instance", finding.instance}, {"check", category}});
      parts_.metrics.count("karpenter_interruption_instance_status_unhealthy_total",
                           "Failures and planned events that EC2 showed of nodes' instances.",
                           {{"category", category}});
    }
    if (finding.instance != told) {
      told = finding.instance;
      // What nobody could act on is told again after the next answer.
      co_await parts_.tell(finding.kind, finding.zone, finding.instance);
    }
  }
  co_return kHealthPeriod;
}

}  // namespace millwright::cloud::aws
