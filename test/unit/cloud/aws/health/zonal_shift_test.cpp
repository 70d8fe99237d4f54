// Zones that the cluster is shifted away from.
#include "unit/cloud/aws/provider/provider_fixture.hpp"

namespace millwright::cloud::aws {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class ZonalShiftTest : public ProviderTest {
 protected:
  ZonalShiftTest() {
    ec2.aws.on("GET", [](const Asked&) {
      return net::Response::json(
          200, R"({"cluster":{"arn":"arn:aws:eks:us-west-2:123456789012:cluster/demo"}})");
    });
    ec2.aws.on("GetManagedResource", [this](const Asked&) {
      return net::Response::json(
          200, boost::json::serialize(boost::json::object{{"arn", "x"}, {"zonalShifts", shifts}}));
    });
  }
  void enable() {
    crash();
    zonal_shift = true;
    start();
    loop.run_for(10s);
  }
  // us-west-2a's id is usw2-az2.
  void shift(const std::string& zone_id, base::Duration lasting,
             const std::string& status = "APPLIED") {
    const std::chrono::duration<double> until = (loop.now() + lasting).time_since_epoch();
    shifts.push_back(boost::json::object{
        {"appliedStatus", status}, {"awayFrom", zone_id}, {"expiryTime", until.count()}});
  }
  std::string zone_of(const std::string& name) {
    const auto made = create(claim_named(name));
    return made ? made->labels.at("topology.kubernetes.io/zone") : made.error().message;
  }

  boost::json::array shifts;
};

TEST_F(ZonalShiftTest, NothingIsBoughtInAZoneUntilItsShiftIsOver) {
  enable();
  EXPECT_TRUE(is_available("m5.large", "us-west-2a"));
  shift("usw2-az2", 1h);
  const auto changes = catalog_changes;
  loop.run_for(30s);
  EXPECT_FALSE(is_available("m5.large", "us-west-2a"));
  EXPECT_TRUE(is_available("m5.large", "us-west-2b"));
  EXPECT_GT(catalog_changes, changes);
  EXPECT_EQ(zone_of("a"), "us-west-2b");
  shifts.clear();
  loop.run_for(30s);
  EXPECT_TRUE(is_available("m5.large", "us-west-2a"));
}

TEST_F(ZonalShiftTest, TheClustersOwnResourceIsAskedAbout) {
  enable();
  EXPECT_THAT(
      ec2.aws.calls("GetManagedResource").front().field("url"),
      HasSubstr(
          "https://arc-zonal-shift.us-west-2.amazonaws.com/managedresources/arn%3Aaws%3Aeks%3A"
          "us-west-2%3A123456789012%3Acluster%2Fdemo"));
  const auto calls = ec2.aws.calls("GetManagedResource").size();
  loop.run_for(1min);
  EXPECT_EQ(ec2.aws.calls("GetManagedResource").size(), calls + 2);
  EXPECT_EQ(ec2.aws.calls("GET").size(), 1U) << "the ARN is known";
}

TEST_F(ZonalShiftTest, AShiftEndsOnTimeThoughNobodyAnswers) {
  shift("usw2-az2", 10min);
  enable();
  EXPECT_FALSE(is_available("m5.large", "us-west-2a"));
  ec2.aws.on("GetManagedResource", [](const Asked&) { return net::Response::text(500, "no"); });
  loop.run_for(9min);
  EXPECT_FALSE(is_available("m5.large", "us-west-2a"));
  loop.run_for(1min);
  EXPECT_TRUE(is_available("m5.large", "us-west-2a"));
}

TEST_F(ZonalShiftTest, WhatIsNotInEffectDoesNotCount) {
  shift("usw2-az2", 1h, "NOT_APPLIED");
  shift("usw2-az1", -1min);
  shifts.emplace_back(boost::json::object{{"awayFrom", "usw2-az1"}, {"appliedStatus", "APPLIED"}});
  shifts.emplace_back(7);
  enable();
  EXPECT_TRUE(is_available("m5.large", "us-west-2a"));
  EXPECT_TRUE(is_available("m5.large", "us-west-2b"));
}

TEST_F(ZonalShiftTest, ANodeInTheZoneHasNotDrifted) {
  const auto claim = claim_named("a");
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  claim->provider_id = made->provider_id;
  claim->meta.annotations = made->annotations;
  claim->meta.labels.insert(made->labels.begin(), made->labels.end());
  shift("usw2-az1", 1h);
  shift("usw2-az2", 1h);
  enable();
  EXPECT_EQ(wait(loop, cloud->drift(claim, the_class)).value(), "");
  const auto types = cloud->instance_types({}, *the_class);
  const auto* type = scheduling::find_type(*types, "m5.large");
  ASSERT_NE(type, nullptr);
  EXPECT_FALSE(type->offerings.empty()) << "still sold, only not now";
}

TEST_F(ZonalShiftTest, AClusterThatIsNotEnabledForItIsAskedAboutSeldom) {
  ec2.aws.on("GetManagedResource", [](const Asked&) {
    return net::Response::json(404, R"({"__type":"ResourceNotFoundException","message":"no"})");
  });
  enable();
  loop.run_for(4min);
  EXPECT_EQ(ec2.aws.calls("GetManagedResource").size(), 1U);
  EXPECT_TRUE(is_available("m5.large", "us-west-2a"));
}

TEST_F(ZonalShiftTest, WithoutTheSettingNobodyAsks) {
  shift("usw2-az2", 1h);
  loop.run_for(5min);
  EXPECT_TRUE(ec2.aws.calls("GetManagedResource").empty());
  EXPECT_TRUE(is_available("m5.large", "us-west-2a"));
}

}  // namespace
}  // namespace millwright::cloud::aws
