#include "app/asking/answer.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::app {
namespace {

using telemetry::Decision;
using telemetry::DecisionKind;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;
using testing::StartsWith;

class Asking : public testing::Test {
 protected:
  Decision& decide(DecisionKind kind, std::string message) {
    Decision decision;
    decision.number = decisions_.size() + 1;
    decision.time =
        base::TimePoint(std::chrono::days(20'000)) + std::chrono::minutes(decisions_.size());
    decision.kind = kind;
    decision.message = std::move(message);
    decisions_.push_back(std::make_shared<Decision>(std::move(decision)));
    return *decisions_.back();
  }
  // Claim default-a, bought for shop/web-1 and shop/web-2, whose node is node-a.
  void buy() {
    auto& bought = decide(DecisionKind::Purchase, "Bought NodeClaim default-a");
    bought.about = {{.kind = "NodeClaim", .namespace_ = {}, .name = "default-a"}};
    bought.node_pool = "default";
    bought.price = 0.41;
    bought.pods = {"shop/web-1", "shop/web-2"};
    bought.alternatives = {{.what = "c-large", .why_not = "too small", .price = 0.2}};
  }
  Decision& keep(std::string cause, std::string message) {
    auto& kept = decide(DecisionKind::Kept, std::move(message));
    kept.about = {{.kind = "NodeClaim", .namespace_ = {}, .name = "default-a"},
                  {.kind = "Node", .namespace_ = {}, .name = "node-a"}};
    kept.node_pool = "default";
    kept.cause = std::move(cause);
    kept.price = 0.41;
    return kept;
  }
  Answer ask(std::string_view kind, std::string_view name) const {
    const auto question = make_question(kind, name, "shop");
    EXPECT_TRUE(question.has_value());
    return answer(*question, Decisions(decisions_.begin(), decisions_.end()));
  }

  std::vector<std::shared_ptr<Decision>> decisions_;
};

TEST_F(Asking, SaysWhyAPodHasNoPlaceAndWhatWouldHelp) {
  auto& refusal =
      decide(DecisionKind::Refusal, "it asks for 100 cpu and no machine has more than 8");
  refusal.about = {{.kind = "Pod", .namespace_ = "shop", .name = "web-1"}};
  refusal.remedy = "allow instance types with 100 cpu";
  const auto told = ask("pod", "web-1");
  EXPECT_TRUE(told.known);
  EXPECT_THAT(told.headline, HasSubstr("shop/web-1 has no place: it asks for 100 cpu"));
  EXPECT_THAT(told.facts, Contains(Pair("Change", "allow instance types with 100 cpu")));
}

TEST_F(Asking, TellsPodsOfOneNameInTwoNamespacesApart) {
  auto& refusal = decide(DecisionKind::Refusal, "no room");
  refusal.about = {{.kind = "Pod", .namespace_ = "shop", .name = "web-1"}};
  EXPECT_TRUE(ask("pod", "shop/web-1").known);
  EXPECT_FALSE(ask("pod", "other/web-1").known);
}

TEST_F(Asking, SaysWhatWasBoughtForAPodAndWhatInstead) {
  buy();
  const auto told = ask("pod", "web-2");
  EXPECT_THAT(told.headline, HasSubstr("was bought: NodeClaim default-a"));
  EXPECT_THAT(told.facts, Contains(Pair("Instead", "c-large at $0.2/h: too small")));
  EXPECT_THAT(told.facts,
              Contains(Pair("Next", HasSubstr("kubectl describe nodeclaim default-a"))));
}

TEST_F(Asking, LetsTheNewestDecisionAboutAPodCount) {
  auto& refusal = decide(DecisionKind::Refusal, "no room");
  refusal.about = {{.kind = "Pod", .namespace_ = "shop", .name = "web-1"}};
  decide(DecisionKind::Plan, "Plan").targets = {{"shop/web-1", "node-b"}};
  EXPECT_THAT(ask("pod", "web-1").headline, HasSubstr("has room on node-b"));
  buy();
  EXPECT_THAT(ask("pod", "web-1").headline, HasSubstr("was bought"));
}

TEST_F(Asking, SaysWhyANodeStaysAndWhoItWasBoughtFor) {
  buy();
  auto& kept = keep("Budget", "spec.disruption.budgets allow no further node to go");
  kept.remedy = "raise a budget";
  for (const auto* name : {"node-a", "default-a"}) {
    const auto told = ask("node", name);
    EXPECT_THAT(told.headline, HasSubstr("stays: spec.disruption.budgets allow no further"));
    EXPECT_THAT(told.facts, Contains(Pair("Change", "raise a budget")));
    EXPECT_THAT(told.facts, Contains(Pair("Price", "$0.41/h")));
    EXPECT_THAT(told.facts, Contains(Pair("For", "shop/web-1, shop/web-2")));
    EXPECT_THAT(told.facts, Contains(Pair("Again", HasSubstr("when something changes"))));
  }
}

TEST_F(Asking, SaysWhenANodeIsLookedAtAgain) {
  keep("WithinConsolidateAfter", "consolidateAfter is not over").look_again =
      base::TimePoint(std::chrono::days(20'001));
  EXPECT_THAT(ask("node", "node-a").facts, Contains(Pair("Again", HasSubstr("2024-10-05"))));
}

TEST_F(Asking, SaysWhyANodeGoes) {
  buy();
  keep("Budget", "no budget");
  auto& removal = decide(DecisionKind::Removal, "replace node-a by c-small, saving $0.2/h");
  removal.about = decisions_[1]->about;
  removal.cause = "Underutilized";
  removal.saved = 0.2;
  removal.pods = {"shop/web-1"};
  removal.targets = {{"shop/web-1", "node-b"}};
  EXPECT_THAT(ask("node", "node-a").headline, HasSubstr("goes (Underutilized): replace node-a"));
  removal.message = "Underutilized: " + removal.message;
  EXPECT_THAT(ask("node", "node-a").headline, HasSubstr("goes (Underutilized): replace node-a"))
      << "the cause is said once";
  const auto pod = ask("pod", "web-1");
  EXPECT_THAT(pod.headline, HasSubstr("The node of pod shop/web-1 goes"));
  EXPECT_THAT(pod.facts, Contains(Pair("Room", HasSubstr("node-b"))));
}

TEST_F(Asking, AddsUpWhatWasDecidedAboutANodePool) {
  buy();
  keep("Budget", "no budget");
  auto& removal = decide(DecisionKind::Removal, "delete empty node b");
  removal.about = {{.kind = "NodeClaim", .namespace_ = {}, .name = "default-b"}};
  removal.node_pool = "default";
  removal.saved = 0.3;
  const auto told = ask("nodepool", "default");
  EXPECT_THAT(told.headline, HasSubstr("1 node bought for $0.41/h, 1 removal that saves $0.3/h"));
  EXPECT_THAT(told.facts, ElementsAre(Pair("Stays", "1 node for $0.41/h, Budget: no budget.")));
  buy();
  EXPECT_THAT(ask("nodepool", "default").headline, HasSubstr("2 nodes bought for $0.82/h"));
  EXPECT_FALSE(ask("nodepool", "other").known);
}

TEST_F(Asking, SaysSoWhenNothingIsOnRecord) {
  const auto told = ask("node", "node-z");
  EXPECT_FALSE(told.known);
  EXPECT_THAT(told.headline, HasSubstr("No decision about Node node-z is on record"));
  EXPECT_THAT(told.decisions, IsEmpty());
  EXPECT_THAT(told.facts, ElementsAre(Pair("Next", HasSubstr("kubectl get nodes,nodeclaims"))));
  EXPECT_THAT(ask("pod", "web-9").facts,
              ElementsAre(Pair("Next", HasSubstr("kubectl describe pod -n shop web-9"))));
  EXPECT_THAT(ask("nodepool", "none").facts,
              ElementsAre(Pair("Next", HasSubstr("kubectl describe nodepool none"))));
}

TEST_F(Asking, NamesFivePodsAndCountsTheOthers) {
  buy();
  auto& pods = decisions_.back()->pods;
  pods.insert(pods.end(), {"shop/web-3", "shop/web-4", "shop/web-5", "shop/web-6"});
  keep("Budget", "no budget");
  EXPECT_THAT(ask("node", "node-a").facts, Contains(Pair("For", HasSubstr("web-5 and 1 other"))));
  pods.push_back("shop/web-7");
  EXPECT_THAT(ask("node", "node-a").facts, Contains(Pair("For", HasSubstr("and 2 others"))));
}

TEST_F(Asking, ShowsAnAnswerAsTextAndAsJson) {
  buy();
  const auto told = ask("pod", "web-1");
  EXPECT_THAT(to_text(told), StartsWith("Room for pod shop/web-1 was bought: NodeClaim default-a.\n"
                                        "  Bought   Bought NodeClaim default-a\n"));
  const auto json = boost::json::parse(to_json(told)).as_object();
  EXPECT_EQ(json.at("kind"), "Pod");
  EXPECT_EQ(json.at("known"), true);
  EXPECT_EQ(json.at("decisions").as_array().front().at("decision"), "purchase");
}

TEST(Questions, TakeTheNamesThatKubectlTakes) {
  const auto pod = make_question("po", "shop/web", "default");
  ASSERT_TRUE(pod.has_value());
  EXPECT_EQ(pod->namespace_, "shop");
  EXPECT_EQ(pod->name, "web");
  EXPECT_EQ(make_question("nodeclaims", "a", "")->kind, AskedKind::Node);
  EXPECT_FALSE(make_question("deployment", "web", "default").has_value());
  EXPECT_FALSE(make_question("pod", "", "default").has_value());
}

TEST(RecordedDecisions, AreFoundAmongOtherLinesOfALog) {
  Decision late;
  late.kind = DecisionKind::Kept;
  late.time = base::TimePoint(std::chrono::days(2));
  late.message = "late";
  Decision early = late;
  early.time = base::TimePoint(std::chrono::days(1));
  early.message = "early";
  const auto read = read_decisions("{\"logger\":\"controller\"}\n" + decision_line(late) +
                                   "\nsomething else\n" + decision_line(early));
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_EQ(read.front()->message, "early");
}

}  // namespace
}  // namespace millwright::app
