#include "millwright/telemetry/condition_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::telemetry {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

base::TimePoint watch_at(int second) {
  return base::TimePoint(seconds(second));
}

model::NodeClaim claim(model::ConditionStatus launched, int since) {
  model::NodeClaim claim;
  claim.meta.uid = "a";
  claim.meta.labels = {{"karpenter.sh/nodepool", "pool"}};
  claim.node_class_ref = {.group = "karpenter.kwok.sh", .kind = "KWOKNodeClass", .name = "default"};
  claim.conditions = {{.type = "Launched",
                       .status = launched,
                       .reason = "Why",
                       .last_transition_time = watch_at(since)}};
  return claim;
}

TEST(ConditionWatch, CountsTransitionsAndHowLongTheOldStatusHeld) {
  base::Metrics metrics;
  Chronicle chronicle(metrics, watch_at(0));
  chronicle.set_leading(true);
  ConditionWatch watch(metrics, chronicle);
  watch.seen(claim(model::ConditionStatus::Unknown, 1));
  EXPECT_EQ(metrics.render(), "") << "what was so already is no transition";
  watch.seen(claim(model::ConditionStatus::True, 4));
  watch.seen(claim(model::ConditionStatus::True, 4));
  const std::string text = metrics.render();
  EXPECT_THAT(text, HasSubstr("operator_nodeclaim_status_condition_transitions_total{"
                              "karpenter_kwok_sh_kwoknodeclass=\"default\","
                              "karpenter_sh_nodepool=\"pool\",reason=\"Why\",status=\"True\","
                              "type=\"Launched\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("operator_nodeclaim_status_condition_transition_seconds_sum{"
                              "karpenter_kwok_sh_kwoknodeclass=\"default\","
                              "karpenter_sh_nodepool=\"pool\",status=\"Unknown\","
                              "type=\"Launched\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("le=\"8192\""));
}

TEST(ConditionWatch, MeasuresHowLongADeletedObjectTook) {
  base::Metrics metrics;
  Chronicle chronicle(metrics, watch_at(0));
  chronicle.set_leading(true);
  ConditionWatch watch(metrics, chronicle);
  auto deleted = claim(model::ConditionStatus::True, 1);
  deleted.meta.deletion_timestamp = watch_at(10);
  watch.seen(deleted);
  watch.gone<model::NodeClaim>("a", watch_at(25));
  watch.gone<model::NodeClaim>("a", watch_at(99));
  watch.gone<model::NodeClaim>("never seen", watch_at(99));
  EXPECT_THAT(metrics.render(), HasSubstr("operator_nodeclaim_termination_duration_seconds_sum{"
                                          "karpenter_kwok_sh_kwoknodeclass=\"default\","
                                          "karpenter_sh_nodepool=\"pool\"} 15\n"));
}

TEST(ConditionWatch, LeavesCountingToTheLeader) {
  base::Metrics metrics;
  Chronicle chronicle(metrics, watch_at(0));
  ConditionWatch watch(metrics, chronicle);
  watch.seen(claim(model::ConditionStatus::Unknown, 1));
  watch.seen(claim(model::ConditionStatus::True, 4));
  EXPECT_EQ(metrics.render(), "");
  chronicle.set_leading(true);
  watch.seen(claim(model::ConditionStatus::False, 9));
  EXPECT_THAT(metrics.render(), HasSubstr("status=\"False\""));
  EXPECT_THAT(metrics.render(), Not(HasSubstr("status=\"Unknown\"")));
}

}  // namespace
}  // namespace millwright::telemetry
