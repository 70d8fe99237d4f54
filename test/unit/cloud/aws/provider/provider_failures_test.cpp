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
