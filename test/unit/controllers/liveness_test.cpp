// When a claim that does not come up is given up.
#include "controllers/nodeclaim/lifecycle/liveness.hpp"

#include "unit/controllers/with_services.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

namespace millwright::controllers {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::at;

class Liveness : public WithServices {
 protected:
  // By the API server's time; conditions have the process's.
  static constexpr int kCreated = 10'000;

  Liveness() {
    claim_.meta.name = "c";
    claim_.meta.uid = "c";
    claim_.meta.creation_timestamp = at(kCreated);
  }
  void set(std::string_view type, model::ConditionStatus status, base::TimePoint now) {
    model::ConditionSet set(claim_.conditions, claim_.meta, model::kNodeClaimDependents, now);
    if (status == model::ConditionStatus::True) {
      set.set_true(type);
    } else {
      set.set_unknown(type, "Waits", "waits");
    }
  }
  bool is_given_up(base::TimePoint now) {
    loop_.run_until(now);
    transport_->seen.clear();
    const auto claim = std::make_shared<const model::NodeClaim>(claim_);
    EXPECT_TRUE(kube::test::run(loop_, check_liveness(services_, claim)));
    return !transport_->seen.empty();
  }

  model::NodeClaim claim_;
};

TEST_F(Liveness, LetsAMachineJoinForAQuarterOfAnHourFromItsLaunch) {
  const base::TimePoint launched = at(kCreated) + minutes(4);
  set(model::kLaunched, model::ConditionStatus::True, launched);
  EXPECT_FALSE(is_given_up(launched + minutes(15) - seconds(1)));
  EXPECT_TRUE(is_given_up(launched + minutes(15)));
}

TEST_F(Liveness, LetsItJoinWhereTheApiServersTimeWasNeverTold) {
  const base::TimePoint launched = at(kCreated) + minutes(14) + seconds(58);
  set(model::kLaunched, model::ConditionStatus::True, launched);
  EXPECT_FALSE(is_given_up(launched + seconds(3)));
}

TEST_F(Liveness, DoesNotBelieveALaunchInTheFuture) {
  set(model::kLaunched, model::ConditionStatus::True, at(kCreated) + minutes(360));
  EXPECT_TRUE(is_given_up(at(kCreated) + minutes(15)));
}

TEST_F(Liveness, LetsItJoinOnceMoreWhenItsNodeWasDeletedByForce) {
  set(model::kLaunched, model::ConditionStatus::True, at(kCreated));
  set(model::kRegistered, model::ConditionStatus::True, at(kCreated) + minutes(1));
  const base::TimePoint deleted = at(kCreated) + minutes(60);
  set(model::kRegistered, model::ConditionStatus::Unknown, deleted);
  EXPECT_FALSE(is_given_up(deleted + minutes(15) - seconds(1)));
  EXPECT_TRUE(is_given_up(deleted + minutes(15)));
}

TEST_F(Liveness, TriesALaunchForFiveMinutes) {
  EXPECT_FALSE(is_given_up(at(kCreated) + minutes(5) - seconds(1)));
  EXPECT_TRUE(is_given_up(at(kCreated) + minutes(5)));
}

}  // namespace
}  // namespace millwright::controllers
