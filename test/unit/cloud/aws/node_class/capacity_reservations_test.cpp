// Capacity reservations: found, offered, launched into, used up, gone.
#include "unit/cloud/aws/provider/provider_fixture.hpp"

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

std::string reservation(const std::string& id, const std::string& zone, int left,
                        const std::string& more = "") {
  return "<item><capacityReservationId>" + id +
         "</capacityReservationId><ownerId>123456789012</ownerId><instanceType>m6i.large"
         "</instanceType><availabilityZone>" +
         zone + "</availabilityZone><instanceMatchCriteria>targeted</instanceMatchCriteria>" +
         "<availableInstanceCount>" + std::to_string(left) +
         "</availableInstanceCount><state>active</state>" + more + "</item>";
}

bool asks_for(const Asked& asked, const std::string& id) {
  return std::any_of(asked.fields.begin(), asked.fields.end(), [&](const auto& field) {
    return field.first.starts_with("CapacityReservationId.") && field.second == id;
  });
}

class ReservationTest : public ProviderTest {
 protected:
  ReservationTest() {
    ec2.answer_discovery();
    ec2.aws.on("DescribeCapacityReservations", [this](const Asked& asked) {
      const auto id = asked.field("CapacityReservationId.1");
      for (const auto& each : deleted) {
        if (asks_for(asked, each)) {
          return ec2_error("InvalidCapacityReservationId.NotFound", 400, each);
        }
      }
      std::string items;
      for (const auto& [each, item] : there) {
        items += id.empty() || asks_for(asked, each) ? item : "";
      }
      return xml("<R><capacityReservationSet>" + items + "</capacityReservationSet></R>");
    });
  }

  // As the nodeclass controller: what resolve() says becomes the object's status.
  void resolve() {
    const auto found = discovering_class({{"capacityReservationSelectorTerms", terms}});
    const auto state = wait(loop, cloud->resolve(found));
    ASSERT_TRUE(state) << state.error().message;
    EXPECT_TRUE(state->ready) << state->message;
    found->status = state->status;
    the_class = found;
  }
  // "reserved us-west-2a cr-1 2", those of m6i.large that are available.
  std::vector<std::string> reserved() {
    std::vector<std::string> result;
    const auto types = cloud->instance_types({}, *the_class);
    for (const auto& each : scheduling::find_type(*types, "m6i.large")->offerings) {
      const auto* id = each.requirements.find(kReservationIdLabel);
      if (each.capacity_type() == model::kReserved && each.available) {
        result.push_back(std::string(each.zone()) + " " + id->values().front() + " " +
                         std::to_string(each.reservation_capacity));
      }
    }
    return result;
  }

  std::map<std::string, std::string> there{{"cr-1", reservation("cr-1", "us-west-2b", 2)}};
  std::set<std::string> deleted{"cr-gone"};  // EC2 knows nothing of them any more
  boost::json::array terms{{{"id", "cr-1"}}};
};

TEST_F(ReservationTest, TermsBecomeQueriesAndStatus) {
  terms = {{{"id", "cr-1"}},
           {{"id", "cr-gone"}},
           {{"tags", {{"team", "ml"}, {"any", "*"}}}, {"ownerID", "123456789012"}},
           {{"instanceMatchCriteria", "open"}}};
  resolve();
  const auto calls = ec2.aws.calls("DescribeCapacityReservations");
  ASSERT_EQ(calls.size(), 4U);
  EXPECT_EQ(calls[0].field("CapacityReservationId.1"), "cr-1");
  EXPECT_EQ(calls[0].field("MaxResults"), "");
  EXPECT_EQ(calls[0].filter("state"), "active");
  EXPECT_EQ(calls[2].filter("tag:team"), "ml");
  EXPECT_EQ(calls[2].filter("tag-key"), "any");
  EXPECT_EQ(calls[2].filter("owner-id"), "123456789012");
  EXPECT_EQ(calls[3].filter("instance-match-criteria"), "open");
  EXPECT_EQ(boost::json::serialize(the_class->status.at("capacityReservations")),
            R"([{"id":"cr-1","availabilityZone":"us-west-2b","instanceMatchCriteria":"targeted",)"
            R"("instanceType":"m6i.large","ownerID":"123456789012","reservationType":"default",)"
            R"("state":"active","interruptible":false}])");
}

TEST_F(ReservationTest, IsAnOfferingThatIsAllButFree) {
  resolve();
  EXPECT_THAT(reserved(), testing::ElementsAre("us-west-2b cr-1 2"));
  const auto types = cloud->instance_types({}, *the_class);
  double on_demand = 0;
  double paid_for = 0;
  for (const auto& each : scheduling::find_type(*types, "m6i.large")->offerings) {
    (each.capacity_type() == model::kReserved ? paid_for : on_demand) = each.price;
  }
  EXPECT_GT(on_demand, 0);
  EXPECT_DOUBLE_EQ(paid_for, on_demand / 10'000'000);
  // Types without one do not have the label.
  EXPECT_EQ(scheduling::find_type(*types, "m5.large")->requirements.find(kReservationIdLabel)->op(),
            model::Operator::DoesNotExist);
}

