// podAffinity and podAntiAffinity: kube-scheduler's InterPodAffinity, planned ahead.
#include "topology_builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(PodAffinity, FollowsPodsThatRun) {
  const auto problem =
      with_pool()
          .add(node("n").label(kZone, "test-zone-2").allocatable("cpu", "1").runs(web("a")))
          .add(pod("p").cpu("2").with(beside(term(kZone))));
  EXPECT_THAT(per_domain(problem, kZone), ElementsAre(Pair("test-zone-2", 1)));
}

TEST(PodAffinity, FirstOfItsKindChoosesOneDomainForAll) {
  const auto problem = with_pool().add(pods(10, "w", web("w").cpu("3").with(beside(term(kZone)))));
  const Plan plan = problem.solve();
  EXPECT_THAT(plan.refusals, IsEmpty());
  EXPECT_THAT(per_domain(problem.problem(), plan, kZone), SizeIs(1));
}

TEST(PodAffinity, ToNobodyIsRefused) {
  const Plan plan = with_pool().add(pod("p").with(beside(term(kZone)))).solve();
  ASSERT_THAT(plan.refusals, SizeIs(1));
  EXPECT_THAT(plan.refusals[0].reason, HasSubstr("there are none"));
}

TEST(PodAffinity, WhereItCannotGoIsRefusedBecauseKubeSchedulerWould) {
  // Karpenter starts a second group in another zone; kube-scheduler never binds it there.
  const auto problem = with_pool()
                           .add(node("n").label(kZone, "test-zone-1").runs(web("a")))
                           .add(web("p").selects(kZone, "test-zone-2").with(beside(term(kZone))));
  const Plan plan = problem.solve();
  ASSERT_THAT(plan.refusals, SizeIs(1));
  EXPECT_THAT(plan.refusals[0].reason, HasSubstr("only in test-zone-1"));
}

TEST(PodAffinity, FollowsAPodOfTheSamePlanWhoseZoneWasOpen) {
  const auto problem =
      with_pool()
          .add(web("target").cpu("15"))
          .add(pods(3, "p",
                    pod("p").cpu("10").selects(kZone, "test-zone-2").with(beside(term(kZone)))));
  const Plan plan = problem.solve();
  EXPECT_THAT(plan.refusals, IsEmpty());
  EXPECT_THAT(per_domain(problem.problem(), plan, kZone), ElementsAre(Pair("test-zone-2", 4)));
}

TEST(PodAffinity, ChainsResolveWhateverTheOrder) {
  const auto link = [](const std::string& name, const std::string& to, std::string cpu) {
    return pod(name).cpu(cpu).label("app", name).with(beside(term(kHost, {{"app", to}})));
  };
  const Plan plan = with_pool()
                        .add(link("a", "b", "3"))
                        .add(link("b", "c", "2"))
                        .add(link("c", "d", "1"))
                        .add(pod("d").cpu("100m").label("app", "d"))
                        .solve();
  EXPECT_THAT(plan.refusals, IsEmpty());
  ASSERT_THAT(plan.claims, SizeIs(1));
  EXPECT_THAT(plan.claims[0].pod_uids, ElementsAre("d", "c", "b", "a"));
}

TEST(PodAffinity, ByHostnameSharesTheNode) {
  const auto problem = with_pool().add(pods(4, "w", web("w").cpu("3").with(beside(term(kHost)))));
  EXPECT_THAT(problem.solve().claims, SizeIs(1));
  const auto too_many = with_pool().add(pods(6, "w", web("w").cpu("3").with(beside(term(kHost)))));
  const Plan plan = too_many.solve();
  EXPECT_THAT(plan.claims, SizeIs(1));
  ASSERT_THAT(plan.refusals, SizeIs(1));
  EXPECT_THAT(plan.refusals[0].reason, HasSubstr("no node that has one has room"));
}

// A pod of two CPUs and three of one, which must all share a node.
void add_company(ProblemBuilder& problem, const std::string& name) {
  const auto member = [&](const std::string& pod_name, const std::string& cpu) {
    return pod(pod_name).cpu(cpu).label("app", name).with(beside(term(kHost, {{"app", name}})));
  };
  problem.add(member(name + "-first", "2")).add(pods(3, name, member(name, "1")));
}

ProblemBuilder with_machines_of_8_cpus() {
  return ProblemBuilder().add(
      pool("default"), types({type("eight").cpu("8").memory("64Gi").max_pods("50").no_overhead()}));
}

