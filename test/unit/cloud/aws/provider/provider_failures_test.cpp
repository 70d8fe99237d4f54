// Launches that EC2 refuses.
#include "provider_fixture.hpp"

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;
using testing::HasSubstr;
using namespace std::chrono_literals;

TEST_F(ProviderTest, ASpotPriceAboveTheHighestAllowedMarksTheOffering) {
  ec2.fleet_error = "SpotMaxPriceTooLow";
  const auto refused = create(claim_named("a"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::NoCapacity);
  EXPECT_FALSE(is_available("m5.large", "us-west-2a"));
  ec2.fleet_error.clear();
  loop.run_for(3min);
  EXPECT_TRUE(is_available("m5.large", "us-west-2a"));
}

TEST_F(ProviderTest, SoldOutOfferingsAreRememberedAndTriedAgain) {
  ec2.sold_out = {"m5.large us-west-2a", "m5.large us-west-2b", "m6i.large us-west-2a",
                  "m6i.large us-west-2b"};
  const auto before = catalog_changes;
  const auto made = create(claim_named("a"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::NoCapacity);
  EXPECT_THAT(made.error().message, HasSubstr("InsufficientInstanceCapacity (no luck)"));
  EXPECT_GT(catalog_changes, before);
  EXPECT_FALSE(is_available("m5.large", "us-west-2a"));
  EXPECT_TRUE(is_available("c5.9xlarge", "us-west-2a"));
  // The next claim does not even ask.
  EXPECT_EQ(create(claim_named("b")).error().kind, ErrorKind::NoCapacity);
  EXPECT_EQ(ec2.aws.calls("CreateFleet").size(), 1U);
  ec2.sold_out.clear();
  loop.run_for(3min);
  EXPECT_TRUE(is_available("m5.large", "us-west-2a"));
  EXPECT_TRUE(create(claim_named("c")));
}

TEST_F(ProviderTest, APartialFailureStillLaunches) {
  ec2.sold_out = {"m5.large us-west-2a"};
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->provider_id, "aws:///us-west-2b/i-1");
  EXPECT_FALSE(is_available("m5.large", "us-west-2a"));
}

TEST_F(ProviderTest, OtherFleetErrorsAreNoLackOfCapacity) {
  ec2.fleet_error = "InvalidParameterValue";
  auto made = create(claim_named("a"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::Invalid);
  ec2.fleet_error = "UnauthorizedOperation";
  made = create(claim_named("b"));
  EXPECT_EQ(made.error().kind, ErrorKind::Denied);
  EXPECT_TRUE(is_available("m5.large", "us-west-2a"));
}

TEST_F(ProviderTest, AnAnsweredLaunchWithoutAnInstanceIsRepeatedAnew) {
  ec2.fleet_error = "InvalidParameterValue";  // the instance profile is not known everywhere yet
  EXPECT_FALSE(create(claim_named("a")));
  EXPECT_FALSE(create(claim_named("a")));
  ec2.fleet_error.clear();
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(ec2.machines.size(), 1U);
  const auto calls = ec2.aws.calls("CreateFleet");
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[0].field("ClientToken"), "uid-a");
  EXPECT_EQ(calls[2].field("ClientToken"), "uid-a/2");
}

TEST_F(ProviderTest, AnAnsweredLaunchWithoutAnInstanceMayBeRepeatedWithAnotherPlan) {
  ec2.fleet_error = "RequestLimitExceeded";
  EXPECT_FALSE(create(claim_named("a")));
  ec2.fleet_error.clear();
  auto claim = claim_named("a");
  claim->requirements[0].values = {"m6i.large"};
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(ec2.machines.size(), 1U);
}

TEST_F(ProviderTest, AnAnsweredLaunchOfSeveralWithoutAnInstanceIsRepeatedAnew) {
  ec2.fleet_error = "UnauthorizedOperation";
  for (const bool works : {false, true}) {
    ask_at_once({claim_named("a"), claim_named("b"), claim_named("c")});
    loop.run_for(1s);
    EXPECT_EQ(given.size(), works ? 3U : 0U);
    ec2.fleet_error.clear();
  }
  EXPECT_EQ(ec2.machines.size(), 3U);
  EXPECT_EQ(ec2.aws.calls("CreateFleet").size(), 2U);
}

TEST_F(ProviderTest, AMissingLaunchTemplateInAnAnswerIsMadeAndTheLaunchRepeatedAnew) {
  ec2.fleet_error = "InvalidLaunchTemplateName.NotFoundException";
  auto repeat = ec2.aws.answer_to("CreateLaunchTemplate");
  int made = 0;
  ec2.aws.on("CreateLaunchTemplate", [&](const Asked& asked) {
    if (++made == 2) {
      ec2.fleet_error.clear();
    }
    return repeat(asked);
  });
  EXPECT_TRUE(create(claim_named("a")));
  EXPECT_EQ(made, 2);
}

// The last leader's second call launched something that EC2 shows late, and its answer was lost.
TEST_F(ProviderTest, ANewLeaderGoesTheSameWayAndLaunchesNothingTwice) {
  ec2.fleet_error = "InvalidParameterValue";
  EXPECT_FALSE(create(claim_named("a")));
  ec2.fleet_error.clear();
  ec2.lag = 5min;
  ec2.lose_answer = true;
  background->spawn(keep_asking(claim_named("a")));
  loop.run_until([&] { return !ec2.machines.empty(); }, 10s);
  crash();
  start();
  loop.run_for(2s);
  EXPECT_FALSE(create(claim_named("a"))) << "what EC2 answered to the first";
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->provider_id, "aws:///us-west-2a/i-1");
  EXPECT_EQ(ec2.machines.size(), 1U);
}

TEST_F(ProviderTest, SpotWithoutItsRoleIsOffEverywhere) {
  ec2.fleet_error = "AuthFailure.ServiceLinkedRoleCreationNotPermitted";
  EXPECT_EQ(create(claim_named("a")).error().kind, ErrorKind::NoCapacity);
}

TEST_F(ProviderTest, AFailedLaunchTemplateIsToldToAllWhoWaitForIt) {
  struct Run {
    static base::Task<void> one(Provider& in, std::shared_ptr<const model::NodeClaim> claim,
                                std::shared_ptr<const model::NodeClass> of, int& refused) {
      auto created = co_await in.create(std::move(claim), std::move(of));
      refused += !created && created.error().kind == ErrorKind::Denied ? 1 : 0;
    }
  };
  ec2.aws.on("CreateLaunchTemplate",
             [](const Asked&) { return ec2_error("UnauthorizedOperation", 403); });
  base::TaskGroup group(loop);
  int refused = 0;
  for (int i = 0; i < 5; ++i) {
    group.spawn(Run::one(*cloud, claim_named("c" + std::to_string(i)), the_class, refused));
  }
  loop.run_until([&] { return refused == 5; }, 1min);
  EXPECT_EQ(refused, 5);
  EXPECT_EQ(ec2.aws.calls("CreateLaunchTemplate").size(), 1U);
  EXPECT_TRUE(ec2.living().empty());
}

}  // namespace
}  // namespace millwright::cloud::aws
