#include "cloud/aws/interruption.hpp"

#include "cloud/aws/api.hpp"
#include "cloud/aws/aws_cloud.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <array>
#include <optional>

namespace millwright::cloud::aws {
namespace {

namespace json = boost::json;
using base::ErrorKind;

constexpr int kWaitSeconds = 20;  // SQS's longest poll
constexpr int kVisibilitySeconds = 20;
constexpr std::chrono::milliseconds kPollTimeout{35'000};
constexpr base::Duration kAgain = std::chrono::seconds(10);

struct Source {
  std::string_view source;
  std::string_view detail_type;
  InterruptionKind kind;
};
constexpr std::array<Source, 5> kSources{
    {{"aws.ec2", "EC2 Spot Instance Interruption Warning", InterruptionKind::SpotInterrupted},
     {"aws.ec2", "EC2 Instance Rebalance Recommendation", InterruptionKind::RebalanceRecommended},
     {"aws.ec2", "EC2 Instance State-change Notification", InterruptionKind::InstanceStopped},
     {"aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning",
      InterruptionKind::ReservationInterrupted},
     {"aws.health", "AWS Health Event", InterruptionKind::ScheduledChange}}};

InterruptionKind of_state(std::string_view state) {
  if (state == "stopping" || state == "stopped") {
    return InterruptionKind::InstanceStopped;
  }
  return state == "shutting-down" || state == "terminated" ? InterruptionKind::InstanceTerminated
                                                           : InterruptionKind::None;
}

std::vector<std::string> affected(const json::value& detail) {
  std::vector<std::string> ids;
  const auto* entities = model::find_path(detail, "affectedEntities");
  if (entities != nullptr && entities->is_array()) {
    for (const auto& entity : entities->get_array()) {
      if (auto id = json_text(entity, "entityValue"); id.starts_with("i-")) {
        ids.push_back(std::move(id));
      }
    }
  }
  return ids;
}

using Action = InstanceNotice::Action;
struct Said {
  std::string_view kind;
  std::string_view reason;
  std::string_view message;
  Action action;
};
const Said& said_of(InterruptionKind kind) {
  static constexpr std::array<Said, 11> kSaid{
      {{"no_op", "", "", Action::Tell},
       {"spot_interrupted", "SpotInterrupted", "EC2 is about to take the spot instance back",
        Action::Drain},
       {"rebalance_recommendation", "SpotRebalanceRecommendation",
        "EC2 is likely to take the spot instance back soon", Action::Tell},
       {"instance_stopped", "InstanceStopping", "The instance is being stopped", Action::Drain},
       {"instance_terminated", "InstanceTerminating", "The instance is being terminated",
        Action::Drain},
       {"scheduled_change", "InstanceUnhealthy", "AWS has scheduled a change of the instance",
        Action::Drain},
       {"capacity_reservation_interrupted", "CapacityReservationInstanceInterrupted",
        "EC2 is about to take the instance of an interruptible reservation back", Action::Drain},
       {"capacity_block_expiring", "CapacityBlockExpiring",
        "The capacity block ends soon, and EC2 the instance with it", Action::Drain},
       {"instance_status", "InstanceUnhealthy", "The instance fails EC2's instance status check",
        Action::Force},
       {"system_status", "InstanceUnhealthy", "The instance's host fails EC2's system status check",
        Action::Force},
       {"event_status", "InstanceUnhealthy",
        "EC2 has planned to reboot, stop, retire or maintain the instance's host", Action::Drain}}};
  return kSaid[static_cast<std::size_t>(kind)];
}

struct Message {
  std::string body;
  std::string receipt;
};

std::vector<Message> read_messages(const json::value& answer) {
  std::vector<Message> result;
  const auto* list = model::find_path(answer, "Messages");
  if (list != nullptr && list->is_array()) {
    for (const auto& each : list->get_array()) {
      result.push_back({json_text(each, "Body"), json_text(each, "ReceiptHandle")});
    }
  }
  return result;
}

}  // namespace

std::string_view to_string(InterruptionKind kind) {
  return said_of(kind).kind;
}

InstanceNotice notice_of(InterruptionKind kind, std::string provider_id) {
  const auto& said = said_of(kind);
  return {.provider_id = std::move(provider_id),
          .kind = std::string(said.kind),
          .reason = std::string(said.reason),
          .message = std::string(said.message),
          .action = said.action};
}

Interruption parse_interruption(std::string_view body) {
  Interruption result;
  const auto parsed = model::parse_json(body);
  if (!parsed || json_text(*parsed, "version") != "0") {
    return result;
  }
  const auto source = json_text(*parsed, "source");
  const auto type = json_text(*parsed, "detail-type");
  const auto* detail = model::find_path(*parsed, "detail");
  if (detail == nullptr) {
    return result;
  }
  for (const auto& known : kSources) {
    if (known.source == source && known.detail_type == type) {
      result.kind = known.kind;
    }
  }
  if (result.kind == InterruptionKind::InstanceStopped) {
    result.kind = of_state(json_text(*detail, "state"));
  }
  if (result.kind == InterruptionKind::ScheduledChange) {
    const bool about_us = json_text(*detail, "service") == "EC2" &&
                          json_text(*detail, "eventTypeCategory") == "scheduledChange";
    result.kind = about_us ? result.kind : InterruptionKind::None;
    result.instances = affected(*detail);
  } else if (auto id = json_text(*detail, "instance-id"); !id.empty()) {
    result.instances.push_back(std::move(id));
  }
  if (result.kind == InterruptionKind::None || result.instances.empty()) {
    return {};
  }
  result.happened = base::parse_rfc3339(json_text(*parsed, "time"));
  return result;
}

void AwsCloud::tell(InterruptionKind kind, std::string_view zone, std::string_view id) {
  if (interruption_callback_) {
    interruption_callback_(notice_of(kind, provider_id_of(zone, id)));
  }
}

// True when the message has been dealt with and may go.
base::Task<bool> AwsCloud::act_on(std::string body) {
  const auto interruption = parse_interruption(body);
  parts_.metrics.count("karpenter_interruption_received_messages_total",
                       "Messages from the interruption queue, by what they say.",
                       {{"message_type", std::string(to_string(interruption.kind))}});
  for (const auto& id : interruption.instances) {
    auto described = co_await describes_.ask(id);
    if (!described && described.error().kind != ErrorKind::NotFound) {
      co_return false;
    }
    const auto ours = [&](const Ec2Instance& instance) {
      const auto cluster = instance.tags.find(kClusterTag);
      return cluster != instance.tags.end() && cluster->second == parts_.settings.cluster_name;
    };
    if (!described || !ours(*described)) {
      continue;
    }
    parts_.log.info("an instance is about to change",
                    {{"event", std::string(to_string(interruption.kind))}, {"instance", id}});
    if (interruption.kind == InterruptionKind::SpotInterrupted) {
      catalog_.unavailable().mark(described->type, described->zone, model::kSpot,
                                  parts_.loop.now());
      catalog_.touch();
      sold_out_.notify();
      catalog_changed();
    }
    tell(interruption.kind, described->zone, id);
  }
  if (interruption.happened) {
    const std::chrono::duration<double> passed = parts_.loop.now() - *interruption.happened;
    parts_.metrics.observe("karpenter_interruption_message_queue_duration_seconds",
                           "From an event until its message was acted on.", {},
                           std::max(0.0, passed.count()));
  }
  co_return true;
}

base::Task<ApiResult<std::string>> AwsCloud::queue_url() {
  const auto& queue = parts_.settings.interruption_queue;
  if (queue.starts_with("https://") || queue.starts_with("http://")) {
    co_return queue;
  }
  json::value body{{"QueueName", queue}};
  auto answered = co_await api_.json(Service::Sqs, "GetQueueUrl", std::move(body));
  MW_CO_TRY(answer, std::move(answered));
  co_return json_text(answer, "QueueUrl");
}

// One poll: what arrived is acted on and, only then, deleted. A message that is not comes again.
base::Task<ApiResult<>> AwsCloud::poll(std::string url, std::stop_token stop) {
  json::value body{{"QueueUrl", url},
                   {"MaxNumberOfMessages", 10},
                   {"VisibilityTimeout", kVisibilitySeconds},
                   {"WaitTimeSeconds", kWaitSeconds},
                   {"MessageSystemAttributeNames", json::array{"SentTimestamp"}}};
  Patience patience(stop);
  patience.timeout = kPollTimeout;
  auto answered =
      co_await api_.json(Service::Sqs, "ReceiveMessage", std::move(body), std::move(patience));
  MW_CO_TRY(answer, std::move(answered));
  for (const auto& message : read_messages(answer)) {
    const bool done = co_await act_on(message.body);
    if (!done) {
      continue;
    }
    json::value request{{"QueueUrl", url}, {"ReceiptHandle", message.receipt}};
    auto deleted = co_await api_.json(Service::Sqs, "DeleteMessage", std::move(request));
    if (!deleted) {
      co_return tl::unexpected(std::move(deleted).error());
    }
    parts_.metrics.count("karpenter_interruption_deleted_messages_total",
                         "Messages of the interruption queue that were dealt with.");
  }
  co_return ApiResult<>{};
}

base::Task<void> AwsCloud::keep_listening(std::stop_token stop) {
  std::string url;
  while (!stop.stop_requested()) {
    ApiResult<> polled;
    if (url.empty()) {
      auto found = co_await queue_url();
      if (found) {
        url = *std::move(found);
      } else {
        polled = tl::unexpected(std::move(found).error());
      }
    }
    if (polled) {
      polled = co_await poll(url, stop);
    }
    if (!polled && !stop.stop_requested()) {
      parts_.log.error(
          "the interruption queue could not be read",
          {{"queue", parts_.settings.interruption_queue}, {"error", polled.error().message}});
      url.clear();
      co_await base::sleep(parts_.loop, kAgain, stop);
    }
  }
}

}  // namespace millwright::cloud::aws
