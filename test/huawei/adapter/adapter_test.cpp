// The real adapter over real HTTP against test/huawei/facade.py, which verifies every signature.
// Run by `scripts/test huawei`, which starts the facade and names it in MILLWRIGHT_HUAWEI_FACADE.
#include "millwright/cloud/huawei.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/net/client.hpp"
#include "support/loop_thread.hpp"
#include "support/records.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

namespace millwright::cloud {
namespace {

namespace json = boost::json;
using base::ErrorKind;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr std::string_view kSecret = "fakeHuaweiSecretKeyNotReal0123456789abcd";
constexpr std::string_view kAgencySecret = "fakeAgencySecretNotReal0123456789abcdefg";
constexpr std::string_view kPassword = "JDYkc2FsdCRoYXNo";

std::string facade_url() {
  const char* url = std::getenv("MILLWRIGHT_HUAWEI_FACADE");
  return url == nullptr ? "" : url;
}

base::Task<bool> pause(base::Loop& loop) {
  co_await base::sleep(loop, 100ms);
  co_return true;
}

class HuaweiAdapter : public testing::Test {
 protected:
  void SetUp() override {
    if (facade_url().empty()) {
      GTEST_SKIP() << "run by scripts/test huawei";
    }
    client = net::make_client(thread.loop);
    environment = {{"HUAWEICLOUD_SDK_REGION_ID", "cn-north-4"},
                   {"HUAWEICLOUD_SDK_CCE_CLUSTER_ID", "b1c2d3e4-0000-1111-2222-333344445555"},
                   {"HUAWEICLOUD_SDK_AK", "HWFAKEACCESSKEY00001"},
                   {"HUAWEICLOUD_SDK_SK", std::string(kSecret)}};
    for (const std::string service : {"IAM", "CCE", "ECS", "VPC", "BSS"}) {
      environment["HUAWEICLOUD_SDK_" + service + "_ENDPOINT"] = facade_url();
    }
    for (const std::string what : {"sold-out", "hostile"}) {
      control("/_facade/" + what, "{}");
    }
    start();
  }
  void TearDown() override {
    stop();
    for (const auto secret : {kSecret, kAgencySecret, kPassword}) {
      EXPECT_THAT(records->text(), Not(HasSubstr(std::string(secret))));
    }
    if (!facade_url().empty()) {
      const auto ledger = control("/_facade/ledger");
      EXPECT_EQ(json::serialize(ledger.at("leaks")), "[]");
      EXPECT_EQ(json::serialize(ledger.at("bad_signatures")), "[]");
    }
  }

  void start() {
    auto made = make_huawei_cloud(
        thread.loop, *client, {},
        [this](const std::string& name) -> std::optional<std::string> {
          const auto found = environment.find(name);
          return found == environment.end() ? std::nullopt : std::optional(found->second);
        },
        metrics, base::Logger(records, "huawei"));
    ASSERT_TRUE(made) << made.error().message;
    cloud = *std::move(made);
    thread.call([this] {
      background = std::make_unique<base::TaskGroup>(thread.loop);
      background->spawn(cloud->run(background->stop_token()));
      background->spawn(cloud->lead(background->stop_token()));
    });
    resolve();
    for (int i = 0; i < 600 && price() != 0.64; ++i) {
      thread.run<bool>([this] { return pause(thread.loop); });
    }
    ASSERT_EQ(price(), 0.64) << records->text();
  }
  // Everything that is under way ends, as in a crash.
  void stop() {
    thread.call([this] {
      background.reset();
      cloud.reset();
    });
  }
  double price() {
    double result = 0;
    thread.call([&] {
      const auto types = cloud->instance_types({}, *the_class);
      const auto* type = types ? scheduling::find_type(*types, "c9.large.4") : nullptr;
      result = type == nullptr || type->offerings.empty() ? 0 : type->offerings.front().price;
    });
    return result;
  }
  void resolve() {
    auto of = std::make_shared<model::NodeClass>();
    of->kind = "CCENodeClass";
    of->meta.name = "default";
    const json::object disk{{"volumeSize", 40}, {"volumeType", "SSD"}};
    const json::object password{{"username", "root"}, {"password", kPassword}};
    of->spec =
        json::object{{"subnetSelectorTerms", json::array{json::object{{"name", "nodes"}}}},
                     {"imsSelector", json::object{{"imsFamily", "Huawei Cloud EulerOS 2.0"}}},
                     {"blockDeviceMappings", json::object{{"root", disk}}},
                     {"login", json::object{{"userPassword", password}}}};
    const auto state = thread.run<base::Result<NodeClassState>>([&] { return cloud->resolve(of); });
    ASSERT_TRUE(state) << state.error().message;
    EXPECT_TRUE(state->ready) << state->message;
    of->status = state->status;
    the_class = of;
  }