TEST(PodAffinity, ByHostnameTheFirstOfACompanyKeepsRoomForTheRest) {
  // By size alone, the four pods of two CPUs would fill a machine.
  ProblemBuilder problem = with_machines_of_8_cpus();
  for (const char* name : {"a", "b", "c", "d"}) {
    add_company(problem, name);
  }
  const Plan plan = problem.solve();
  EXPECT_THAT(plan.refusals, IsEmpty());
  EXPECT_THAT(plan.claims, SizeIs(4));
}

TEST(PodAffinity, ByHostnameACompanyPassesOverANodeThatHoldsAPartOfIt) {
  ProblemBuilder problem = with_machines_of_8_cpus();
  problem.add(node("small").allocatable("cpu", "4").allocatable("memory", "16Gi"));
  add_company(problem, "a");
  const Plan plan = problem.solve();
  EXPECT_THAT(plan.refusals, IsEmpty());
  EXPECT_THAT(plan.claims, SizeIs(1));
}

TEST(PodAffinity, OfSeveralTermsWantsPodsThatMatchAll) {
  // As kube-scheduler: one pod that matches both, not two that match one each.
  const auto wants_both = pod("p")
                              .with(beside(term(kZone, {{"app", "web"}})))
                              .with(beside(term(kHost, {{"tier", "front"}})));
  EXPECT_THAT(with_pool()
                  .add(node("n").runs(web("a")).runs(pod("b").label("tier", "front")))
                  .add(wants_both)
                  .solve()
                  .refusals,
              SizeIs(1));
  const auto problem =
      with_pool().add(node("n").runs(web("a").label("tier", "front"))).add(wants_both);
  EXPECT_EQ(place_of(problem.solve(), "p"), "n");
}

TEST(PodAffinity, LooksInTheNamespacesItNames) {
  const auto in_other = web("a").with([](model::Pod& p) { p.meta.namespace_ = "other"; });
  auto snapshot = std::make_shared<Snapshot>();
  model::Namespace other;
  other.meta.name = "other";
  other.meta.labels = {{"team", "x"}};
  snapshot->namespaces.push_back(std::make_shared<const model::Namespace>(other));
  auto listed = term(kZone);
  listed.namespaces = {"other"};
  auto selected = term(kZone);
  selected.namespace_selector = matching({{"team", "x"}});
  auto everywhere = term(kZone);
  everywhere.namespace_selector = model::LabelSelector{};
  auto unmatched = term(kZone);
  unmatched.namespace_selector = matching({{"team", "y"}});
  const auto refusals = [&](const model::PodAffinityTerm& where) {
    return with_pool()
        .add(node("n").runs(in_other))
        .add(pod("p").with(beside(where)))
        .with([&](Problem& p) { p.cluster = snapshot; })
        .solve()
        .refusals.size();
  };
  EXPECT_EQ(refusals(listed), 0u);
  EXPECT_EQ(refusals(selected), 0u);
  EXPECT_EQ(refusals(everywhere), 0u);
  EXPECT_EQ(refusals(term(kZone)), 1u);
  EXPECT_EQ(refusals(unmatched), 1u);
}

TEST(PodAffinity, MatchLabelKeysKeepRevisionsApart) {
  auto own_revision = term(kZone);
  own_revision.match_label_keys = {"revision"};
  const auto problem =
      with_pool()
          .add(node("n").label(kZone, "test-zone-2").runs(web("old").label("revision", "1")))
          .add(web("p")
                   .label("revision", "2")
                   .selects(kZone, "test-zone-1")
                   .with(beside(own_revision)));
  EXPECT_THAT(problem.solve().refusals, IsEmpty()) << "the first of its revision";
}

TEST(PodAntiAffinity, ByHostnameGivesEachItsNode) {
  const auto problem = with_pool().add(pods(5, "w", web("w").with(apart(term(kHost)))));
  EXPECT_THAT(problem.solve().claims, SizeIs(5));
}

TEST(PodAntiAffinity, ByZoneIsSolvedInOneRound) {
  // Karpenter places one of them per round, because it leaves the zone open.
  const auto problem = with_pool().add(pods(4, "w", web("w").with(apart(term(kZone)))));
  const Plan plan = problem.solve();
  EXPECT_THAT(per_domain(problem.problem(), plan, kZone),
              ElementsAre(Pair("test-zone-1", 1), Pair("test-zone-2", 1), Pair("test-zone-3", 1)));
  ASSERT_THAT(plan.refusals, SizeIs(1));
  EXPECT_THAT(plan.refusals[0].reason, HasSubstr("kept apart"));
}

