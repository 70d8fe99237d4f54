// AWS: an EC2 that remembers, an IAM, and an SQS queue with EventBridge's messages.
#include "cloud/aws/aws_cloud.hpp"

#include "cloud/aws/catalog/type_labels.hpp"
#include "cloud/aws/launch/launch_request.hpp"
#include "simulate/world/clouds/remembering_cloud.hpp"
#include "unit/cloud/aws/fakes/fake_ec2.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::test {
namespace {

namespace json = boost::json;
using cloud::aws::Asked;
using cloud::aws::FakeEc2;
using std::chrono::seconds;

// Hands a message out again when it was not deleted in time, and some twice at once.
class EventQueue {
 public:
  EventQueue(base::Loop& loop, base::Random random) : loop_(loop), random_(random) {}

  void put(std::string body) {
    const int copies = random_.below(3) == 0 ? 2 : 1;
    for (int copy = 0; copy < copies; ++copy) {
      messages_["receipt-" + std::to_string(++made_)] = {body, loop_.now()};
    }
  }
  bool has_any() const {
    return std::any_of(messages_.begin(), messages_.end(),
                       [this](const auto& item) { return item.second.visible_at <= loop_.now(); });
  }
  net::Response receive() {
    json::array list;
    for (auto& [receipt, message] : messages_) {
      if (message.visible_at <= loop_.now() && list.size() < 10) {
        message.visible_at = loop_.now() + kInvisible;
        list.push_back(json::object{{"ReceiptHandle", receipt}, {"Body", message.body}});
      }
    }
    json::object answer;
    if (!list.empty()) {
      answer["Messages"] = std::move(list);
    }
    return net::Response::json(200, json::serialize(answer));
  }
  void remove(const std::string& receipt) { messages_.erase(receipt); }

 private:
  static constexpr auto kInvisible = seconds(20);
  struct Message {
    std::string body;
    base::TimePoint visible_at;
  };

  base::Loop& loop_;
  base::Random random_;
  std::map<std::string, Message> messages_;  // by receipt
  int made_ = 0;
};

class AwsWorldCloud final : public RememberingCloud {
 public:
  AwsWorldCloud(base::VirtualLoop& loop, const Schedule& schedule, MachineListener& listener)
      : RememberingCloud(loop, schedule, listener),
        ec2_(loop, http_),
        queue_(loop, base::Random(schedule.seed)) {
    cloud::aws::register_labels();
    machine_.variables = {{"AWS_ACCESS_KEY_ID", "A"}, {"AWS_SECRET_ACCESS_KEY", "S"}};
    api_.throttled = cloud::aws::ec2_error("RequestLimitExceeded", 503);
    api_.holds = [this](const net::ClientRequest& request) {
      const bool waits = request.headers.get("X-Amz-Target").ends_with("ReceiveMessage");
      return waits && !queue_.has_any() ? seconds(20) : seconds(0);
    };
    ec2_.answer_discovery();
    ec2_.answer_profiles();
    ec2_.on_launch = [this](const FakeEc2::Machine& made) { boot(instance_of(made)); };
    ec2_.on_termination = [this](const FakeEc2::Machine& made) {
      shut_down(instance_of(made).provider_id);
    };
    ec2_.aws.on("GetQueueUrl", R"({"QueueUrl":"https://sqs/1/events"})");
    ec2_.aws.on("ReceiveMessage", [this](const Asked&) { return queue_.receive(); });
    ec2_.aws.on("DeleteMessage", [this](const Asked& asked) {
      queue_.remove(std::string(json::parse(asked.body).at("ReceiptHandle").as_string()));
      return net::Response::json(200, "{}");
    });
  }

  std::unique_ptr<cloud::Provider> provider(ProviderParts parts) override {
    cloud::AwsSettings settings{.cluster_name = "demo", .cluster_endpoint = "https://api.example"};
    settings.kubernetes_version = "1.31";
    settings.service_cidr = "10.100.0.0/16";
    settings.interruption_queue = "events";
    settings.seed = parts.seed;
    return std::make_unique<cloud::aws::AwsCloud>(
        cloud::aws::AwsCloud::Parts{
            .loop = parts.loop,
            .client = connect(parts),
            .settings = settings,
            .environment = machine_.environment(),
            .endpoints = *cloud::aws::Endpoints::make("us-west-2", machine_.environment()),
            .metrics = parts.metrics,
            .log = {}},
        cloud::PriceFile{});
  }
  std::string node_class() const override { return std::string(cloud::aws::kNodeClass); }
  std::string node_class_ref() const override {
    return "group: karpenter.k8s.aws, kind: EC2NodeClass";
  }
  bool interrupt(const std::string& provider_id) override {
    auto* const machine = find_machine(ec2_.machines, provider_id);
    if (machine == nullptr || machine->state != "running") {
      return false;
    }
    queue_.put(json::serialize(
        json::value{{"version", "0"},
                    {"source", "aws.ec2"},
                    {"detail-type", "EC2 Spot Instance Interruption Warning"},
                    {"time", base::format_rfc3339(loop_.now())},
                    {"detail", {{"instance-id", machine->id}, {"instance-action", "terminate"}}}}));
    loop_.after(kInterruptionNotice, [this, provider_id] { lose(provider_id); });
    return true;
  }
  void lose(const std::string& provider_id) override {
    if (const auto* machine = find_machine(ec2_.machines, provider_id);
        machine != nullptr && machine->state != "terminated") {
      end(provider_id);
    }
  }
  std::string claim_uid_of(const std::string& provider_id) const override {
    return tag_of(ec2_.machines, provider_id, cloud::aws::kClaimUidTag);
  }

 private:
  std::string change_in(const net::ClientRequest& request) const override {
    std::string operation(request.headers.get("X-Amz-Target"));
    operation.erase(0, operation.find('.') + 1);
    if (operation.empty()) {
      const auto begin = request.body.find("Action=");
      const auto end = request.body.find('&', begin);
      operation = begin == std::string::npos ? "" : request.body.substr(begin + 7, end - begin - 7);
    }
    const bool tries = request.body.find("DryRun=true") != std::string::npos;
    return tries || only_asks(operation) ? std::string() : operation;
  }
  void set_lag(base::Duration lag) override {
    ec2_.lag = lag;
    for (auto& machine : ec2_.machines) {
      machine.visible_at = std::min(machine.visible_at, loop_.now() + lag);
    }
  }
  void restock() override {
    ec2_.sold_out.clear();
    if (api_.trouble.no_capacity > 0) {
      for (const auto& type : types_) {
        for (const std::string zone : {" us-west-2a", " us-west-2b"}) {
          if (is_sold_out()) {
            ec2_.sold_out.insert(type.name + zone);
          }
        }
      }
    }
  }
  void forget(const std::string& provider_id) override {
    if (auto* machine = find_machine(ec2_.machines, provider_id)) {
      machine->state = "terminated";
    }
  }

  FakeEc2 ec2_;
  EventQueue queue_;
  std::vector<cloud::aws::TypeFacts> types_ = cloud::aws::test_types();
};

}  // namespace

std::unique_ptr<WorldCloud> make_aws_cloud(base::VirtualLoop& loop, const Schedule& schedule,
                                           MachineListener& listener) {
  return std::make_unique<AwsWorldCloud>(loop, schedule, listener);
}

}  // namespace millwright::test
