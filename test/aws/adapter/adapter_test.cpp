// The real adapter over real HTTP against test/aws/facade.py, which verifies every signature. Run
// by `scripts/test aws`, which starts the facade and names it in MILLWRIGHT_AWS_FACADE.
#include "millwright/base/loop.hpp"
#include "millwright/base/task.hpp"
#include "millwright/cloud/aws.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/net/client.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace millwright::cloud {
namespace {

namespace json = boost::json;
using base::ErrorKind;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr std::string_view kSecret = "not-a-real-secret/0123456789+abcdefghijkl";

std::string facade() {
  const char* url = std::getenv("MILLWRIGHT_AWS_FACADE");
  return url == nullptr ? "" : url;
}

// Keeps every record as text, to be searched for secrets.
class Records final : public base::LogSink {
 public:
  bool enabled(base::LogLevel /*level*/) const override { return true; }
  void write(base::LogLevel /*level*/, std::string_view logger, std::string_view message,
             const std::vector<base::LogField>& fields) override {
    const std::scoped_lock lock(mutex_);
    text_.append(logger).append(" ").append(message);
    for (const auto& [key, value] : fields) {
      text_.append(" ").append(key).append("=").append(value);
    }
    text_ += '\n';
  }
  std::string text() const {
    const std::scoped_lock lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

// A loop on a thread of its own; tasks are run on it one after the other.
class LoopThread {
 public:
  LoopThread() : thread_([this] { loop.run(); }) {
    call([this] { group_ = std::make_unique<base::TaskGroup>(loop); });
  }
  ~LoopThread() {
    call([this] { group_.reset(); });
    loop.stop();
    thread_.join();
  }
  void call(const std::function<void()>& work) {
    std::promise<void> done;
    loop.post([&] {
      work();
      done.set_value();
    });
    done.get_future().get();
  }
  template <class T>
  T run(std::function<base::Task<T>()> make) {
    std::promise<T> done;
    auto future = done.get_future();
    loop.post([&] { group_->spawn(keep(make(), done)); });
    return future.get();
  }
  void spawn(std::function<base::Task<void>(std::stop_token)> make) {
    call([&] { group_->spawn(make(group_->stop_token())); });
  }
  base::RealLoop loop;

 private:
  template <class T>
  static base::Task<void> keep(base::Task<T> task, std::promise<T>& done) {
    auto value = co_await std::move(task);
    done.set_value(std::move(value));
  }
  std::unique_ptr<base::TaskGroup> group_;
  std::thread thread_;
};

class Adapter : public testing::Test {
 protected:
  void SetUp() override {
    if (facade().empty()) {
      GTEST_SKIP() << "run by scripts/test aws";
    }
    environment = {{"AWS_REGION", "us-west-2"},
                   {"AWS_ENDPOINT_URL", facade()},
                   {"AWS_ACCESS_KEY_ID", "AKIDMILLWRIGHTTEST00"},
                   {"AWS_SECRET_ACCESS_KEY", std::string(kSecret)}};
    client = net::make_client(thread.loop);
    control("/_facade/sold-out", "{}");
  }
  void TearDown() override {
    thread.call([this] {
      background.reset();
      cloud.reset();
    });
    EXPECT_THAT(records->text(), Not(HasSubstr(std::string(kSecret))));
    EXPECT_THAT(metrics.render(), Not(HasSubstr(std::string(kSecret))));
    if (!facade().empty()) {  // keys, session tokens and agents' tokens, in any request so far
      EXPECT_EQ(json::serialize(control("/_facade/ledger").at("leaks")), "[]");
    }
  }

  void start() {
    AwsSettings settings;
    settings.cluster_name = "demo";
    auto made = make_aws_cloud(
        thread.loop, *client, settings,
        [this](const std::string& name) -> std::optional<std::string> {
          const auto found = environment.find(name);
          return found == environment.end() ? std::nullopt : std::optional(found->second);
        },
        metrics, base::Logger(records, "aws"));
    ASSERT_TRUE(made) << made.error().message;
    cloud = *std::move(made);
    thread.call([this] {
      background = std::make_unique<base::TaskGroup>(thread.loop);
      background->spawn(cloud->run(background->stop_token()));
    });
  }

  // Until the region's types and prices are known.
  void wait_for_catalog() {
    struct Until {
      static base::Task<bool> known(base::Loop& loop, Provider& provider,
                                    std::shared_ptr<const model::NodeClass> of) {
        for (int i = 0; i < 600; ++i) {
          const auto types = provider.instance_types({}, *of);
          if (types && price_of(*types) != 0) {
            co_return true;
          }
          co_await base::sleep(loop, 100ms);
        }
        co_return false;
      }
      static double price_of(const scheduling::InstanceTypes& types) {
        const auto* type = scheduling::find_type(types, "m5.large");
        return type == nullptr || type->offerings.empty() ? 0 : type->offerings.front().price;
      }
    };
    const bool known =
        thread.run<bool>([this] { return Until::known(thread.loop, *cloud, the_class); });
    ASSERT_TRUE(known) << records->text();
  }

  std::shared_ptr<model::NodeClass> make_class() const {
    auto result = std::make_shared<model::NodeClass>();
    result->api_version = "karpenter.k8s.aws/v1";
    result->kind = "EC2NodeClass";
    result->meta.name = "default";
    result->meta.uid = "0b54bb6e-0000-4000-8000-000000000001";
    const json::array discovery{{{"tags", {{"karpenter.sh/discovery", "demo"}}}}};
    result->spec = {{"subnetSelectorTerms", discovery},
                    {"securityGroupSelectorTerms", discovery},
                    {"amiSelectorTerms", json::array{{{"alias", "al2023@latest"}}}},
                    {"role", "node-role"}};
    return result;
  }
  // Resolves the class through AWS and keeps what it found.
  NodeClassState resolve() {
    auto of = make_class();
    auto state = thread.run<base::Result<NodeClassState>>([&] { return cloud->resolve(of); });
    EXPECT_TRUE(state) << state.error().message;
    if (state) {
      of->status = state->status;
      the_class = of;
    }
    return state ? *state : NodeClassState{};
  }

  std::shared_ptr<model::NodeClaim> claim_named(const std::string& name,
                                                std::vector<std::string> types) const {
    auto claim = std::make_shared<model::NodeClaim>();
    claim->meta.name = name;
    claim->meta.uid = "uid-" + name;
    claim->meta.labels[std::string(model::kNodePoolLabel)] = "pool";
    claim->requirements = {
        {.key = "node.kubernetes.io/instance-type",
         .op = model::Operator::In,
         .values = std::move(types)},
        {.key = "karpenter.sh/capacity-type", .op = model::Operator::In, .values = {"on-demand"}},
        {.key = "topology.kubernetes.io/zone",
         .op = model::Operator::In,
         .values = {"us-west-2a"}}};
    return claim;
  }
  base::Result<Instance> create(std::shared_ptr<const model::NodeClaim> claim) {
    return thread.run<base::Result<Instance>>([&] { return cloud->create(claim, the_class); });
  }
  base::Result<> remove(std::shared_ptr<const model::NodeClaim> claim) {
    return thread.run<base::Result<>>([&] { return cloud->remove(claim); });
  }
  base::Result<std::vector<Instance>> list() {
    return thread.run<base::Result<std::vector<Instance>>>([&] { return cloud->list(); });
  }

  json::value control(const std::string& path, const std::string& body = "") {
    net::ClientRequest request;
    request.method = body.empty() ? "GET" : "POST";
    request.url = facade() + path;
    request.body = body;
    const auto answer = client->send_blocking(std::move(request));
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? json::parse(answer->body) : json::value();
  }
  std::int64_t calls(const std::string& action) {
    const auto ledger = control("/_facade/ledger");
    const auto* found = ledger.at("calls").as_object().if_contains(action);
    return found == nullptr ? 0 : found->as_int64();
  }

  LoopThread thread;
  std::map<std::string, std::string> environment;
  std::unique_ptr<net::Client> client;
  std::shared_ptr<Records> records = std::make_shared<Records>();
  base::Metrics metrics;
  std::unique_ptr<Provider> cloud;
  std::unique_ptr<base::TaskGroup> background;
  std::shared_ptr<const model::NodeClass> the_class;
};

TEST_F(Adapter, AClaimsWholeLife) {
  const auto refused_before = control("/_facade/ledger").at("bad_signatures").as_int64();
  start();
  const auto state = resolve();
  EXPECT_TRUE(state.ready) << state.message;
  EXPECT_EQ(state.status.at("subnets").as_array().size(), 4U);
  EXPECT_EQ(state.status.at("securityGroups").as_array().size(), 1U);
  EXPECT_EQ(state.status.at("amis").as_array().size(), 2U);
  wait_for_catalog();

  const auto claim = claim_named("whole-life", {"m5.large"});
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->provider_id, testing::StartsWith("aws:///us-west-2a/i-"));
  EXPECT_EQ(made->labels.at("node.kubernetes.io/instance-type"), "m5.large");
  EXPECT_EQ(made->labels.at("topology.k8s.aws/zone-id"), "usw2-az2");
  EXPECT_EQ(model::get(made->allocatable, "cpu").milli(), 1930);

  // The same claim again is the same instance.
  const auto again = create(claim);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->provider_id, made->provider_id);

