// What a person reads in `kubectl describe` of a node that stays, and of a NodePool that cannot do
// what is asked of it.

#include "sandbox/lifecycle/lifecycle_fixture.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class News : public LifecycleFixture {
 protected:
  void up(const std::string& disruption, PoolText pool = {}) {
    start();
    apply_class();
    pool.disruption = disruption;
    apply_pool(pool);
    deploy({});
    ASSERT_TRUE(wait_running("web", 1));
  }

  // Whom the reason was given to, sorted, and that each was told `text`, `count` times.
  void expect_told(std::string_view reason, std::vector<std::string> whom, const std::string& text,
                   int count = 1) {
    const auto texts = event_texts(reason);
    std::vector<std::string> about;
    for (const auto& each : texts) {
      about.push_back(each.about);
    }
    std::sort(about.begin(), about.end());
    std::sort(whom.begin(), whom.end());
    EXPECT_EQ(about, whom) << reason;
    EXPECT_THAT(texts, Each(AllOf(Field(&EventText::message, HasSubstr(text)),
                                  Field(&EventText::count, count))))
        << reason;
  }

  std::vector<std::string> node_and_claim() {
    return {"Node " + nodes().front()->meta.name, "NodeClaim " + claims().front()->meta.name};
  }
};

TEST_F(News, ANodeThatNothingCheaperCanReplaceIsToldSoOnceInAQuarterOfAnHour) {
  up("{consolidateAfter: 30s}");
  run_for(minutes(14));
  expect_told("Unconsolidatable", node_and_claim(), "No cheaper instance type");
  run_for(minutes(5));
  expect_told("Unconsolidatable", node_and_claim(), "No cheaper instance type", 2);
}

TEST_F(News, ANodePoolThatOnlyGivesBackEmptyNodesIsNamed) {
  up("{consolidateAfter: 30s, consolidationPolicy: WhenEmpty}");
  run_for(minutes(5));
  expect_told("Unconsolidatable", node_and_claim(),
              "NodePool default removes nodes only when they are empty");
}

TEST_F(News, NobodyIsToldThatConsolidateAfterHasNotPassed) {
  up("{consolidateAfter: 2h}");
  run_for(hours(1));
  EXPECT_THAT(events("Unconsolidatable"), IsEmpty());
  for (const auto& message : events("DisruptionBlocked")) {
    EXPECT_THAT(message, Not(HasSubstr("consolidateAfter")));
  }
}

TEST_F(News, ABudgetOfNoneIsToldToTheNodeAndToItsNodePool) {
  up("{consolidateAfter: 30s, budgets: [{nodes: \"0\"}]}");
  scale("web", 0);
  run_for(minutes(10));
  expect_told("Unconsolidatable", node_and_claim(), "allow no further Empty node");
  const auto texts = event_texts("DisruptionBlocked");
  const auto pool = std::find_if(texts.begin(), texts.end(),
                                 [](const auto& each) { return each.about == "NodePool default"; });
  ASSERT_NE(pool, texts.end());
  EXPECT_EQ(pool->message, "spec.disruption.budgets allow no further Empty node to go now");
  EXPECT_GE(pool->count, 5);
  EXPECT_LE(pool->count, 10) << "at most once a minute";
}

TEST_F(News, APodThatMustNotBeDisruptedIsWhyItsNodeIsBlocked) {
  up("{consolidateAfter: Never}");
  deploy({.name = "kept",
          .pod_metadata = "      annotations: {karpenter.sh/do-not-disrupt: \"true\"}"});
  ASSERT_TRUE(wait_running("kept", 1));
  change(model::kNodePoolResource, "default", [](boost::json::value& pool) {
    auto& metadata = pool.at("spec").at("template").as_object()["metadata"];
    metadata = boost::json::object{{"labels", {{"team", "blue"}}}};
  });
  run_for(minutes(15));
  std::vector<std::string> blocked;
  for (const auto& each : event_texts("DisruptionBlocked")) {
    if (each.message.find("karpenter.sh/do-not-disrupt") != std::string::npos) {
      blocked.push_back(each.about);
    }
  }
  const auto node = pods("kept").front()->spec.node_name;
  EXPECT_THAT(blocked, Contains("Node " + node));
}

TEST_F(News, WhatATimedAnnotationComesToIsToldToThePod) {
  up("{consolidateAfter: Never}");
  deploy({.name = "long",
          .pod_metadata = "      annotations: {karpenter.sh/do-not-disrupt: \"20m\"}"});
  deploy({.name = "odd",
          .pod_metadata = "      annotations: {karpenter.sh/do-not-disrupt: \"a while\"}"});
  ASSERT_TRUE(wait_running("long", 1));
  ASSERT_TRUE(wait_running("odd", 1));
  const auto about_pod = [this](const std::string& app) {
    return "Pod " + pods(app).front()->meta.name;
  };
  const auto said_to = [](const std::string& pod, const std::string& text) {
    return Contains(
        AllOf(Field(&EventText::about, pod), Field(&EventText::message, HasSubstr(text))));
  };
  run_for(minutes(10));
  EXPECT_THAT(event_texts("DoNotDisruptUntil"), said_to(about_pod("long"), "(20m) keeps its node"));
  EXPECT_THAT(event_texts("InvalidDoNotDisruptAnnotation"),
              said_to(about_pod("odd"), "\"a while\""));
  EXPECT_THAT(events("DoNotDisruptGracePeriodElapsed"), IsEmpty());
  run_for(minutes(15));
  EXPECT_THAT(event_texts("DoNotDisruptGracePeriodElapsed"),
              said_to(about_pod("long"), "(20m) has kept its node"));
}

