// Reserved capacity is used first and never promised twice (SCH-35 as far as one plan goes).
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::string_view kReservationId = "provider.example.com/reservation-id";

Offering reserved(std::string_view zone, const std::string& id, int capacity) {
  model::register_well_known_label(kReservationId);
  Offering result = offering(zone, "reserved", 0.001);
  result.requirements.add(in(kReservationId, {id}));
  result.reservation_capacity = capacity;
  return result;
}

InstanceTypes one_type(std::vector<Offering> offerings) {
  TypeBuilder builder =
      type("t").cpu("4").no_overhead().sold(std::vector<std::pair<std::string, std::string>>{});
  for (auto& item : offerings) {
    builder.sold(std::move(item));
  }
  return types({builder});
}

std::vector<std::string> capacity_types(const Plan& plan) {
  std::vector<std::string> result;
  for (const auto& claim : plan.claims) {
    for (const auto& value : values_of(claim, model::kCapacityTypeLabel)) {
      result.push_back(value);
    }
  }
  return result;
}

TEST(Reservations, AreUsedFirstAndPinTheClaim) {
  const auto list = one_type({offering("z", "on-demand", 1), reserved("z", "r-1", 1)});
  const Plan plan = ProblemBuilder().add(pool("default"), list).add(pod("p")).solve();
  ASSERT_THAT(plan.claims, SizeIs(1));
  EXPECT_THAT(values_of(plan.claims[0], model::kCapacityTypeLabel), ElementsAre("reserved"));
  EXPECT_THAT(values_of(plan.claims[0], kReservationId), ElementsAre("r-1"));
  EXPECT_EQ(plan.claims[0].price, 0.001);
}

TypeBuilder on_demand(const std::string& name, const std::string& cpu) {
  return type(name)
      .cpu(cpu)
      .no_overhead()
      .sold(std::vector<std::pair<std::string, std::string>>{})
      .sold(offering("z", "on-demand", 1));
}

// A pool that wants so many instance types to choose among.
PoolBuilder choosy(int least) {
  return pool("default").requires_(
      need(model::kInstanceTypeLabel, model::Operator::Exists, {}, least));
}

TEST(Reservations, AreUsedWhereWhatElseMightBeBoughtMeetsMinValues) {
  const auto two = types({on_demand("t", "4").sold(reserved("z", "r-1", 1)), on_demand("u", "4")});
  const Plan plan = ProblemBuilder().add(choosy(2), two).add(pod("p")).solve();
  ASSERT_THAT(plan.claims, SizeIs(1));
  EXPECT_THAT(values_of(plan.claims[0], model::kCapacityTypeLabel), ElementsAre("reserved"));
  EXPECT_THAT(values_of(plan.claims[0], model::kInstanceTypeLabel), ElementsAre("t"));
  // A NodeClaim that lists fewer values than its minValues is refused by the API server.
  EXPECT_EQ(plan.claims[0].requirements.get(model::kInstanceTypeLabel).min_values(), 1);

  const Plan refused = ProblemBuilder().add(choosy(3), two).add(pod("p")).solve();
  EXPECT_THAT(refused.claims, SizeIs(0));
  EXPECT_THAT(refused.refusals, SizeIs(1));
  const Plan relaxed =
      ProblemBuilder()
          .add(choosy(3), two)
          .add(pod("p"))
          .with([](Problem& problem) { problem.options.min_values = MinValuesPolicy::BestEffort; })
          .solve();
  ASSERT_THAT(relaxed.claims, SizeIs(1));
  EXPECT_THAT(values_of(relaxed.claims[0], model::kCapacityTypeLabel), ElementsAre("reserved"));
}

TEST(Reservations, LeaveNoMinValuesThatTheirClaimDoesNotList) {
  const auto list = one_type(
      {offering("y", "on-demand", 1), offering("z", "on-demand", 1), reserved("z", "r-1", 1)});
  const auto where = pool("default")
                         .requires_(need(model::kCapacityTypeLabel, model::Operator::In,
                                         {"on-demand", "reserved"}, 2))
                         .requires_(need(model::kZoneLabel, model::Operator::In, {"y", "z"}, 2));
  const Plan plan = ProblemBuilder().add(where, list).add(pod("p")).solve();
  ASSERT_THAT(plan.claims, SizeIs(1));
  for (const auto key : {model::kCapacityTypeLabel, model::kZoneLabel}) {
    EXPECT_THAT(values_of(plan.claims[0], key), SizeIs(1)) << key;
    EXPECT_EQ(plan.claims[0].requirements.get(key).min_values(), 1) << key;
  }
}