  static std::shared_ptr<model::NodeClaim> claim_named(const std::string& name,
                                                       std::vector<std::string> types) {
    auto claim = std::make_shared<model::NodeClaim>();
    claim->meta.name = name;
    claim->meta.uid = "uid-" + name;
    claim->meta.labels[std::string(model::kNodePoolLabel)] = "pool";
    claim->requirements = {{.key = "node.kubernetes.io/instance-type",
                            .op = model::Operator::In,
                            .values = std::move(types),
                            .min_values = {}},
                           {.key = "topology.kubernetes.io/zone",
                            .op = model::Operator::In,
                            .values = {"cn-north-4a"},
                            .min_values = {}}};
    return claim;
  }
  base::Result<Instance> create(std::shared_ptr<const model::NodeClaim> claim) {
    return thread.run<base::Result<Instance>>([&] { return cloud->create(claim, the_class); });
  }
  // As a controller does: again after errors that may pass.
  base::Result<Instance> insist(const std::shared_ptr<const model::NodeClaim>& claim) {
    for (int i = 0;; ++i) {
      auto made = create(claim);
      if (made || i == 600 ||
          (made.error().kind != ErrorKind::Timeout &&
           made.error().kind != ErrorKind::Unavailable)) {
        return made;
      }
      thread.run<bool>([this] { return pause(thread.loop); });
    }
  }
  base::Result<> remove(std::shared_ptr<const model::NodeClaim> claim) {
    return thread.run<base::Result<>>([&] { return cloud->remove(claim); });
  }
  json::value control(const std::string& path, const std::string& body = "") {
    net::ClientRequest request;
    request.method = body.empty() ? "GET" : "POST";
    request.url = facade_url() + path;
    request.body = body;
    const auto answer = client->send_blocking(std::move(request));
    EXPECT_TRUE(answer && answer->status == 200) << path;
    return answer && answer->status == 200 ? json::parse(answer->body) : json::value();
  }
  std::int64_t counted(std::string_view list, std::string_view name) {
    const auto ledger = control("/_facade/ledger");
    const auto* found = ledger.at(list).as_object().if_contains(name);
    return found == nullptr ? 0 : found->as_int64();
  }

  test::LoopThread thread;
  std::map<std::string, std::string> environment;
  std::unique_ptr<net::Client> client;
  std::shared_ptr<test::Records> records = std::make_shared<test::Records>();
  base::Metrics metrics;
  std::unique_ptr<Provider> cloud;
  std::unique_ptr<base::TaskGroup> background;
  std::shared_ptr<const model::NodeClass> the_class;
};

TEST_F(HuaweiAdapter, AClaimsWholeLife) {
  const auto claim = claim_named("whole-life", {"c9.large.4"});
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at("node.kubernetes.io/instance-type"), "c9.large.4");
  const auto again = create(claim);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->provider_id, made->provider_id);
  claim->provider_id = made->provider_id;
  claim->meta.annotations = made->annotations;
  const auto listed =
      thread.run<base::Result<std::vector<Instance>>>([&] { return cloud->list(); });
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_TRUE(std::any_of(listed->begin(), listed->end(),
                          [](const auto& each) { return each.node_claim == "whole-life"; }));
  const auto drift =
      thread.run<base::Result<std::string>>([&] { return cloud->drift(claim, the_class); });
  ASSERT_TRUE(drift) << drift.error().message;
  EXPECT_EQ(*drift, "");
  EXPECT_TRUE(remove(claim));
  EXPECT_TRUE(remove(claim)) << "its deletion is seen once";
  EXPECT_EQ(remove(claim).error().kind, ErrorKind::NotFound);
  EXPECT_EQ(counted("asked", "uid-whole-life"), 1);
}

