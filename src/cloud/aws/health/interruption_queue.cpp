#include "cloud/aws/health/interruption_queue.hpp"

#include "cloud/aws/launch/launch_request.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

namespace json = boost::json;

constexpr int kWaitSeconds = 20;  // SQS's longest poll
constexpr int kVisibilitySeconds = 20;
constexpr std::chrono::milliseconds kPollTimeout{35'000};
constexpr base::Duration kPollAgain = std::chrono::seconds(10);  // after a failure
// EC2 may launch an instance and not show it for a while. The message comes again meanwhile.
constexpr base::Duration kUntilShown = std::chrono::minutes(5);

bool is_past(const Interruption& interruption, base::TimePoint now) {
  return !interruption.happened || now - *interruption.happened > kUntilShown;
}

}  // namespace

base::Task<void> InterruptionQueue::run(std::stop_token stop) {
  std::string url;
  while (!stop.stop_requested()) {
    ApiResult<> polled;
    if (url.empty()) {
      auto found = co_await find_url();
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
      parts_.log.error("the interruption queue could not be read",
                       {{"queue", parts_.queue}, {"error", polled.error().message}});
      url.clear();
      co_await base::sleep(parts_.api.loop(), kPollAgain, stop);
    }
  }
}

std::vector<InterruptionQueue::Message> InterruptionQueue::read_messages(
    const json::value& answer) {
  std::vector<Message> result;
  const auto* list = model::find_path(answer, "Messages");
  if (list != nullptr && list->is_array()) {
    for (const auto& each : list->get_array()) {
      result.push_back({std::string(model::text_at(each, "Body")),
                        std::string(model::text_at(each, "ReceiptHandle"))});
    }
  }
  return result;
}

base::Task<ApiResult<std::string>> InterruptionQueue::find_url() {
  const auto& queue = parts_.queue;
  if (queue.starts_with("https://") || queue.starts_with("http://")) {
    co_return queue;
  }
  json::value body{{"QueueName", queue}};
  MW_CO_TRY(answer, co_await parts_.api.json(Service::Sqs, "GetQueueUrl", std::move(body)));
  co_return std::string(model::text_at(answer, "QueueUrl"));
}

base::Task<ApiResult<>> InterruptionQueue::poll(std::string url, std::stop_token stop) {
  json::value body{{"QueueUrl", url},
                   {"MaxNumberOfMessages", 10},
                   {"VisibilityTimeout", kVisibilitySeconds},
                   {"WaitTimeSeconds", kWaitSeconds},
                   {"MessageSystemAttributeNames", json::array{"SentTimestamp"}}};
  Patience patience(stop);
  patience.timeout = kPollTimeout;
  MW_CO_TRY(answer, co_await parts_.api.json(Service::Sqs, "ReceiveMessage", std::move(body),
                                             std::move(patience)));
  // All at once: a reclaim of many spot instances leaves two minutes.
  base::TaskGroup group(parts_.api.loop());
  for (auto& message : read_messages(answer)) {
    group.spawn(handle(url, std::move(message)));
  }
  co_await group.join();
  co_return ApiResult<>{};
}

base::Task<void> InterruptionQueue::handle(std::string url, Message message) {
  const bool done = co_await act_on(message.body);
  if (!done) {
    co_return;
  }
  json::value request{{"QueueUrl", url}, {"ReceiptHandle", message.receipt}};
  auto deleted = co_await parts_.api.json(Service::Sqs, "DeleteMessage", std::move(request));
  if (!deleted) {
    parts_.log.warn("a message of the interruption queue could not be deleted, it will come again",
                    {{"queue", parts_.queue}, {"error", deleted.error().message}});
    co_return;
  }
  parts_.metrics.count("karpenter_interruption_deleted_messages_total",
                       "Messages of the interruption queue that were dealt with.");
}

base::Task<bool> InterruptionQueue::act_on(std::string body) {
  const auto interruption = parse_interruption(body);
  parts_.metrics.count("karpenter_interruption_received_messages_total",
                       "Messages from the interruption queue, by what they say.",
                       {{"message_type", std::string(to_string(interruption.kind))}});
  bool done = true;
  for (const auto& id : interruption.instances) {
    auto described = co_await parts_.instances.describe(id);
    const bool is_gone = !described && described.error().kind == base::ErrorKind::NotFound &&
                         is_past(interruption, parts_.api.loop().now());
    done = done && (described || is_gone);
    if (described && described->tag(kClusterTag) == parts_.cluster_name) {
      const bool acted = co_await act_on_instance(interruption.kind, *described);
      done = done && acted;
    }
  }
  if (done && interruption.happened) {
    const std::chrono::duration<double> passed = parts_.api.loop().now() - *interruption.happened;
    parts_.metrics.observe("karpenter_interruption_message_queue_duration_seconds",
                           "From an event until its message was acted on.", {},
                           std::max(0.0, passed.count()));
  }
  co_return done;
}

base::Task<bool> InterruptionQueue::act_on_instance(InterruptionKind kind, Ec2Instance instance) {
  parts_.log.info("an instance is about to change",
                  {{"event", std::string(to_string(kind))}, {"instance", instance.id}});
  if (kind == InterruptionKind::SpotInterrupted) {
    parts_.catalog.unavailable().mark(instance.type, instance.zone, model::kSpot,
                                      parts_.api.loop().now());
    parts_.restock.marked();
  }
  const auto acted = co_await parts_.tell(kind, instance.zone, instance.id);
  co_return acted.has_value();
}

}  // namespace millwright::cloud::aws