TEST(PodAntiAffinity, IsAlwaysMetWhereNodesLackTheLabel) {
  const auto problem = with_pool(pool("p").requires_(need("rack", Operator::In, {"r1"})))
                           .add(pool("bare"), three_sizes())
                           .add(node("n").allocatable("cpu", "100m"))
                           .add(pods(3, "w", web("w").cpu("1").with(apart(term("rack")))));
  const Plan plan = problem.solve();
  EXPECT_THAT(plan.refusals, IsEmpty());
  EXPECT_THAT(per_domain(problem.problem(), plan, "rack"),
              ElementsAre(Pair("?", 2), Pair("r1", 1)));
}

TEST(PodAntiAffinity, KeepsOutPodsThatDeclareNothing) {
  const auto problem =
      with_pool().add(pod("loner").cpu("1").with(apart(term(kZone)))).add(pods(3, "w", web("w")));
  const Plan plan = problem.solve();
  EXPECT_THAT(plan.refusals, IsEmpty());
  const auto alone = values_of(*claim_of(plan, "loner"), kZone);
  ASSERT_THAT(alone, SizeIs(1));
  EXPECT_FALSE(claim_of(plan, "w-1000")->requirements.get(kZone).has(alone[0]));
}

TEST(PodAntiAffinity, AvoidsPodsThatArePlacedFirstWithAnOpenZone) {
  const auto problem =
      with_pool().add(pods(3, "w", web("w").cpu("1"))).add(pod("loner").with(apart(term(kZone))));
  const Plan plan = problem.solve();
  EXPECT_THAT(plan.refusals, IsEmpty());
  const auto webs = values_of(*claim_of(plan, "w-1000"), kZone);
  const auto alone = values_of(*claim_of(plan, "loner"), kZone);
  ASSERT_THAT(webs, SizeIs(1));
  ASSERT_THAT(alone, SizeIs(1));
  EXPECT_NE(webs, alone);
}

TEST(PreferredPodAffinity, IsDroppedHeaviestFirst) {
  // Nobody runs db; the lighter wish, to be beside web, can be met once db is given up.
  const auto problem =
      with_pool()
          .add(node("n").label(kZone, "test-zone-3").allocatable("cpu", "10m").runs(web("a")))
          .add(pod("p")
                   .cpu("1")
                   .with(likes(10, term(kZone, {{"app", "db"}})))
                   .with(likes(1, term(kZone))));
  EXPECT_THAT(per_domain(problem, kZone), ElementsAre(Pair("test-zone-3", 1)));
}

TEST(PreferredPodAntiAffinity, IsHeededWhilePossibleAndNeverBindsOthers) {
  const auto shy = web("w").with(dislikes(10, term(kZone)));
  const auto problem = with_pool().add(pods(5, "w", shy));
  const Plan plan = problem.solve();
  EXPECT_THAT(plan.refusals, IsEmpty());
  EXPECT_THAT(per_domain(problem.problem(), plan, kZone), SizeIs(3));
}

TEST(PreferredPodAntiAffinity, IsNotLookedAtWhenPreferencesAreIgnored) {
  const auto problem =
      with_pool().add(pods(5, "w", web("w").with(dislikes(10, term(kHost))))).with([](Problem& p) {
        p.options.preferences = PreferencePolicy::Ignore;
      });
  EXPECT_THAT(problem.solve().claims, SizeIs(1));
}

TEST(UnlaunchedClaims, KeepAPodThatMayFollowOthersInEveryZoneTheyMayGetTo) {
  const auto place = [](std::vector<std::string> zones) {
    return place_of(
        with_pool()
            .add(node("a").label(kZone, "test-zone-1").runs(web("a")))
            .add(node("b").label(kZone, "test-zone-2").runs(web("b")))
            .add(unlaunched("x", std::move(zones)))
            .add(pod("p").cpu("5").with(beside(term(kZone))))
            .with([](Problem& p) { p.kept.push_back({.target = "claim-x", .pod_uid = "p"}); })
            .solve(),
        "p");
  };
  EXPECT_EQ(place({"test-zone-1", "test-zone-2"}), "claim-x");
  EXPECT_EQ(place({"test-zone-2"}), "claim-x");
  EXPECT_EQ(place({"test-zone-1", "test-zone-3"}), "claim 0") << "nobody is in zone 3";
}