  claim->provider_id = made->provider_id;
  claim->meta.annotations = made->annotations;
  const auto listed = list();
  ASSERT_TRUE(listed) << listed.error().message;
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->front().node_claim, "whole-life");
  EXPECT_EQ(listed->front().node_pool, "pool");
  EXPECT_EQ(listed->front().image_id, made->image_id);
  const auto drift =
      thread.run<base::Result<std::string>>([&] { return cloud->drift(claim, the_class); });
  ASSERT_TRUE(drift) << drift.error().message;
  EXPECT_EQ(*drift, "");

  EXPECT_TRUE(remove(claim));
  const auto gone = remove(claim);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().kind, ErrorKind::NotFound);
  EXPECT_TRUE(list()->empty());
  const auto ledger = control("/_facade/ledger");
  EXPECT_EQ(ledger.at("launches").at("uid-whole-life").as_array().size(), 1U);
  EXPECT_EQ(ledger.at("bad_signatures").as_int64(), refused_before) << records->text();
}

TEST_F(Adapter, SoldOutOfferingsLeadToTheNextOne) {
  start();
  resolve();
  wait_for_catalog();
  control("/_facade/sold-out", R"({"type":"m5.large","zone":"us-west-2a"})");
  const auto first = create(claim_named("only-m5", {"m5.large"}));
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().kind, ErrorKind::NoCapacity);
  EXPECT_THAT(first.error().message, HasSubstr("InsufficientInstanceCapacity"));
  const auto second = claim_named("m5-or-m6i", {"m5.large", "m6i.large"});
  const auto made = create(second);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at("node.kubernetes.io/instance-type"), "m6i.large");
  second->provider_id = made->provider_id;
  EXPECT_TRUE(remove(second));
}

