#include "millwright/controllers/pools/registration_health.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millwright::controllers {
namespace {

using model::ConditionStatus;

// What a sequence of outcomes makes of a pool: 's' a node came up, 'f' it did not, 'g' the pool's
// spec changed, 'c' its class did, 'r' this process was started anew.
class Told {
 public:
  Told() {
    pool_.meta.name = "default";
    pool_.meta.uid = "pool-1";
    pool_.meta.generation = 1;
    claim_.meta.owner_references = {
        {.api_version = "karpenter.sh/v1", .kind = "NodePool", .name = "default", .uid = "pool-1"}};
    claim_.conditions = {{.type = "Launched", .status = ConditionStatus::True}};
    judge();
  }

  void tell(std::string_view outcomes) {
    for (const char outcome : outcomes) {
      switch (outcome) {
        case 's':
          health_.succeeded(pool_, claim_);
          break;
        case 'f':
          health_.failed(pool_, claim_);
          break;
        case 'g':
          ++pool_.meta.generation;
          break;
        case 'r':
          health_ = RegistrationHealth();
          break;
        default:
          break;
      }
      judge(outcome == 'c');
    }
  }
  void judge(bool class_changed = false) {
    auto conditions = pool_.conditions;
    model::ConditionSet set(conditions, pool_.meta, model::kNodePoolDependents, base::TimePoint{});
    health_.judge(set, pool_, class_changed);
    pool_.conditions = conditions;
  }
  const model::Condition& condition() const {
    return *model::find_condition(pool_.conditions, model::kNodeRegistrationHealthy);
  }

  model::NodePool pool_;
  model::NodeClaim claim_;
  RegistrationHealth health_;
};

TEST(RegistrationHealth, IsJudgedByTheLastFourOutcomes) {
  struct Case {
    std::string outcomes;
    ConditionStatus status;
  };
  const std::vector<Case> cases = {
      {"", ConditionStatus::Unknown},     {"s", ConditionStatus::True},
      {"f", ConditionStatus::Unknown},    {"fs", ConditionStatus::True},
      {"ff", ConditionStatus::False},     {"ffs", ConditionStatus::False},
      {"ffss", ConditionStatus::False},   {"ffsss", ConditionStatus::True},
      {"ssssf", ConditionStatus::True},   {"sfsf", ConditionStatus::False},
      {"sg", ConditionStatus::Unknown},   {"ffg", ConditionStatus::Unknown},
      {"ffgf", ConditionStatus::Unknown}, {"ffc", ConditionStatus::Unknown},
      {"sc", ConditionStatus::Unknown},   {"scs", ConditionStatus::True},
  };
  for (const auto& test : cases) {
    Told told;
    told.tell(test.outcomes);
    EXPECT_EQ(told.condition().status, test.status) << "after '" << test.outcomes << "'";
  }
}

TEST(RegistrationHealth, IsReadBackFromTheConditionAfterARestart) {
  struct Case {
    std::string outcomes;
    ConditionStatus status;
  };
  const std::vector<Case> cases = {
      {"sr", ConditionStatus::True},     {"srf", ConditionStatus::True},
      {"srff", ConditionStatus::False},  {"ffr", ConditionStatus::False},
      {"ffrs", ConditionStatus::False},  {"ffrsss", ConditionStatus::True},
      {"frf", ConditionStatus::Unknown}, {"ffrg", ConditionStatus::Unknown},
  };
  for (const auto& test : cases) {
    Told told;
    told.tell(test.outcomes);
    EXPECT_EQ(told.condition().status, test.status) << "after '" << test.outcomes << "'";
  }
}

TEST(RegistrationHealth, SaysWhyNodesDoNotComeUp) {
  Told launched;
  launched.tell("ff");
  EXPECT_EQ(launched.condition().reason, "RegistrationFailed");

  Told never_launched;
  never_launched.claim_.conditions = {{.type = "Launched",
                                       .status = ConditionStatus::Unknown,
                                       .reason = "LaunchFailed",
                                       .message = "the cloud refused"}};
  never_launched.tell("ff");
  EXPECT_EQ(never_launched.condition().reason, "LaunchFailed");
  EXPECT_EQ(never_launched.condition().message, "the cloud refused");
  never_launched.tell("r");
  EXPECT_EQ(never_launched.condition().message, "the cloud refused") << "after a restart";
}

TEST(RegistrationHealth, CountsOnlyClaimsOfThePoolAsItIsNow) {
  Told told;
  told.claim_.meta.owner_references.front().uid = "an earlier pool of the name";
  told.tell("ss");
  EXPECT_EQ(told.condition().status, ConditionStatus::Unknown);
  told.claim_.meta.owner_references.clear();
  told.tell("ff");
  EXPECT_EQ(told.condition().status, ConditionStatus::Unknown);
}

TEST(RegistrationHealth, OfAPoolMadeAnewBeginsUnknown) {
  Told told;
  told.tell("ff");
  told.pool_.meta.uid = "pool-2";
  told.pool_.conditions.clear();
  told.claim_.meta.owner_references.front().uid = "pool-2";
  told.judge();
  EXPECT_EQ(told.condition().status, ConditionStatus::Unknown);
  told.tell("s");
  EXPECT_EQ(told.condition().status, ConditionStatus::True);
}

TEST(RegistrationHealth, TellsThatAPoolHasToBeLookedAt) {
  Told told;
  std::vector<std::string> pools;
  told.health_.on_change([&](const std::string& pool) { pools.push_back(pool); });
  told.tell("sf");
  EXPECT_EQ(pools, (std::vector<std::string>{"default", "default"}));
}

}  // namespace
}  // namespace millwright::controllers