TEST(UnlaunchedClaims, AreNotCountedOnForAZoneThatIsOpen) {
  const auto place = [](std::vector<std::string> zones) {
    return place_of(with_pool()
                        .add(unlaunched("x", std::move(zones)))
                        .add(web("p").with([](model::Pod& p) {
                          p.spec.topology_spread.push_back(spread_over(kZone, 1));
                        }))
                        .solve(),
                    "p");
  };
  EXPECT_EQ(place({"test-zone-1"}), "claim-x");
  EXPECT_EQ(place({"test-zone-1", "test-zone-2"}), "claim 0");
}

TEST(UnlaunchedClaims, MayBeWhereverAnAntiAffinityLooks) {
  // "web" was promised room on a claim of unknown zone, so no zone is sure to be free of it.
  const Plan plan =
      with_pool(
          pool("default").requires_(need(kZone, Operator::In, {"test-zone-1", "test-zone-2"})))
          .add(unlaunched("x", {"test-zone-1", "test-zone-2"}))
          .add(web("w"))
          .add(pod("loner").with(apart(term(kZone))))
          .with([](Problem& p) { p.kept.push_back({.target = "claim-x", .pod_uid = "w"}); })
          .solve();
  EXPECT_EQ(place_of(plan, "w"), "claim-x");
  EXPECT_NE(refusal(plan, "loner"), nullptr);
}

TEST(PodAffinity, ReliesOnPodsWhosePlacesAreKept) {
  const Plan plan = with_pool()
                        .add(node("n").label(kZone, "test-zone-2"))
                        .add(pod("p").cpu("5").with(beside(term(kZone))))
                        .with([](Problem& p) {
                          p.kept = {{.target = "n", .pod_uid = {}, .sample = web("w"), .pods = 1}};
                        })
                        .solve();
  ASSERT_THAT(plan.refusals, IsEmpty());
  EXPECT_THAT(values_of(plan.claims[0], kZone), ElementsAre("test-zone-2"));
}

TEST(PodAntiAffinity, OfPodsWhosePlacesAreKeptIsHeededBothWays) {
  const auto loner = web("loner").with(apart(term(kHost)));
  const auto place = [](const PodBuilder& who, const PodBuilder& kept) {
    return place_of(with_pool()
                        .add(node("n"))
                        .add(who)
                        .with([&](Problem& p) {
                          p.kept = {{.target = "n", .pod_uid = {}, .sample = kept, .pods = 1}};
                        })
                        .solve(),
                    who.value().meta.uid);
  };
  EXPECT_EQ(place(loner, web("w")), "claim 0");
  EXPECT_EQ(place(web("w"), loner), "claim 0") << "it keeps others out when it is there";
  EXPECT_EQ(place(web("w"), web("v")), "n");
}

TEST(PodAntiAffinity, TakesAPodWhosePlaceIsOnAClaimToBeWhereverTheClaimMayGetTo) {
  const auto keep = [](std::vector<std::string> zones) {
    return with_pool(
               pool("default").requires_(need(kZone, Operator::In, {"test-zone-1", "test-zone-2"})))
        .add(unlaunched("x", std::move(zones)))
        .add(pod("loner").with(apart(term(kZone))))
        .with([](Problem& p) {
          p.kept = {{.target = "claim-x", .pod_uid = {}, .sample = web("w"), .pods = 1}};
        })
        .solve();
  };
  EXPECT_THAT(values_of(keep({"test-zone-1"}).claims.at(0), kZone), ElementsAre("test-zone-2"));
  EXPECT_NE(refusal(keep({"test-zone-1", "test-zone-2"}), "loner"), nullptr);
}

TEST(Promises, LeanOnEachOther) {
  // Both were promised room on one node; the smaller one is what the larger one follows.
  const auto follower = pod("follower").cpu("1").with(beside(term(kHost)));
  const Plan plan = with_pool()
                        .add(node("n"))
                        .add(follower)
                        .add(web("leader"))
                        .with([](Problem& p) {
                          p.kept.push_back({.target = "n", .pod_uid = "follower"});
                          p.kept.push_back({.target = "n", .pod_uid = "leader"});
                        })
                        .solve();
  EXPECT_EQ(place_of(plan, "follower"), "n");
  EXPECT_EQ(place_of(plan, "leader"), "n");
}

}  // namespace
}  // namespace millwright::scheduling::testing
