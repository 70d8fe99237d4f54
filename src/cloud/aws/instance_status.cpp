#include "cloud/aws/instance_status.hpp"

#include "cloud/aws/aws_cloud.hpp"

#include <algorithm>
#include <array>

namespace millwright::cloud::aws {
namespace {

constexpr base::Duration kHealthPeriod = std::chrono::minutes(1);
// While the role may not ask: somebody may change that.
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
base::Task<ApiResult<std::vector<InstanceHealth>>> Ec2::unhealthy_instances() {
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
  for (const auto& filter : filters) {
    Form form("DescribeInstanceStatus", kEc2Version);
    form.add_filter(filter.name, filter.values);
    form.add("MaxResults", 1000);
    auto done = co_await pages(std::move(form), read);
    if (!done) {
      co_return tl::unexpected(std::move(done).error());
    }
  }
  std::vector<InstanceHealth> result;
  for (auto& [id, health] : found) {
    result.push_back(std::move(health));
  }
  co_return result;
}

std::vector<HealthWatch::Finding> HealthWatch::judge(const std::vector<InstanceHealth>& all,
                                                     base::TimePoint now) {
  std::map<std::pair<std::string, InterruptionKind>, Known> still;
  std::vector<Finding> findings;
  for (const auto& health : all) {
    for (const auto& [kind, since] : health.problems) {
      const auto key = std::make_pair(health.instance, kind);
      const auto before = known_.find(key);
      Known known{.since = now};
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

base::Task<base::Duration> AwsCloud::check_health() {
  auto found = co_await ec2_.unhealthy_instances();
  if (!found) {
    const bool denied = found.error().kind == base::ErrorKind::Denied;
    parts_.log.error("the status checks of instances could not be read",
                     {{"error", found.error().message}});
    co_return denied ? kHealthAgain : kHealthPeriod;
  }
  // The answer is about the whole account.
  std::erase_if(*found, [this](const InstanceHealth& each) {
    return !launcher_.ownership().is_recorded(provider_id_of(each.zone, each.instance));
  });
  std::string told;  // one notice for each instance: its worst
  for (const auto& each : health_.judge(*found, parts_.loop.now())) {
    if (each.is_news) {
      parts_.log.warn("an instance is unhealthy", {{"instance", each.instance},
                                                   {"check", std::string(category_of(each.kind))}});
      parts_.metrics.count("karpenter_interruption_instance_status_unhealthy_total",
                           "Failures and planned events that EC2 showed of nodes' instances.",
                           {{"category", std::string(category_of(each.kind))}});
    }
    if (each.instance != told) {
      told = each.instance;
      tell(each.kind, each.zone, each.instance);
    }
  }
  co_return kHealthPeriod;
}

base::Task<void> AwsCloud::watch_health(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const auto pause = co_await check_health();
    co_await base::sleep(parts_.loop, pause, stop);
  }
}

}  // namespace millwright::cloud::aws