TEST_F(HuaweiAdapter, FlavorsComeFromEveryPage) {
  const auto types = cloud->instance_types({}, *the_class);
  ASSERT_TRUE(types);
  EXPECT_EQ((*types)->size(), 20U + 1050U);
}

TEST_F(HuaweiAdapter, SoldOutOfferingsLeadToTheNextOne) {
  control("/_facade/sold-out", R"({"flavor":"c9.xlarge.2","zone":"cn-north-4a"})");
  const auto first = create(claim_named("only-one", {"c9.xlarge.2"}));
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().kind, ErrorKind::NoCapacity);
  EXPECT_THAT(first.error().message, HasSubstr("only-one"));
  const auto made = create(claim_named("one-of-two", {"c9.xlarge.2", "c9.xlarge.4"}));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at("node.kubernetes.io/instance-type"), "c9.xlarge.4");
}

TEST_F(HuaweiAdapter, ThrottlingIsWaitedOut) {
  control("/_facade/throttle", R"({"call":"create","count":2})");
  EXPECT_TRUE(create(claim_named("throttled", {"c9.large.4"})));
  EXPECT_EQ(counted("asked", "uid-throttled"), 1);
}

TEST_F(HuaweiAdapter, ALostAnswerMakesNoSecondNode) {
  control("/_facade/lose", R"({"call":"create","count":1})");
  const auto claim = claim_named("lost", {"c9.large.4"});
  EXPECT_FALSE(create(claim));
  const auto made = insist(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(counted("asked", "uid-lost"), 1);
}

TEST_F(HuaweiAdapter, ANodeThatShowsLateIsNotMadeTwice) {
  control("/_facade/late", R"({"count":1,"seconds":3})");
  const auto claim = claim_named("late", {"c9.large.4"});
  const auto made = insist(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(counted("asked", "uid-late"), 1);
}

TEST_F(HuaweiAdapter, HostileAnswersAreErrors) {
  for (const std::string answer : {"html", "truncated", "types", "huge"}) {
    control("/_facade/hostile", R"({"call":"list","answer":")" + answer + R"("})");
    const auto listed =
        thread.run<base::Result<std::vector<Instance>>>([&] { return cloud->list(); });
    if (answer == "huge") {
      EXPECT_TRUE(listed) << "a hundred thousand items, none of them a node";
      continue;
    }
    ASSERT_FALSE(listed) << answer;
    EXPECT_EQ(listed.error().kind, ErrorKind::Unavailable) << answer;
    control("/_facade/hostile", R"({"call":"create","answer":")" + answer + R"("})");
    EXPECT_FALSE(create(claim_named("hostile-" + answer, {"c9.large.4"}))) << answer;
  }
}

TEST_F(HuaweiAdapter, QuotasSpeakPlainlyAndHideThePassword) {
  control("/_facade/refuse", R"({"status":403,"code":"CCE.03403001","message":"Quota exceeded )" +
                                 std::string(kPassword) + R"("})");
  const auto made = create(claim_named("quota", {"c9.large.4"}));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::Denied);
  EXPECT_THAT(made.error().message, HasSubstr("ask Huawei Cloud for a higher quota"));
  EXPECT_THAT(made.error().message, Not(HasSubstr(std::string(kPassword))));
}

}  // namespace
}  // namespace millwright::cloud