TEST_F(News, ANodePoolThatNoInstanceTypeSuitsIsToldSoWhilePodsWait) {
  start();
  apply_class();
  apply_pool({.name = "default"});
  apply_pool({.name = "picky", .template_extra = "", .extra = "  weight: 10"});
  change(model::kNodePoolResource, "picky", [](boost::json::value& pool) {
    pool.at("spec")
        .at("template")
        .at("spec")
        .at("requirements")
        .as_array()
        .push_back({{"key", "node.kubernetes.io/instance-type"},
                    {"operator", "In"},
                    {"values", boost::json::array{"no-such-type"}}});
  });
  run_for(minutes(1));
  EXPECT_THAT(events("NoCompatibleInstanceTypes"), IsEmpty()) << "nobody wants anything of it";
  deploy({});
  ASSERT_TRUE(wait_running("web", 1));
  expect_told("NoCompatibleInstanceTypes", {"NodePool picky"},
              "requirements filter out all instance types");
}

TEST_F(News, ANodePoolThatIsNoLongerReadySaysWhy) {
  up("{consolidateAfter: Never}");
  change(model::kNodePoolResource, "default", [](boost::json::value& pool) {
    pool.at("spec").at("template").at("spec").at("nodeClassRef").as_object()["name"] = "gone";
  });
  run_for(minutes(1));
  const auto said = [](const std::string& text) {
    return Contains(AllOf(Field(&EventText::about, "NodePool default"),
                          Field(&EventText::message, HasSubstr(text))));
  };
  EXPECT_THAT(
      event_texts("NodeClassReady"),
      said("went from True to False: NodeClassNotFound, KWOKNodeClass gone does not exist"));
  EXPECT_THAT(event_texts("Ready"), said("Condition Ready went from True to False"));
}

TEST_F(News, MovesThatABalancedPoolJudgesAreCountedWithTheirScores) {
  start();
  apply_class();
  apply_pool({.disruption = "{consolidateAfter: 30s, consolidationPolicy: Balanced}"});
  deploy({.replicas = 12});
  ASSERT_TRUE(wait_running("web", 12));
  EXPECT_THAT(metrics(), Not(HasSubstr("karpenter_consolidation_moves_total")));
  scale("web", 2);
  run_for(hours(1));
  const std::string labels = "{decision=\"approved\",nodepool=\"default\",policy=\"Balanced\"";
  EXPECT_THAT(metrics(), HasSubstr("karpenter_consolidation_moves_total" + labels));
  EXPECT_THAT(metrics(), HasSubstr("karpenter_consolidation_score_bucket" + labels));
  const auto approved = event_texts("ConsolidationApproved");
  ASSERT_THAT(approved, Not(IsEmpty()));
  EXPECT_THAT(approved, Each(Field(&EventText::message,
                                   AllOf(HasSubstr("and 0.50 is enough"), HasSubstr("saving")))));
}

TEST_F(News, ANodeThatIsAboutToBeConsolidatedIsToldSo) {
  up("{consolidateAfter: Never}");
  deploy({.name = "many", .replicas = 11});
  ASSERT_TRUE(wait_running("many", 11));
  EXPECT_THAT(events("ConsolidationCandidate"), IsEmpty());
  change(model::kNodePoolResource, "default", [](boost::json::value& pool) {
    pool.at("spec").at("disruption").as_object()["consolidateAfter"] = "30s";
  });
  scale("many", 6);
  ASSERT_TRUE(wait([&] { return !events("DisruptionTerminating").empty(); }, hours(1)));
  const auto told = event_texts("ConsolidationCandidate");
  EXPECT_THAT(told, Each(Field(&EventText::message, HasSubstr("Underutilized: "))));
  std::set<std::string> about;
  for (const auto& each : told) {
    about.insert(each.about.substr(0, each.about.find(' ')));
  }
  EXPECT_EQ(about, (std::set<std::string>{"Node", "NodeClaim"}));
}

TEST_F(News, ANodeThatCameSmallerThanItWasBoughtIsInconsistent) {
  up("{consolidateAfter: Never}");
  const auto claim = claims().front()->meta.name;
  ASSERT_TRUE(wait([&] {
    return condition(model::kNodeClaimResource, claim, "ConsistentStateFound") == "True";
  }));
  const auto node = nodes().front()->meta.name;
  change(
      model::kNodeResource, node,
      [](boost::json::value& object) {
        object.at("status").at("capacity").as_object()["cpu"] = "100m";
      },
      {}, "status");
  ASSERT_TRUE(wait([&] {
    return condition(model::kNodeClaimResource, claim, "ConsistentStateFound") == "False";
  }));
  ASSERT_TRUE(wait([&] { return !events("FailedConsistencyCheck").empty(); }));
  expect_told("FailedConsistencyCheck", {"NodeClaim " + claim}, "of resource cpu, but found 100m");
}

}  // namespace
}  // namespace millwright::test
