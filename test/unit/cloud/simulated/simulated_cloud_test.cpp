// Machines: launches, terminations, delays, failures.
#include "simulated_fixture.hpp"

#include <set>

namespace millwright::cloud {
namespace {

using base::ErrorKind;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

SimulatedSettings delays(base::Duration launch, base::Duration boot, base::Duration termination) {
  SimulatedSettings settings;
  settings.launch = {launch, launch, launch};
  settings.boot = {boot, boot, boot};
  settings.termination = {termination, termination, termination};
  return settings;
}

TEST(SimulatedCloud, LaunchesTheCheapestOfferingThatTheClaimAllows) {
  Bench bench(Profile::Kwok);
  const auto any = bench.create(claim("any"));
  ASSERT_TRUE(any) << any.error().message;
  EXPECT_EQ(any->labels.at("node.kubernetes.io/instance-type"), "c-1x-amd64-linux")
      << "of four equally cheap types the first by name";
  EXPECT_EQ(any->labels.at("topology.kubernetes.io/zone"), "test-zone-a");
  EXPECT_EQ(any->labels.at("karpenter.sh/capacity-type"), "spot");
  EXPECT_EQ(any->labels.at("karpenter.kwok.sh/instance-memory"), "2Gi");
  EXPECT_EQ(any->node_claim, "any");
  EXPECT_EQ(any->node_pool, "pool");
  EXPECT_EQ(model::get(any->allocatable, "cpu").to_string(), "900m");

  auto wanted = claim("wanted", {one_of(model::kArchLabel, {"arm64"}),
                                 one_of(model::kCapacityTypeLabel, {"on-demand"}),
                                 one_of(model::kZoneLabel, {"test-zone-c", "test-zone-b"}),
                                 one_of("example.com/team", {"a"})});
  wanted->requests = {{"cpu", model::Quantity::from_units(3)},
                      {"memory", *model::Quantity::parse("20Gi")}};
  const auto fitting = bench.create(wanted);
  ASSERT_TRUE(fitting) << fitting.error().message;
  EXPECT_EQ(fitting->labels.at("node.kubernetes.io/instance-type"), "m-4x-arm64-linux");
  EXPECT_EQ(fitting->labels.at("topology.kubernetes.io/zone"), "test-zone-b");
}

TEST(SimulatedCloud, RefusesAClaimThatNothingCanServe) {
  Bench bench(Profile::Kwok);
  auto huge = claim("huge");
  huge->requests = {{"cpu", model::Quantity::from_units(1000)}};
  const auto answer = bench.create(huge);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::NoCapacity);
  EXPECT_THAT(answer.error().message, HasSubstr("NodeClaim huge"));
  EXPECT_EQ(bench.instances(), 0U);
}

TEST(SimulatedCloud, AnswersTheSameInstanceForTheSameClaim) {
  Bench bench(Profile::Huawei, delays(seconds(5), seconds(0), seconds(0)));
  const auto owner = claim("a");
  std::vector<std::string> ids;
  const auto ask = [](SimulatedCloud& cloud, std::shared_ptr<model::NodeClaim> asked,
                      std::vector<std::string>* out) -> base::Task<void> {
    const auto answer = co_await cloud.create(asked, node_class("CCENodeClass"));
    out->push_back(answer ? answer->provider_id : answer.error().message);
  };
  bench.tasks.spawn(ask(*bench.cloud, owner, &ids));
  bench.loop.run_for(seconds(2));
  bench.tasks.spawn(ask(*bench.cloud, owner, &ids));  // while the first is under way
  bench.loop.run_for(seconds(10));
  bench.tasks.spawn(ask(*bench.cloud, owner, &ids));  // and after
  bench.loop.run_for(seconds(10));
  ASSERT_EQ(ids.size(), 3U);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 1U);
  EXPECT_EQ(bench.instances(), 1U);
  EXPECT_THAT(bench.listener.events, ElementsAre("launched a"));
}

TEST(SimulatedCloud, ALostReplyDoesNotMakeASecondInstance) {
  SimulatedSettings settings;
  settings.lost_reply_rate = 1;
  Bench bench(Profile::Kwok, settings);
  const auto owner = claim("a");
  for (int i = 0; i < 3; ++i) {
    const auto answer = bench.create(owner);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::Timeout);
  }
  EXPECT_EQ(bench.instances(), 1U);
}