TEST(Reservations, AreNotJoinedByAPodThatLeavesTooLittleToChooseFrom) {
  const auto large_reserved =
      types({on_demand("large", "4").sold(reserved("z", "r-1", 1)), on_demand("small", "2")});
  const auto claims = [&](int least) {
    return ProblemBuilder()
        .add(choosy(least), large_reserved)
        .add(pods(2, "p", pod("p").cpu("2")))
        .solve()
        .claims;
  };
  EXPECT_THAT(claims(1), SizeIs(1));
  // Together they fit the large type only, if the reservation should turn out to be gone.
  EXPECT_THAT(claims(2), SizeIs(2));
}

TEST(Reservations, AreCountedDownWithinAPlan) {
  const auto list = one_type({offering("z", "on-demand", 1), reserved("z", "r-1", 2)});
  const Plan plan =
      ProblemBuilder().add(pool("default"), list).add(pods(3, "p", pod("p").cpu("4"))).solve();
  EXPECT_THAT(capacity_types(plan), ElementsAre("reserved", "reserved", "on-demand"));
}

TEST(Reservations, SharedByPoolsAreCountedOnce) {
  const auto list = one_type({reserved("z", "r-1", 1)});
  const auto other = one_type({reserved("z", "r-1", 1)});
  const Plan plan = ProblemBuilder()
                        .add(pool("a"), list)
                        .add(pool("b"), other)
                        .add(pods(2, "p", pod("p").cpu("4")))
                        .solve();
  EXPECT_THAT(plan.claims, SizeIs(1));
  ASSERT_THAT(plan.refusals, SizeIs(1));
  EXPECT_THAT(plan.refusals[0].reason, HasSubstr("reservations are all taken"));
}

TEST(Reservations, SeveralOfOnePoolAreAllUsed) {
  const auto list = one_type({reserved("z", "r-1", 1), reserved("y", "r-2", 1)});
  const Plan plan =
      ProblemBuilder().add(pool("default"), list).add(pods(2, "p", pod("p").cpu("4"))).solve();
  EXPECT_THAT(capacity_types(plan), ElementsAre("reserved", "reserved"));
}

TEST(Reservations, AreNotGivenUpByALaterPod) {
  const auto list = one_type({offering("y", "on-demand", 1), reserved("z", "r-1", 1)});
  const Plan plan = ProblemBuilder()
                        .add(pool("default"), list)
                        .add(pod("first").cpu("1"))
                        .add(pod("later").selects(model::kZoneLabel, "y"))
                        .solve();
  ASSERT_THAT(plan.claims, SizeIs(2));
  EXPECT_THAT(values_of(*claim_of(plan, "first"), model::kCapacityTypeLabel),
              ElementsAre("reserved"));
}

TEST(Reservations, WithoutCapacityDoNotExist) {
  const auto list = one_type({offering("z", "on-demand", 1), reserved("z", "r-1", 0)});
  const Plan plan = ProblemBuilder().add(pool("default"), list).add(pod("p")).solve();
  EXPECT_THAT(capacity_types(plan), ElementsAre("on-demand"));
}

TEST(Reservations, UsedByAClaimStillToBeLaunchedAreTaken) {
  const auto list = one_type({offering("z", "on-demand", 1), reserved("z", "r-1", 1)});
  const auto launching = node("x").without_node().with_claim([](model::NodeClaim& claim) {
    claim.provider_id.clear();
    claim.allocatable.clear();
    claim.requests = resources({{"cpu", "4"}});
    claim.requirements = {need(model::kCapacityTypeLabel, Operator::In, {"reserved"}),
                          need(kReservationId, Operator::In, {"r-1"})};
  });
  const Plan plan = ProblemBuilder()
                        .add(pool("default"), list)
                        .with([&](Problem& problem) { problem.counted_nodes.push_back(launching); })
                        .add(pod("p").cpu("4"))
                        .solve();
  EXPECT_THAT(capacity_types(plan), ElementsAre("on-demand"));
}

}  // namespace
}  // namespace millwright::scheduling::testing