TEST_F(Adapter, ThrottlingIsWaitedOut) {
  start();
  resolve();
  control("/_facade/throttle", R"({"action":"DescribeInstances","count":2})");
  const auto before = calls("DescribeInstances");
  EXPECT_TRUE(list());
  EXPECT_EQ(calls("DescribeInstances"), before + 3);
}

TEST_F(Adapter, AWrongSecretIsADenialThatSaysWhatToDo) {
  environment["AWS_SECRET_ACCESS_KEY"] = "another";
  start();
  const auto listed = list();
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().kind, ErrorKind::Denied);
  EXPECT_THAT(listed.error().message, HasSubstr("SignatureDoesNotMatch"));
  EXPECT_THAT(listed.error().message, Not(HasSubstr("another")));
}

TEST_F(Adapter, WebIdentityGetsKeysThatWork) {
  const std::string file = testing::TempDir() + "millwright-web-identity-token";
  std::ofstream(file) << "header.payload.signature";
  environment.erase("AWS_ACCESS_KEY_ID");
  environment.erase("AWS_SECRET_ACCESS_KEY");
  environment["AWS_ROLE_ARN"] = "arn:aws:iam::123456789012:role/karpenter";
  environment["AWS_WEB_IDENTITY_TOKEN_FILE"] = file;
  start();
  const auto listed = list();
  EXPECT_TRUE(listed) << listed.error().message;
  EXPECT_GE(calls("AssumeRoleWithWebIdentity"), 1);
}

TEST_F(Adapter, PodIdentityGetsKeysThatWork) {
  environment.erase("AWS_ACCESS_KEY_ID");
  environment.erase("AWS_SECRET_ACCESS_KEY");
  environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = facade() + "/v1/credentials";
  environment["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "pod-identity-token";
  start();
  const auto listed = list();
  EXPECT_TRUE(listed) << listed.error().message;
}

TEST_F(Adapter, InstanceMetadataGivesRegionAndKeys) {
  environment.erase("AWS_ACCESS_KEY_ID");
  environment.erase("AWS_SECRET_ACCESS_KEY");
  environment.erase("AWS_REGION");
  environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = facade();
  start();
  const auto listed = list();
  EXPECT_TRUE(listed) << listed.error().message;
}

TEST_F(Adapter, TheCatalogIsTheWholeRegion) {
  start();
  resolve();
  wait_for_catalog();
  const auto types = cloud->instance_types({}, *the_class);
  ASSERT_TRUE(types);
  EXPECT_GT((*types)->size(), 500U);
  std::size_t priced = 0;
  for (const auto& type : **types) {
    for (const auto& offering : type.offerings) {
      priced += offering.price > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(priced, 2000U);
}

// "ec2:CreateFleet" and so on, from the policy that docs/aws.md gives.
std::set<std::string> documented_actions() {
  std::ifstream file(std::string(SOURCE_ROOT) + "/docs/aws.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto begin = text.find("```json\n") + 8;
  const auto policy = json::parse(text.substr(begin, text.find("```", begin) - begin));
  std::set<std::string> actions;
  for (const auto& statement : policy.at("Statement").as_array()) {
    for (const auto& action : statement.at("Action").as_array()) {
      const std::string name(action.as_string());
      EXPECT_TRUE(actions.insert(name.substr(name.find(':') + 1)).second) << name;
    }
  }
  return actions;
}

TEST_F(Adapter, ThePolicyOfTheDocumentationAllowsEveryCall) {
  start();
  resolve();
  wait_for_catalog();
  const auto claim = claim_named("policy", {"m5.large"});
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  claim->provider_id = made->provider_id;
  EXPECT_TRUE(remove(claim));
  const auto allowed = documented_actions();
  const auto ledger = control("/_facade/ledger");
  EXPECT_GT(ledger.at("calls").as_object().size(), 10U);
  for (const auto& [action, count] : ledger.at("calls").as_object()) {
    const std::string name =
        action.starts_with("GET /clusters/") ? "DescribeCluster" : std::string(action);
    if (name != "AssumeRoleWithWebIdentity") {  // the role's trust policy allows it
      EXPECT_TRUE(allowed.contains(name)) << name << " is called but not in docs/aws.md";
    }
  }
}

}  // namespace
}  // namespace millwright::cloud
