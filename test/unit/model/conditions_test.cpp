#include "millwright/model/conditions.hpp"

#include "millwright/model/karpenter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::model {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

const base::TimePoint kCreated = *base::parse_rfc3339("2026-01-01T00:00:00Z");

class ConditionSetTest : public testing::Test {
 protected:
  ConditionSetTest() {
    meta_.generation = 1;
    meta_.creation_timestamp = kCreated;
  }
  ConditionSet set_at(base::Duration since_creation) {
    return {conditions_, meta_, kNodeClaimDependents, kCreated + since_creation};
  }
  const Condition& condition(std::string_view type) { return *find_condition(conditions_, type); }
  std::vector<std::string> types() {
    std::vector<std::string> out;
    for (const Condition& entry : conditions_) {
      out.push_back(entry.type);
    }
    return out;
  }
  // "Status/Reason/Message" of the root.
  std::string root() {
    const Condition& ready = condition(kReady);
    const char* const status = ready.status == ConditionStatus::True    ? "True"
                               : ready.status == ConditionStatus::False ? "False"
                                                                        : "Unknown";
    return std::string(status) + "/" + ready.reason + "/" + ready.message;
  }

  ObjectMeta meta_;
  std::vector<Condition> conditions_;
};

TEST_F(ConditionSetTest, BeginsWithEverythingUnknownSinceCreation) {
  EXPECT_TRUE(set_at(10s).changed());
  EXPECT_THAT(types(), ElementsAre("Launched", "Registered", "Initialized", "Ready"));
  for (const std::string_view type : kNodeClaimDependents) {
    EXPECT_EQ(condition(type).status, ConditionStatus::Unknown);
    EXPECT_EQ(condition(type).reason, "AwaitingReconciliation");
    EXPECT_EQ(condition(type).last_transition_time, kCreated);
    EXPECT_EQ(condition(type).observed_generation, 1);
  }
  EXPECT_EQ(root(),
            "Unknown/ReconcilingDependents/Launched=Unknown, Registered=Unknown, "
            "Initialized=Unknown");
  EXPECT_EQ(condition(kReady).last_transition_time, kCreated + 10s);
  EXPECT_FALSE(set_at(20s).changed());
}

TEST_F(ConditionSetTest, TheRootIsTheConjunctionOfItsDependents) {
  set_at(1s).set_true(kLaunched);
  EXPECT_EQ(condition(kLaunched).reason, "Launched");
  EXPECT_EQ(condition(kLaunched).message, "");
  EXPECT_EQ(root(), "Unknown/ReconcilingDependents/Registered=Unknown, Initialized=Unknown");
  set_at(2s).set_true(kRegistered);
  set_at(3s).set_false(kInitialized, "Broken", "it broke");
  EXPECT_EQ(root(), "False/UnhealthyDependents/Initialized=False");
  set_at(4s).set_true(kInitialized);
  EXPECT_EQ(root(), "True/Ready/");
  EXPECT_EQ(condition(kReady).last_transition_time, kCreated + 4s);
  EXPECT_THAT(types(), ElementsAre("Launched", "Registered", "Initialized", "Ready"));
}

TEST_F(ConditionSetTest, TheRootsMessageNamesTheLatestTransitionFirst) {
  set_at(1s).set_true(kLaunched);
  set_at(2s).set_unknown(kRegistered, "NodeNotFound", "waiting");
  set_at(3s).set_false(kLaunched, "Lost", "");
  EXPECT_EQ(root(),
            "False/UnhealthyDependents/Launched=False, Registered=Unknown, Initialized=Unknown");
}

TEST_F(ConditionSetTest, KeepsTheTransitionTimeWhileTheStatusStays) {
  set_at(1s).set_unknown(kRegistered, "NodeNotFound", "first");
  EXPECT_EQ(condition(kRegistered).last_transition_time, kCreated);
  EXPECT_EQ(condition(kRegistered).message, "first");
  set_at(5s).set_true(kRegistered);
  EXPECT_EQ(condition(kRegistered).last_transition_time, kCreated + 5s);
  set_at(9s).set_true(kRegistered, "Other", "text");
  EXPECT_EQ(condition(kRegistered).last_transition_time, kCreated + 5s);
  EXPECT_EQ(condition(kRegistered).reason, "Other");
}