TEST(SimulatedCloud, DoesNotLaunchAgainForAClaimWhoseInstanceIsGone) {
  Bench bench(Profile::Kwok);
  const auto owner = claim("a");
  ASSERT_TRUE(bench.create(owner));
  ASSERT_TRUE(bench.wait(bench.cloud->remove(owner)));
  bench.loop.run_for(seconds(1));
  const auto again = bench.create(owner);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::NotFound);
  EXPECT_EQ(bench.instances(), 0U);
}

TEST(SimulatedCloud, TakesItsTimeToLaunchAndToTerminate) {
  Bench bench(Profile::Huawei, delays(seconds(3), seconds(40), seconds(20)));
  const auto owner = claim("a");
  const auto launched = bench.create(owner);
  ASSERT_TRUE(launched);
  EXPECT_EQ(bench.loop.now(), kSimulatedStart + seconds(3));
  EXPECT_EQ(launched->launched_at, kSimulatedStart + seconds(3));
  EXPECT_EQ(bench.listener.boot, seconds(40));

  owner->provider_id = launched->provider_id;
  EXPECT_TRUE(bench.wait(bench.cloud->remove(owner)));
  EXPECT_TRUE(bench.wait(bench.cloud->get(launched->provider_id))->terminating);
  EXPECT_TRUE(bench.wait(bench.cloud->remove(owner))) << "asked again while it goes";
  bench.loop.run_for(seconds(19));
  EXPECT_EQ(bench.instances(), 1U);
  bench.loop.run_for(seconds(1));
  EXPECT_EQ(bench.instances(), 0U);
  EXPECT_EQ(bench.wait(bench.cloud->remove(owner)).error().kind, ErrorKind::NotFound);
  EXPECT_EQ(bench.wait(bench.cloud->get(launched->provider_id)).error().kind, ErrorKind::NotFound);
  EXPECT_THAT(bench.listener.events, ElementsAre("launched a", "terminating", "terminated"));
  EXPECT_THAT(bench.listener.at,
              ElementsAre(kSimulatedStart + seconds(3), kSimulatedStart + seconds(3),
                          kSimulatedStart + seconds(23)));
}

TEST(SimulatedCloud, AClaimRemovedWhileItsInstanceLaunchesLeavesNothing) {
  Bench bench(Profile::Huawei, delays(seconds(10), seconds(1), seconds(1)));
  const auto owner = claim("a");
  const auto ask = [](SimulatedCloud& cloud,
                      std::shared_ptr<model::NodeClaim> asked) -> base::Task<void> {
    const auto answer = co_await cloud.create(asked, node_class("CCENodeClass"));
    EXPECT_FALSE(answer);
  };
  bench.tasks.spawn(ask(*bench.cloud, owner));
  bench.loop.run_for(seconds(4));
  EXPECT_TRUE(bench.wait(bench.cloud->remove(owner)));
  bench.loop.run_for(minutes(1));
  EXPECT_EQ(bench.instances(), 0U);
  EXPECT_TRUE(bench.listener.events.empty());
  EXPECT_EQ(bench.wait(bench.cloud->remove(owner)).error().kind, ErrorKind::NotFound);
}

TEST(SimulatedCloud, AnInstanceAppearsEvenWhenTheCallerIsGone) {
  Bench bench(Profile::Huawei, delays(seconds(10), seconds(1), seconds(1)));
  {
    base::TaskGroup caller(bench.loop);
    const auto ask = [](SimulatedCloud& cloud) -> base::Task<void> {
      const auto answer = co_await cloud.create(claim("a"), node_class("CCENodeClass"));
      ADD_FAILURE() << "answered a caller that no longer waits";
    };
    caller.spawn(ask(*bench.cloud));
    bench.loop.run_for(seconds(4));
  }
  bench.loop.run_for(seconds(7));
  EXPECT_EQ(bench.instances(), 1U);
}