TEST_F(ReservationTest, IsLaunchedIntoFirstAndUsedUp) {
  resolve();
  const auto claim = claim_named("a");  // m5.large would be cheaper on demand
  const auto first = create(claim);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->labels.at("karpenter.sh/capacity-type"), "reserved");
  EXPECT_EQ(first->labels.at("node.kubernetes.io/instance-type"), "m6i.large");
  EXPECT_EQ(first->labels.at("topology.kubernetes.io/zone"), "us-west-2b");
  EXPECT_EQ(first->labels.at("karpenter.k8s.aws/capacity-reservation-id"), "cr-1");
  EXPECT_EQ(first->labels.at("karpenter.k8s.aws/capacity-reservation-type"), "default");
  EXPECT_EQ(first->labels.at("karpenter.k8s.aws/capacity-reservation-interruptible"), "false");
  const auto body = ec2.aws.only("CreateLaunchTemplate").body;
  EXPECT_THAT(body, HasSubstr("CapacityReservationSpecification.CapacityReservationPreference="
                              "capacity-reservations-only&LaunchTemplateData."
                              "CapacityReservationSpecification.CapacityReservationTarget."
                              "CapacityReservationId=cr-1"));
  const auto fleet = ec2.aws.only("CreateFleet");
  EXPECT_EQ(fleet.field("TargetCapacitySpecification.DefaultTargetCapacityType"), "on-demand");
  EXPECT_EQ(fleet.field("LaunchTemplateConfigs.1.Overrides.2.InstanceType"), "");
  EXPECT_THAT(reserved(), testing::ElementsAre("us-west-2b cr-1 1"));
  ASSERT_TRUE(create(claim_named("b")));
  EXPECT_TRUE(reserved().empty());
  const auto third = create(claim_named("c"));
  ASSERT_TRUE(third);
  EXPECT_EQ(third->labels.at("karpenter.sh/capacity-type"), "on-demand");
  EXPECT_FALSE(third->labels.contains("karpenter.k8s.aws/capacity-reservation-id"));
  EXPECT_THAT(ec2.aws.calls("CreateLaunchTemplate").back().body,
              HasSubstr("CapacityReservationPreference=none"));
  // As it is read again.
  const auto read = wait(loop, cloud->get(first->provider_id));
  EXPECT_EQ(read->labels.at("karpenter.sh/capacity-type"), "reserved");
  EXPECT_EQ(read->labels.at("karpenter.k8s.aws/capacity-reservation-id"), "cr-1");
}

TEST_F(ReservationTest, WhatEc2SaysIsTakenIsNotOfferedUntilItSaysOtherwise) {
  resolve();
  ec2.fleet_error = "ReservationCapacityExceeded";
  const auto refused = create(claim_named("a"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::NoCapacity);
  EXPECT_TRUE(reserved().empty());
  EXPECT_TRUE(is_available("m6i.large", "us-west-2a"));  // on demand
  resolve();
  EXPECT_THAT(reserved(), testing::ElementsAre("us-west-2b cr-1 2"));
}

TEST_F(ReservationTest, AreCountedEveryMinute) {
  resolve();
  there["cr-1"] = reservation("cr-1", "us-west-2b", 5);
  loop.run_for(61s);
  EXPECT_THAT(reserved(), testing::ElementsAre("us-west-2b cr-1 5"));
  there.clear();
  const auto changes = catalog_changes;
  loop.run_for(1min);
  EXPECT_TRUE(reserved().empty());
  EXPECT_GT(catalog_changes, changes);
  const auto calls = ec2.aws.calls("DescribeCapacityReservations").size();
  loop.run_for(5min);
  EXPECT_EQ(ec2.aws.calls("DescribeCapacityReservations").size(), calls) << "it is gone";
}

TEST_F(ReservationTest, OneThatIsDeletedDoesNotKeepTheOthersFromBeingCounted) {
  there["cr-2"] = reservation("cr-2", "us-west-2a", 5);
  terms.push_back(boost::json::object{{"id", "cr-2"}});
  resolve();
  EXPECT_THAT(reserved(), testing::ElementsAre("us-west-2b cr-1 2", "us-west-2a cr-2 5"));
  there.erase("cr-1");
  deleted.insert("cr-1");
  there["cr-2"] = reservation("cr-2", "us-west-2a", 7);
  loop.run_for(61s);
  EXPECT_THAT(reserved(), testing::ElementsAre("us-west-2a cr-2 7"));
  const auto calls = ec2.aws.calls("DescribeCapacityReservations").size();
  there["cr-2"] = reservation("cr-2", "us-west-2a", 6);
  loop.run_for(1min);
  EXPECT_THAT(reserved(), testing::ElementsAre("us-west-2a cr-2 6"));
  EXPECT_EQ(ec2.aws.calls("DescribeCapacityReservations").size(), calls + 1) << "it is forgotten";
}

TEST_F(ReservationTest, ABlockThatIsGoneEndsNothingMore) {
  there["cr-1"] = reservation("cr-1", "us-west-2b", 2,
                              "<reservationType>capacity-block</reservationType><endDate>" +
                                  base::format_rfc3339(loop.now() + 45min) + "</endDate>");
  resolve();
  ASSERT_TRUE(create(claim_named("a")));
  there.clear();
  loop.run_for(20min);
  EXPECT_TRUE(interrupted.empty());
}

TEST_F(ReservationTest, AClaimMayAskForOneReservation) {
  there["cr-2"] = reservation("cr-2", "us-west-2a", 5);
  terms.push_back(boost::json::object{{"id", "cr-2"}});
  resolve();
  const auto claim = claim_named("a");
  claim->requirements.push_back({.key = "karpenter.k8s.aws/capacity-reservation-id",
                                 .op = model::Operator::In,
                                 .values = {"cr-2"}});
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at("karpenter.k8s.aws/capacity-reservation-id"), "cr-2");
  const auto never = claim_named("b");
  never->requirements.push_back({.key = "karpenter.k8s.aws/capacity-reservation-id",
                                 .op = model::Operator::In,
                                 .values = {"cr-3"}});
  EXPECT_EQ(create(never).error().kind, ErrorKind::NoCapacity);
}

