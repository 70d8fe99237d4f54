// The record of decisions over a life with a bit of everything: what `millwright why` answers from.

#include "sandbox/lifecycle/lifecycle_fixture.hpp"
#include "support/records.hpp"

#include <algorithm>
#include <memory>

namespace millwright::test {
namespace {

using telemetry::Decision;
using telemetry::DecisionKind;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class Recorded : public LifecycleFixture {
 protected:
  void begin() {
    app::EmbeddedOptions options;
    options.write_decision = [lines = lines_](std::string_view line) { lines->emplace_back(line); };
    options.log = base::Logger(records_, "controller");
    start(std::move(options));
    apply_class();
  }
  // As written, in order.
  std::vector<Decision> written(DecisionKind kind) const {
    std::vector<Decision> found;
    for (const auto& line : *lines_) {
      const auto decision = telemetry::parse_decision_line(line);
      EXPECT_TRUE(decision.has_value()) << line;
      if (decision && decision->kind == kind) {
        found.push_back(*decision);
      }
    }
    return found;
  }

  const std::shared_ptr<std::vector<std::string>> lines_ =
      std::make_shared<std::vector<std::string>>();
  const std::shared_ptr<Records> records_ = std::make_shared<Records>();
};

TEST_F(Recorded, IsWhatWasBoughtForWhomAndWhatInstead) {
  begin();
  apply_pool();
  deploy({.name = "web", .replicas = 2, .cpu = "3"});
  ASSERT_TRUE(wait_running("web", 2));
  const auto bought = written(DecisionKind::Purchase);
  ASSERT_THAT(bought, Not(IsEmpty()));
  std::size_t pods = 0;
  for (const auto& purchase : bought) {
    pods += purchase.pods.size();
    EXPECT_EQ(purchase.about.front().kind, "NodeClaim");
    EXPECT_EQ(purchase.node_pool, "default");
    EXPECT_EQ(purchase.cause, "provisioned");
    EXPECT_GT(purchase.price.value_or(0), 0);
    EXPECT_THAT(purchase.inputs, SizeIs(16));
    ASSERT_THAT(purchase.alternatives, Not(IsEmpty()));
    const auto& smaller = purchase.alternatives.front();
    EXPECT_THAT(smaller.why_not, HasSubstr("too small: "));
    EXPECT_LT(smaller.price.value_or(0), purchase.price.value_or(0));
  }
  EXPECT_EQ(pods, 2U);
  const auto plans = written(DecisionKind::Plan);
  ASSERT_THAT(plans, Not(IsEmpty()));
  EXPECT_EQ(bought.front().trace, plans.front().trace);
  EXPECT_THAT(records_->text(), HasSubstr("reconcileID=" + bought.front().trace));
}

TEST_F(Recorded, IsARefusalOnceWhileItStands) {
  begin();
  apply_pool();
  deploy({.name = "huge", .cpu = "5000"});
  run_for(minutes(20));
  const auto refusals = written(DecisionKind::Refusal);
  ASSERT_THAT(refusals, SizeIs(1));
  EXPECT_EQ(refusals.front().about.front().kind, "Pod");
  EXPECT_THAT(refusals.front().message, Not(IsEmpty()));
}

TEST_F(Recorded, IsWhyANodeStaysAndThatItGoesInTheEnd) {
  begin();
  apply_pool({.disruption = "{consolidateAfter: 10m}"});
  deploy({.name = "web"});
  ASSERT_TRUE(wait_running("web", 1));
  scale("web", 0);
  run_for(minutes(2));
  const auto kept = written(DecisionKind::Kept);
  const auto waits = std::find_if(kept.begin(), kept.end(), [](const auto& decision) {
    return decision.cause == "WithinConsolidateAfter";
  });
  ASSERT_NE(waits, kept.end());
  EXPECT_GT(waits->price.value_or(0), 0);
  EXPECT_THAT(waits->remedy, HasSubstr("consolidateAfter"));
  ASSERT_TRUE(wait_empty());
  const auto removals = written(DecisionKind::Removal);
  ASSERT_THAT(removals, SizeIs(1));
  EXPECT_EQ(removals.front().cause, "Empty");
  EXPECT_GT(removals.front().saved.value_or(0), 0);
  EXPECT_EQ(removals.front().about.front().name, waits->about.front().name);
  EXPECT_THAT(removals.front().inputs, SizeIs(16));
  EXPECT_THAT(records_->text(), HasSubstr("disrupting node(s) controller=disruption command-id=" +
                                          removals.front().trace + " command="));
}

TEST_F(Recorded, IsTheDeletionOfANodeByAPerson) {
  begin();
  apply_pool();
  deploy({.name = "web"});
  ASSERT_TRUE(wait_running("web", 1));
  remove(model::kNodeResource, nodes().front()->meta.name);
  run_for(minutes(2));
  const auto removals = written(DecisionKind::Removal);
  ASSERT_THAT(removals, SizeIs(1));
  EXPECT_EQ(removals.front().cause, "node_deleted");
}

TEST_F(Recorded, IsHeldInMemoryWithoutAFile) {
  start();
  apply_class();
  apply_pool();
  deploy({.name = "web"});
  ASSERT_TRUE(wait_running("web", 1));
  const auto all = decisions().all();
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const auto& decision) {
    return decision->kind == DecisionKind::Purchase;
  }));
}

}  // namespace
}  // namespace millwright::test