TEST(SimulatedCloud, GoesOnToTheNextOfferingWhenOneIsSoldOut) {
  Bench bench(Profile::Kwok);
  bench.cloud->sell_out({"", "test-zone-a", "spot"});
  const auto answer = bench.create(claim("a"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->labels.at("topology.kubernetes.io/zone"), "test-zone-b");
  EXPECT_EQ(answer->labels.at("node.kubernetes.io/instance-type"), "c-1x-amd64-linux");
}

TEST(SimulatedCloud, RemembersASoldOutOfferingForItsTimeAndTellsOfTheChange) {
  Bench bench(Profile::Kwok);
  int changes = 0;
  bench.cloud->on_catalog_change([&] { ++changes; });
  const OfferingPattern pattern{"s-2x-amd64-linux", "test-zone-b", "on-demand"};
  bench.cloud->sell_out(pattern);
  const auto is_available = [&] {
    const auto types = *bench.cloud->instance_types({}, {});
    for (const auto& offering : scheduling::find_type(types, "s-2x-amd64-linux")->offerings) {
      if (offering.zone() == "test-zone-b" && offering.capacity_type() == "on-demand") {
        return offering.available;
      }
    }
    return false;
  };
  EXPECT_TRUE(is_available()) << "unknown until somebody tries";

  const auto owner = [](std::string name) {
    return claim(std::move(name), {one_of(model::kInstanceTypeLabel, {"s-2x-amd64-linux"}),
                                   one_of(model::kZoneLabel, {"test-zone-b"}),
                                   one_of(model::kCapacityTypeLabel, {"on-demand"})});
  };
  const auto refused = bench.create(owner("a"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::NoCapacity);
  EXPECT_THAT(refused.error().message, HasSubstr("s-2x-amd64-linux on-demand in test-zone-b"));
  EXPECT_FALSE(is_available());
  bench.loop.run_ready();
  EXPECT_EQ(changes, 1);

  bench.cloud->restock(pattern);
  EXPECT_FALSE(bench.create(owner("b"))) << "not tried before the time is over";
  bench.loop.run_for(minutes(3));
  EXPECT_TRUE(is_available());
  EXPECT_EQ(changes, 2);
  EXPECT_TRUE(bench.create(owner("c")));
}

TEST(SimulatedCloud, FailsAsOftenAsItIsTold) {
  struct Case {
    const char* name;
    double SimulatedSettings::*rate;
    ErrorKind kind;
  };
  for (const auto& test :
       {Case{"errors", &SimulatedSettings::error_rate, ErrorKind::Unavailable},
        Case{"throttling", &SimulatedSettings::throttle_rate, ErrorKind::Throttled},
        Case{"capacity", &SimulatedSettings::capacity_error_rate, ErrorKind::NoCapacity}}) {
    SimulatedSettings settings;
    settings.*test.rate = 1;
    Bench bench(Profile::Kwok, settings);
    const auto answer = bench.create(claim("a"));
    ASSERT_FALSE(answer) << test.name;
    EXPECT_EQ(answer.error().kind, test.kind) << test.name;
    EXPECT_TRUE(base::is_retryable(test.kind) || test.kind == ErrorKind::NoCapacity);
  }
  SimulatedSettings some;
  some.error_rate = 0.3;
  Bench bench(Profile::Kwok, some);
  int failures = 0;
  for (int i = 0; i < 1000; ++i) {
    failures += bench.wait(bench.cloud->get("kwok://none")).error().kind == ErrorKind::Unavailable;
  }
  EXPECT_NEAR(failures, 300, 60);
}

TEST(SimulatedCloud, NeedsANodeClassThatIsReady) {
  Bench bench(Profile::Aws);
  const auto missing = bench.wait(bench.cloud->create(claim("a"), nullptr));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::NotReady);
  auto not_ready = node_class("EC2NodeClass");
  not_ready->conditions = {
      {.type = "Ready", .status = model::ConditionStatus::False, .message = "no subnets"}};
  const auto refused = bench.wait(bench.cloud->create(claim("b"), not_ready));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::NotReady);
  EXPECT_THAT(refused.error().message, HasSubstr("no subnets"));
}