TEST_F(ReservationTest, OfTwoInAZoneTheOneWithMoreRoomIsTaken) {
  there["cr-2"] = reservation("cr-2", "us-west-2b", 5);
  terms.push_back(boost::json::object{{"id", "cr-2"}});
  resolve();
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->labels.at("karpenter.k8s.aws/capacity-reservation-id"), "cr-2");
}

TEST_F(ReservationTest, ACapacityBlockIsAskedForByItselfAndDrainedBeforeItsEnd) {
  const auto ends = [this](base::Duration in) {
    return "<reservationType>capacity-block</reservationType><endDate>" +
           base::format_rfc3339(loop.now() + in) + "</endDate>";
  };
  there["cr-1"] = reservation("cr-1", "us-west-2b", 2, ends(2h));
  resolve();
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at("karpenter.k8s.aws/capacity-reservation-type"), "capacity-block");
  EXPECT_EQ(
      ec2.aws.only("CreateFleet").field("TargetCapacitySpecification.DefaultTargetCapacityType"),
      "capacity-block");
  EXPECT_THAT(ec2.aws.only("CreateLaunchTemplate").body,
              HasSubstr("InstanceMarketOptions.MarketType=capacity-block"));
  loop.run_for(5min);
  EXPECT_TRUE(interrupted.empty());
  there["cr-1"] = reservation("cr-1", "us-west-2b", 1, ends(39min));
  resolve();
  EXPECT_TRUE(reserved().empty());
  loop.run_for(2min);
  ASSERT_FALSE(interrupted.empty());
  EXPECT_EQ(interrupted.front(), made->provider_id);
}

TEST_F(ReservationTest, AnInterruptibleOneIsMarkedSo) {
  there["cr-1"] = reservation("cr-1", "us-west-2b", 2, "<interruptible>true</interruptible>");
  resolve();
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->labels.at("karpenter.k8s.aws/capacity-reservation-interruptible"), "true");
  EXPECT_THAT(ec2.aws.only("CreateLaunchTemplate").body,
              HasSubstr("MarketType=interruptible-capacity-reservation"));
}

TEST_F(ReservationTest, AReservationThatIsSelectedNoMoreIsDrift) {
  resolve();
  const auto claim = claim_named("a");
  const auto made = create(claim);
  claim->provider_id = made->provider_id;
  claim->meta.annotations = made->annotations;
  const auto drift = [&] { return wait(loop, cloud->drift(claim, the_class)).value(); };
  EXPECT_EQ(drift(), "");
  there.clear();
  resolve();
  EXPECT_EQ(drift(), "CapacityReservationDrift");
}

TEST_F(ReservationTest, WithoutTheGateNothingKnowsOfThem) {
  crash();
  reserved_capacity = false;
  start();
  loop.run_for(1min);
  resolve();
  EXPECT_TRUE(ec2.aws.calls("DescribeCapacityReservations").empty());
  EXPECT_TRUE(reserved().empty());
  ASSERT_TRUE(create(claim_named("a")));
  EXPECT_THAT(ec2.aws.only("CreateLaunchTemplate").body, Not(HasSubstr("CapacityReservation")));
}

TEST_F(ReservationTest, AnInstanceThatOutlivesItsReservationIsOnDemand) {
  resolve();
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made);
  ec2.reservation_ended = true;
  const auto read = wait(loop, cloud->get(made->provider_id));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->labels.at("karpenter.sh/capacity-type"), "on-demand");
  EXPECT_FALSE(read->labels.contains("karpenter.k8s.aws/capacity-reservation-id"));
}

}  // namespace
}  // namespace millwright::cloud::aws