TEST_F(ConditionSetTest, IsUnchangedWhenTheSameIsSetAgain) {
  set_at(1s).set_true(kLaunched);
  const auto before = conditions_;
  ConditionSet set = set_at(99s);
  set.set_true(kLaunched);
  EXPECT_FALSE(set.changed());
  EXPECT_EQ(conditions_, before);
}

TEST_F(ConditionSetTest, AConditionOfAnOlderGenerationDoesNotCount) {
  for (const std::string_view type : kNodeClaimDependents) {
    set_at(1s).set_true(type);
  }
  ASSERT_EQ(root(), "True/Ready/");
  meta_.generation = 2;
  ConditionSet set = set_at(2s);
  EXPECT_FALSE(set.changed());
  set.set_true(kLaunched);
  EXPECT_TRUE(set.changed());
  EXPECT_EQ(condition(kLaunched).observed_generation, 2);
  EXPECT_EQ(root(), "Unknown/ReconcilingDependents/Initialized=True, Registered=True");
}

TEST_F(ConditionSetTest, AFalseOfAnOlderGenerationIsOnlyReconciling) {
  set_at(1s).set_true(kLaunched);
  set_at(1s).set_true(kRegistered);
  set_at(1s).set_false(kInitialized, "Broken", "");
  meta_.generation = 2;
  set_at(2s).set_true(kLaunched);
  EXPECT_THAT(root(), testing::StartsWith("Unknown/ReconcilingDependents/"));
}

TEST_F(ConditionSetTest, IndependentConditionsAreSortedByTimeBeforeTheRootAndCanBeCleared) {
  set_at(5s).set_true(kLaunched);
  set_at(7s).set_true(kConsolidatable);
  EXPECT_EQ(condition(kConsolidatable).last_transition_time, kCreated + 7s);
  EXPECT_THAT(types(),
              ElementsAre("Registered", "Initialized", "Launched", "Consolidatable", "Ready"));
  EXPECT_EQ(root(), "Unknown/ReconcilingDependents/Registered=Unknown, Initialized=Unknown");
  ConditionSet set = set_at(8s);
  set.clear(kConsolidatable);
  EXPECT_TRUE(set.changed());
  EXPECT_THAT(types(), ElementsAre("Initialized", "Launched", "Ready", "Registered"));
}

TEST_F(ConditionSetTest, WhatReadyDependsOnIsNotCleared) {
  set_at(1s).set_true(kLaunched);
  ConditionSet set = set_at(2s);
  set.clear(kLaunched);
  set.clear(kReady);
  set.clear("NeverSet");
  EXPECT_FALSE(set.changed());
  EXPECT_EQ(conditions_.size(), 4);
}

TEST_F(ConditionSetTest, ADeletingObjectsConditionsAreAllOfItsGeneration) {
  set_at(1s).set_true(kLaunched);
  meta_.generation = 5;
  meta_.deletion_timestamp = kCreated + 1min;
  EXPECT_TRUE(set_at(2min).changed());
  for (const Condition& entry : conditions_) {
    EXPECT_EQ(entry.observed_generation, 5) << entry.type;
  }
  EXPECT_FALSE(set_at(3min).changed());
}

TEST_F(ConditionSetTest, TimesAreWholeSecondsAsTheApiStoresThem) {
  set_at(1500ms).set_true(kLaunched);
  EXPECT_EQ(condition(kLaunched).last_transition_time, kCreated + 1s);
}

TEST_F(ConditionSetTest, AnObjectNotYetCreatedCountsFromNow) {
  meta_.creation_timestamp.reset();
  set_at(3s);
  EXPECT_EQ(condition(kLaunched).last_transition_time, kCreated + 3s);
}

}  // namespace
}  // namespace millwright::model