TEST(SimulatedCloud, InterruptsSpotInstancesAfterAWarning) {
  auto settings = delays(seconds(1), seconds(1), seconds(10));
  settings.spot_interruptions_per_hour = 2;
  Bench bench(Profile::Aws, settings);
  std::vector<std::string> warned;
  bench.cloud->on_interruption([&](const InstanceNotice& notice) {
    warned.push_back(notice.provider_id);
    return acted();
  });
  bench.tasks.spawn(bench.cloud->lead(bench.tasks.stop_token()));
  const auto spot = bench.create(claim("spot", {one_of(model::kCapacityTypeLabel, {"spot"})}));
  const auto steady =
      bench.create(claim("steady", {one_of(model::kCapacityTypeLabel, {"on-demand"})}));
  ASSERT_TRUE(spot && steady);
  ASSERT_TRUE(bench.loop.run_until([&] { return !warned.empty(); }, hours(24)));
  EXPECT_THAT(warned, ElementsAre(spot->provider_id));
  EXPECT_FALSE(bench.wait(bench.cloud->get(spot->provider_id))->terminating);
  bench.loop.run_for(minutes(2));
  EXPECT_TRUE(bench.wait(bench.cloud->get(spot->provider_id))->terminating);
  bench.loop.run_for(hours(24));
  EXPECT_EQ(bench.instances(), 1U) << "on-demand instances stay";
}

TEST(SimulatedCloud, CanBeToldToInterruptOrLoseAMachine) {
  Bench bench(Profile::Kwok);
  const auto a = bench.create(claim("a"));
  const auto b = bench.create(claim("b"));
  ASSERT_TRUE(a && b);
  EXPECT_TRUE(bench.cloud->lose(a->provider_id));
  EXPECT_FALSE(bench.cloud->lose(a->provider_id));
  EXPECT_FALSE(bench.cloud->interrupt(a->provider_id));
  EXPECT_EQ(bench.instances(), 1U);
  EXPECT_TRUE(bench.cloud->interrupt(b->provider_id));
  bench.loop.run_for(minutes(3));
  EXPECT_EQ(bench.instances(), 0U);
  EXPECT_THAT(bench.listener.events,
              ElementsAre("launched a", "launched b", "terminated", "terminating", "terminated"));
}

TEST(SimulatedCloud, RemovesAnInstanceThatNoClaimOwns) {
  Bench bench(Profile::Kwok);
  const auto leaked = bench.create(claim("a"));
  ASSERT_TRUE(leaked);
  EXPECT_TRUE(bench.wait(bench.cloud->remove_leaked(leaked->provider_id)));
  bench.loop.run_for(seconds(1));
  EXPECT_EQ(bench.wait(bench.cloud->remove_leaked(leaked->provider_id)).error().kind,
            ErrorKind::NotFound);
}

TEST(SimulatedCloud, NamesInstancesAsItsCloudDoes) {
  struct Case {
    Profile profile;
    const char* kind;
    const char* provider_id;
    const char* node_name;
  };
  const std::string hex = "[0-9a-f]";
  for (const auto& [profile, kind, provider_id, node_name] :
       {Case{Profile::Kwok, "KWOKNodeClass", "kwok://kwok-c-[a-z0-9]+", "kwok-c-[a-z0-9]+"},
        Case{Profile::Aws, "EC2NodeClass", "aws:///us-west-2[a-c]/i-[0-9a-f]+",
             "ip-10-0-0-5.us-west-2.compute.internal"},
        Case{Profile::Alibaba, "ECSNodeClass", "cn-hangzhou.i-bp1[0-9a-f]+",
             "cn-hangzhou.10.0.0.5"},
        Case{Profile::Huawei, "CCENodeClass", "[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+",
             "10.0.0.5"}}) {
    Bench bench(profile);
    const auto instance = bench.create(claim("c"), kind);
    ASSERT_TRUE(instance) << instance.error().message;
    EXPECT_THAT(instance->provider_id, MatchesRegex(provider_id));
    EXPECT_THAT(instance->node_name, MatchesRegex(node_name));
    EXPECT_EQ(bench.listener.last.provider_id, instance->provider_id);
  }
}

TEST(SimulatedCloud, KwokNodesRegisterAfterTheirClassesDelay) {
  Bench bench(Profile::Kwok);
  const auto late =
      node_class("KWOKNodeClass", boost::json::object{{"nodeRegistrationDelay", "1m30s"}});
  ASSERT_TRUE(bench.wait(bench.cloud->create(claim("a"), late)));
  EXPECT_EQ(bench.listener.boot, seconds(90));
}

}  // namespace
}  // namespace millwright::cloud
