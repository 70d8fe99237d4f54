// Other pods: what their anti-affinity forbids, and what is refused rather than guessed.
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

model::PodAffinityTerm term(std::string_view key, model::StringMap labels) {
  return {.label_selector = model::LabelSelector{.match_labels = std::move(labels)},
          .topology_key = std::string(key)};
}

PodBuilder loner(std::string_view key) {
  return pod("loner").with([&](model::Pod& p) {
    p.spec.affinity.required_pod_anti_affinity.push_back(term(key, {{"app", "web"}}));
  });
}

TEST(InverseAntiAffinity, ClosesTheHostOfAPodThatWantsToBeAlone) {
  const auto where = node("n").runs(loner(model::kHostnameLabel));
  EXPECT_EQ(place(where, pod("p").label("app", "web")), "claim 0");
  EXPECT_EQ(place(where, pod("p").label("app", "db")), "n");
}

TEST(InverseAntiAffinity, ClosesTheWholeZone) {
  const Plan plan = ProblemBuilder()
                        .add(pool("default"), three_sizes())
                        .add(node("n").runs(loner(model::kZoneLabel)))
                        .add(node("same-zone"))
                        .add(pod("p").label("app", "web"))
                        .solve();
  ASSERT_NE(claim_of(plan, "p"), nullptr);
  EXPECT_FALSE(claim_of(plan, "p")->requirements.get(model::kZoneLabel).has("test-zone-1"));
  EXPECT_TRUE(claim_of(plan, "p")->requirements.get(model::kZoneLabel).has("test-zone-2"));
}

TEST(InverseAntiAffinity, HoldsInTheNamespacesItNames) {
  const auto elsewhere = pod("loner").with([](model::Pod& p) {
    auto anti = term(model::kHostnameLabel, {{"app", "web"}});
    anti.namespaces = {"other"};
    p.spec.affinity.required_pod_anti_affinity.push_back(anti);
  });
  EXPECT_EQ(place(node("n").runs(elsewhere), pod("p").label("app", "web")), "n");
  const auto everywhere = pod("loner").with([](model::Pod& p) {
    auto anti = term(model::kHostnameLabel, {{"app", "web"}});
    anti.namespace_selector = model::LabelSelector{};
    p.spec.affinity.required_pod_anti_affinity.push_back(anti);
  });
  EXPECT_EQ(place(node("n").runs(everywhere), pod("p").label("app", "web")), "claim 0");
}

TEST(InverseAntiAffinity, OfAPodThatMovesCountsWhereItGoes) {
  const auto moving = loner(model::kHostnameLabel)
                          .selects(model::kZoneLabel, "test-zone-2")
                          .with([](model::Pod& p) { p.spec.node_name = "n"; });
  const Plan plan = ProblemBuilder()
                        .add(pool("default"), three_sizes())
                        .add(node("n").runs(moving))
                        .add(moving)
                        .add(pod("p").label("app", "web"))
                        .solve();
  EXPECT_EQ(place_of(plan, "loner"), "claim 0");
  EXPECT_EQ(place_of(plan, "p"), "n");
}

struct RefusedCase {
  std::string what;
  PodBuilder pod;
  std::string reason;
};

TEST(Unsupported, NeedsAreRefused) {
  const std::vector<RefusedCase> cases = {
      {"a device",
       pod("p").with([](model::Pod& p) { p.spec.resource_claims.push_back({.name = "d"}); }),
       "resource claims"},
      {"no pool at all",
       pod("p").requires_term({need(model::kNodePoolLabel, Operator::DoesNotExist)}),
       "nodes of no NodePool"},
  };
  for (const auto& test : cases) {
    const Plan plan =
        ProblemBuilder().add(pool("default"), three_sizes()).add(node("n")).add(test.pod).solve();
    ASSERT_THAT(plan.refusals, SizeIs(1)) << test.what;
    EXPECT_THAT(plan.refusals[0].reason, HasSubstr(test.reason)) << test.what;
  }
}

}  // namespace
}  // namespace millwright::scheduling::testing
