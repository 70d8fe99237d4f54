// Affinity terms, preferences and soft taints: SCH-06, 11, 12 and PRV-11, 12.
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string kPreferredZone(model::kZoneLabel);

model::SelectorRequirement zone(std::string value) {
  return need(kPreferredZone, Operator::In, {std::move(value)});
}

std::vector<std::string> zones_of(const Plan& plan) {
  return plan.claims.empty() ? std::vector<std::string>{"refused"}
                             : values_of(plan.claims[0], kPreferredZone);
}

Plan solve_one(const PodBuilder& who, PreferencePolicy policy = PreferencePolicy::Respect) {
  return ProblemBuilder()
      .add(pool("default"), three_sizes())
      .add(who)
      .with([&](Problem& problem) { problem.options.preferences = policy; })
      .solve();
}

TEST(Relaxation, RequiredTermsAreTriedFirstToLast) {
  EXPECT_THAT(
      zones_of(solve_one(
          pod("p").requires_term({zone("test-zone-2")}).requires_term({zone("test-zone-1")}))),
      ElementsAre("test-zone-2"));
  EXPECT_THAT(zones_of(solve_one(
                  pod("p").requires_term({zone("none")}).requires_term({zone("test-zone-1")}))),
              ElementsAre("test-zone-1"));
}

TEST(Relaxation, TheLastRequiredTermIsNeverDropped) {
  EXPECT_THAT(zones_of(solve_one(pod("p").requires_term({zone("none")}))), ElementsAre("refused"));
  EXPECT_THAT(
      zones_of(solve_one(pod("p").requires_term({zone("none")}).requires_term({zone("nil")}))),
      ElementsAre("refused"));
}

TEST(Relaxation, APreferenceThatCanBeMetIsMet) {
  EXPECT_THAT(zones_of(solve_one(pod("p").prefers(1, {zone("test-zone-2")}))),
              ElementsAre("test-zone-2"));
}

TEST(Relaxation, TheHeaviestPreferenceIsDroppedFirst) {
  EXPECT_THAT(zones_of(solve_one(
                  pod("p").prefers(1, {zone("test-zone-1")}).prefers(100, {zone("test-zone-3")}))),
              ElementsAre("test-zone-3"));
  EXPECT_THAT(
      zones_of(solve_one(pod("p").prefers(1, {zone("test-zone-1")}).prefers(100, {zone("none")}))),
      ElementsAre("test-zone-1"));
}

TEST(Relaxation, PreferencesThatConflictWithARequirementGiveWay) {
  EXPECT_THAT(zones_of(solve_one(pod("p")
                                     .requires_term({zone("test-zone-1")})
                                     .prefers(2, {zone("test-zone-2")})
                                     .prefers(1, {zone("test-zone-3")}))),
              ElementsAre("test-zone-1"));
  EXPECT_THAT(
      zones_of(solve_one(
          pod("p").selects(kPreferredZone, "test-zone-1").prefers(1, {zone("test-zone-2")}))),
      ElementsAre("test-zone-1"));
}

TEST(Relaxation, RequiredTermsAreDroppedBeforePreferences) {
  // The preference holds on the second term, so the first term goes, not the preference.
  EXPECT_THAT(zones_of(solve_one(pod("p")
                                     .requires_term({zone("test-zone-1")})
                                     .requires_term({zone("test-zone-2")})
                                     .prefers(1, {zone("test-zone-2")}))),
              ElementsAre("test-zone-2"));
}

TEST(Relaxation, NoTermIsForgottenForTheSakeOfAPreference) {
  // Karpenter drops the first term while the impossible preference stands, and never comes back.
  EXPECT_THAT(zones_of(solve_one(pod("p")
                                     .requires_term({zone("test-zone-1")})
                                     .requires_term({zone("none")})
                                     .prefers(1, {need("absent", Operator::Exists)}))),
              ElementsAre("test-zone-1"));
}

TEST(Relaxation, IgnoredPreferencesHaveNoEffect) {
  const auto who = pod("p").prefers(1, {zone("test-zone-2")});
  EXPECT_EQ(solve_one(who, PreferencePolicy::Ignore).claims.at(0).requirements.find(kPreferredZone),
            nullptr);
}

TEST(Relaxation, AContradictionWithinOnePodIsItsOwnReason) {
  const Plan plan =
      solve_one(pod("p").selects("team", "a").requires_term({need("team", Operator::In, {"b"})}));
  ASSERT_THAT(plan.refusals, SizeIs(1));
  EXPECT_THAT(plan.refusals[0].reason, HasSubstr("exclude each other"));
  const Plan impossible = solve_one(pod("p").requires_term({need("n", Operator::Gt, {"text"})}));
  ASSERT_THAT(impossible.refusals, SizeIs(1));
  EXPECT_THAT(impossible.refusals[0].reason, HasSubstr("no value of label n"));
}

TEST(Relaxation, MatchFieldsAreRefused) {
  const Plan plan = solve_one(pod("p").with([](model::Pod& p) {
    p.spec.affinity.required_node_terms.push_back(
        {{}, {need("metadata.name", Operator::In, {"n"})}});
  }));
  ASSERT_THAT(plan.refusals, SizeIs(1));
  EXPECT_THAT(plan.refusals[0].reason, HasSubstr("matchFields"));
}

TEST(Relaxation, ASoftTaintIsAvoidedWhileAnotherPoolWillDo) {
  const Plan plan =
      ProblemBuilder()
          .add(pool("soft").weight(100).taint("k", "v", "PreferNoSchedule"), three_sizes())
          .add(pool("plain"), three_sizes())
          .add(pod("p"))
          .solve();
  ASSERT_THAT(plan.claims, SizeIs(1));
  EXPECT_EQ(plan.claims[0].node_pool, "plain");
}

TEST(Relaxation, ASoftTaintIsToleratedWhenNothingElseWillDo) {
  const auto soft = pool("soft").taint("k", "v", "PreferNoSchedule");
  EXPECT_THAT(ProblemBuilder().add(soft, three_sizes()).add(pod("p")).solve().claims, SizeIs(1));
  // Preferences go first: with the soft taint kept, none of them would be worth anything.
  const Plan plan = ProblemBuilder()
                        .add(soft, three_sizes())
                        .add(pod("p").prefers(1, {zone("test-zone-2")}))
                        .solve();
  ASSERT_THAT(plan.claims, SizeIs(1));
  EXPECT_EQ(plan.claims[0].requirements.find(kPreferredZone), nullptr);
}

TEST(Relaxation, ASoftTaintOnAnExistingNodeIsToleratedLast) {
  const Plan fresh = ProblemBuilder()
                         .add(pool("default"), three_sizes())
                         .add(node("n").taint("k", "v", "PreferNoSchedule"))
                         .add(pod("p"))
                         .solve();
  EXPECT_EQ(place_of(fresh, "p"), "claim 0");
  const Plan last =
      ProblemBuilder().add(node("n").taint("k", "v", "PreferNoSchedule")).add(pod("p")).solve();
  EXPECT_EQ(place_of(last, "p"), "n");
}

TEST(Relaxation, ThousandsOfTermsAreBounded) {
  PodBuilder who = pod("p");
  for (int i = 0; i < 3000; ++i) {
    who.requires_term({zone("none-" + std::to_string(i))});
    who.prefers(1 + i % 100, {zone("nil-" + std::to_string(i))});
  }
  EXPECT_THAT(solve_one(who).refusals, SizeIs(1));
}

}  // namespace
}  // namespace millwright::scheduling::testing
