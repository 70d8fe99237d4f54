// Some seeds of the simulator, and that a seed is one run.

#include "simulate/world/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace millwright::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Simulator, OneSeedIsOneRun) {
  for (const std::uint64_t seed : {2U, 3U, 4U, 7U, 8U}) {
    const auto once = simulate(draw(seed));
    const auto again = simulate(draw(seed));
    EXPECT_EQ(once.trace, again.trace) << "seed " << seed;
    EXPECT_EQ(once.lasted, again.lasted) << "seed " << seed;
    EXPECT_NE(once.trace, simulate(draw(seed + 1)).trace);
  }
}

TEST(Simulator, SeedsDrawDifferentTroubleAndEndItInTime) {
  std::set<Act> acts;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    for (const Step& step : draw(seed).steps) {
      acts.insert(step.act);
      EXPECT_LE(step.at + step.lasts, kTrouble) << to_string(step);
    }
  }
  EXPECT_EQ(acts.size(), static_cast<std::size_t>(kActs));
}

void expect_no_violations(const Schedule& schedule) {
  for (const auto& violation : simulate(schedule).violations) {
    ADD_FAILURE() << violation.check << ": " << violation.what << "\n" << to_string(schedule);
  }
}

class Seeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Seeds, KeepEveryPromise) {
  expect_no_violations(draw(GetParam()));
}

Step after(int ms, Act act, int which, int amount, int lasts) {
  return Step{.at = milliseconds(ms),
              .act = act,
              .which = which,
              .amount = amount,
              .lasts = milliseconds(lasts)};
}

// The smallest schedules of what the simulator has found.
Schedule small_world(std::vector<Step> steps) {
  Schedule schedule;
  schedule.replicas = 1;
  schedule.bind_latency = milliseconds(5);
  schedule.launch = seconds(5);
  schedule.boot = seconds(10);
  schedule.ready = seconds(1);
  schedule.consolidate_after = seconds(20);
  schedule.steps = std::move(steps);
  return schedule;
}

TEST(Found, ANodeWhoseClaimWasTakenByForceGoesThoughTheLeaderChangesMeanwhile) {
  const auto schedule = small_world(
      {{.at = seconds(1), .act = Act::Deploy, .which = 3, .amount = 2, .lasts = {}},
       {.at = seconds(60), .act = Act::ForceClaim, .which = 0, .amount = 0, .lasts = {}},
       {.at = seconds(62), .act = Act::Stop, .lasts = seconds(1)}});
  expect_no_violations(schedule);
}

// Each is within the limits by its own snapshot, which does not show the others yet.
TEST(Found, ReplacementsThatAreMadeAtTheSameTimeKeepToTheLimits) {
  auto schedule = small_world(
      {{.at = seconds(1), .act = Act::Deploy, .which = 7, .amount = 6, .lasts = {}},
       {.at = seconds(80), .act = Act::Slow, .which = 0, .amount = 700, .lasts = seconds(120)},
       {.at = seconds(90), .act = Act::EditPool, .which = 0, .amount = 0, .lasts = {}}});
  schedule.budget = 4;
  schedule.limit_cpus = 7 * 16;
  expect_no_violations(schedule);
}

// The Node was registered, the answer was lost, and the watch shows neither that nor the pods that
// came (seed 948).
TEST(Found, ANodeThatWasRegisteredUnseenIsDrainedBeforeItsInstanceEnds) {
  auto schedule = small_world(
      {{.at = milliseconds(1'514), .act = Act::Deploy, .which = 27, .amount = 7, .lasts = {}},
       {.at = milliseconds(19'559), .act = Act::Deploy, .which = 49, .amount = 6, .lasts = {}},
       {.at = milliseconds(64'991), .act = Act::Cut, .which = 5, .lasts = milliseconds(53'595)},
       {.at = milliseconds(72'372),
        .act = Act::LateCommit,
        .amount = 39,
        .lasts = milliseconds(74'066)},
       {.at = milliseconds(72'372),
        .act = Act::LateWatches,
        .amount = 8'000,
        .lasts = milliseconds(74'066)},
       {.at = milliseconds(77'925),
        .act = Act::LateLists,
        .which = 43,
        .amount = 11'212,
        .lasts = milliseconds(51'234)},
       {.at = milliseconds(80'077), .act = Act::Deploy, .which = 7, .amount = 1, .lasts = {}},
       {.at = milliseconds(100'323), .act = Act::Deploy, .which = 7, .amount = 1, .lasts = {}},
       {.at = milliseconds(106'887), .act = Act::DeletePod, .which = 98, .amount = 0, .lasts = {}},
       {.at = milliseconds(124'057),
        .act = Act::DeleteClaim,
        .which = 84,
        .amount = 0,
        .lasts = {}}});
  schedule.seed = 948;
  schedule.replicas = 3;
  schedule.solve_time = milliseconds(2'250);
  schedule.bind_latency = milliseconds(1'974);
  schedule.pods_per_second = 33;
  schedule.launch = milliseconds(562);
  schedule.boot = milliseconds(5'878);
  schedule.ready = milliseconds(2'859);
  schedule.consolidate_after = seconds(21);
  schedule.budget = 4;
  schedule.limit_cpus = 466;
  expect_no_violations(schedule);
}

// EC2 did not list the instance yet when its Node had joined and was not Ready (seed 29).
TEST(Found, AMachineThatTheCloudDoesNotListYetIsNotGivenUp) {
  for (const Cloud cloud : {Cloud::Aws, Cloud::Alibaba, Cloud::Huawei}) {
    auto schedule = small_world(
        {{.at = seconds(60), .act = Act::LaggingCloud, .amount = 240, .lasts = seconds(60)},
         {.at = seconds(80), .act = Act::Deploy, .which = 3, .amount = 2, .lasts = {}}});
    schedule.cloud = cloud;
    schedule.ready = seconds(60);
    expect_no_violations(schedule);
  }
}

// Watches that went on from versions of the lost history said nothing for a minute, and the leader
// bought for pods that had never been (seed 174).
TEST(Found, WhatEtcdHasForgottenIsNotBoughtFor) {
  auto schedule = small_world(
      {{.at = milliseconds(12'701), .act = Act::Deploy, .which = 73, .amount = 2, .lasts = {}},
       {.at = milliseconds(32'403), .act = Act::Restore, .amount = 83, .lasts = seconds(15)},
       {.at = milliseconds(42'984), .act = Act::Stop, .which = 18, .lasts = seconds(11)}});
  schedule.seed = 174;
  schedule.replicas = 3;
  schedule.bind_latency = milliseconds(694);
  schedule.pods_per_second = 13;
  schedule.launch = milliseconds(2'609);
  schedule.boot = milliseconds(20'353);
  schedule.consolidate_after = seconds(1);
  schedule.budget = 3;
  schedule.limit_cpus = 96;
  expect_no_violations(schedule);
}

// The second one took the claim, and the first counted as empty (seed 3146).
TEST(Found, ASecondNodeOfAMachineDoesNotMakeTheFirstOneGo) {
  const auto schedule = small_world(
      {{.at = seconds(10), .act = Act::Deploy, .which = 24, .amount = 6, .lasts = {}},
       {.at = seconds(180), .act = Act::TwinNode, .which = 0, .amount = 0, .lasts = seconds(80)}});
  expect_no_violations(schedule);
}

// The first one was not Ready for a while, and the second one had the claim (seed 10294).
TEST(Found, ANodeThatSharesItsMachineIsNotChosenAsEmpty) {
  auto schedule = small_world(
      {{.at = milliseconds(1'395), .act = Act::Deploy, .which = 29, .amount = 1, .lasts = {}},
       {.at = milliseconds(88'193), .act = Act::FlapNode, .lasts = milliseconds(71'030)},
       {.at = milliseconds(144'319), .act = Act::TwinNode, .lasts = milliseconds(16'458)}});
  schedule.seed = 10294;
  schedule.pods_per_second = 5;
  schedule.launch = milliseconds(8'744);
  schedule.boot = milliseconds(26'438);
  schedule.ready = milliseconds(35'961);
  schedule.consolidate_after = seconds(2);
  schedule.budget = 4;
  schedule.limit_cpus = 196;
  expect_no_violations(schedule);
}

// A claim's end was known before a write of it was answered, and the answer brought it back, for
// good (seed 10310).
TEST(Found, AClaimThatEndedWhileItWasWrittenStaysGone) {
  auto schedule = small_world(
      {{.at = milliseconds(293), .act = Act::Deploy, .which = 46, .amount = 1, .lasts = {}},
       {.at = milliseconds(117'225), .act = Act::Slow, .amount = 828, .lasts = seconds(47)},
       {.at = milliseconds(127'101), .act = Act::ForceClaim, .which = 96, .lasts = {}},
       {.at = milliseconds(130'735), .act = Act::ForceClaim, .which = 42, .lasts = {}}});
  schedule.seed = 10310;
  schedule.replicas = 2;
  schedule.solve_time = milliseconds(6);
  schedule.bind_latency = milliseconds(4'678);
  schedule.pods_per_second = 30;
  schedule.launch = milliseconds(2'104);
  schedule.boot = milliseconds(9'146);
  schedule.ready = milliseconds(4'017);
  schedule.consolidate_after = seconds(29);
  schedule.limit_cpus = 86;
  expect_no_violations(schedule);
}

// A claim had registered another machine's Node, which said that it was its own (seed 10055).
TEST(Found, AMachineWhoseNodeComesLateIsRegisteredOnceMore) {
  auto schedule = small_world(
      {{.at = milliseconds(6'833), .act = Act::Deploy, .which = 78, .amount = 6, .lasts = {}},
       {.at = milliseconds(82'928), .act = Act::Deploy, .which = 41, .amount = 7, .lasts = {}},
       {.at = milliseconds(92'363), .act = Act::Deploy, .which = 60, .amount = 2, .lasts = {}},
       {.at = milliseconds(96'310),
        .act = Act::LyingNodes,
        .which = 66,
        .amount = 1,
        .lasts = milliseconds(42'766)},
       {.at = milliseconds(132'403), .act = Act::Deploy, .which = 41, .amount = 1, .lasts = {}}});
  schedule.seed = 10055;
  schedule.cloud = Cloud::Huawei;
  schedule.replicas = 3;
  schedule.solve_time = milliseconds(12);
  schedule.bind_latency = milliseconds(155);
  schedule.pods_per_second = 34;
  schedule.launch = milliseconds(4'259);
  schedule.boot = milliseconds(4'394);
  schedule.ready = milliseconds(9'247);
  schedule.consolidate_after = seconds(29);
  schedule.budget = 4;
  schedule.limit_cpus = 156;
  expect_no_violations(schedule);
}

// Pods were bound while the watch was cut off, and the node seemed to be empty (seed 113155).
TEST(Found, ANodeIsNotDrainedBeforeTheApiServerSaysSo) {
  auto schedule = small_world(
      {{.at = milliseconds(695), .act = Act::Cut, .which = 33, .lasts = milliseconds(42'155)},
       {.at = milliseconds(13'366), .act = Act::Deploy, .which = 67, .amount = 5, .lasts = {}},
       {.at = milliseconds(75'246), .act = Act::Cut, .which = 64, .lasts = milliseconds(17'467)},
       {.at = milliseconds(89'118), .act = Act::DeleteClaim, .which = 33, .lasts = {}}});
  schedule.seed = 113155;
  schedule.solve_time = milliseconds(2'693);
  schedule.bind_latency = milliseconds(1'577);
  schedule.pods_per_second = 38;
  schedule.launch = milliseconds(7'406);
  schedule.boot = milliseconds(10'499);
  schedule.ready = milliseconds(11'242);
  schedule.consolidate_after = seconds(17);
  schedule.budget = 4;
  schedule.limit_cpus = 69;
  schedule.clocks = {milliseconds(2'245)};
  expect_no_violations(schedule);
}

// Two claims in doubt took the instance of one that had been removed by force, a minute and a half
// older than they were, and left one of their own to garbage collection (seed 110514).
TEST(Found, ClaimsInDoubtTakeTheirOwnInstances) {
  auto schedule = small_world(
      {{.at = milliseconds(5'955), .act = Act::Deploy, .which = 85, .amount = 4, .lasts = {}},
       {.at = milliseconds(97'608), .act = Act::ForceClaim, .which = 65, .lasts = {}},
       {.at = milliseconds(108'108), .act = Act::LateCommit, .amount = 100, .lasts = seconds(30)},
       {.at = milliseconds(108'108),
        .act = Act::LateWatches,
        .amount = 8'000,
        .lasts = seconds(30)},
       {.at = milliseconds(111'315), .act = Act::DeleteClaim, .which = 69, .lasts = {}},
       {.at = milliseconds(114'260), .act = Act::DeleteClaim, .which = 68, .lasts = {}}});
  schedule.seed = 110514;
  schedule.cloud = Cloud::Aws;
  schedule.replicas = 2;
  schedule.solve_time = milliseconds(19);
  schedule.bind_latency = milliseconds(10);
  schedule.pods_per_second = 40;
  schedule.launch = seconds(1);
  schedule.boot = seconds(8);
  schedule.ready = milliseconds(500);
  schedule.consolidate_after = seconds(2);
  schedule.budget = 1;
  schedule.limit_cpus = 96;
  expect_no_violations(schedule);
}

TEST(Found, AMachineThatIsTakenBackBeforeItsLaunchIsOnRecordIsGivenUp) {
  const auto schedule = small_world(
      {{.at = seconds(1), .act = Act::Deploy, .which = 3, .amount = 2, .lasts = {}},
       {.at = seconds(2), .act = Act::LateCommit, .amount = 100, .lasts = seconds(60)},
       {.at = seconds(2), .act = Act::LateWatches, .amount = 8'000, .lasts = seconds(60)},
       {.at = seconds(10), .act = Act::Interrupt, .which = 0, .amount = 0, .lasts = {}}});
  expect_no_violations(schedule);
}

// A replica saw the new pod, and that the old one was gone, before it saw that the old one's
// ReplicaSet was gone: it kept room for a pod that would come back.
TEST(Found, WhatIsBoughtForAPodIsJudgedByWhatAReplicaCanKnow) {
  auto schedule = small_world(
      {after(254, Act::Deploy, 14, 6, 0), after(1'054, Act::Deploy, 64, 4, 0),
       after(10'534, Act::Pause, 54, 0, 48'164), after(11'087, Act::Withdraw, 59, 0, 0),
       after(18'006, Act::Withdraw, 44, 0, 0), after(63'677, Act::LateCommit, 0, 56, 92'543),
       after(63'677, Act::LateWatches, 0, 8'000, 92'543), after(74'077, Act::Deploy, 7, 1, 0),
       after(84'546, Act::Withdraw, 42, 0, 0), after(85'433, Act::Deploy, 7, 1, 0)});
  schedule.seed = 1630;
  schedule.replicas = 2;
  schedule.solve_time = milliseconds(8);
  schedule.bind_latency = milliseconds(1'298);
  schedule.pods_per_second = 25;
  schedule.launch = milliseconds(8'340);
  schedule.boot = milliseconds(22'453);
  schedule.ready = milliseconds(11'812);
  schedule.consolidate_after = seconds(28);
  schedule.limit_cpus = 548;
  expect_no_violations(schedule);
}

// A claim was made and answered 504, the term ended, and the same process led again before its late
// watch had shown the claim: it bought another (seed 151325).
TEST(Found, WhatTheLastTermBoughtUnheardOfIsNotBoughtAgain) {
  auto schedule = small_world(
      {after(3'780, Act::Deploy, 8, 3, 0), after(16'872, Act::Deploy, 89, 7, 0),
       after(100'394, Act::LateCommit, 0, 39, 94'118),
       after(100'394, Act::LateWatches, 0, 8'000, 94'118),
       after(138'157, Act::Slow, 30, 615, 39'263), after(139'242, Act::DeleteClaim, 94, 0, 0),
       after(140'208, Act::DeleteClaim, 92, 0, 0), after(144'258, Act::Deploy, 7, 1, 0)});
  schedule.seed = 151'325;
  schedule.cloud = Cloud::Aws;
  schedule.replicas = 3;
  schedule.solve_time = milliseconds(448);
  schedule.bind_latency = milliseconds(1'940);
  schedule.pods_per_second = 38;
  schedule.launch = milliseconds(9'243);
  schedule.boot = milliseconds(10'347);
  schedule.ready = milliseconds(3'288);
  schedule.consolidate_after = seconds(29);
  schedule.budget = 2;
  schedule.limit_cpus = 286;
  expect_no_violations(schedule);
}

// A command had marked its node in part, could not take the marks off again, and another node was
// chosen beside it (seed 163970).
TEST(Found, ANodeThatCannotBeReopenedCountsInTheBudget) {
  auto schedule =
      small_world({after(2'763, Act::Deploy, 13, 7, 0), after(11'279, Act::Deploy, 44, 3, 0),
                   after(11'800, Act::Deploy, 53, 2, 0), after(90'077, Act::EditPool, 67, 0, 0),
                   after(98'640, Act::LateCommit, 0, 38, 95'922),
                   after(98'640, Act::LateWatches, 0, 8'000, 95'922),
                   after(126'646, Act::Deploy, 7, 1, 0), after(145'026, Act::Deploy, 7, 1, 0),
                   after(157'908, Act::EditPool, 72, 0, 0), after(159'678, Act::Deploy, 7, 1, 0)});
  schedule.seed = 163'970;
  schedule.cloud = Cloud::Aws;
  schedule.replicas = 2;
  schedule.clocks = {milliseconds(-2'128), milliseconds(-417)};
  schedule.solve_time = milliseconds(1'876);
  schedule.bind_latency = milliseconds(509);
  schedule.pods_per_second = 34;
  schedule.launch = milliseconds(7'085);
  schedule.boot = milliseconds(7'004);
  schedule.ready = milliseconds(39'381);
  schedule.consolidate_after = seconds(8);
  schedule.budget = 1;
  schedule.limit_cpus = 306;
  expect_no_violations(schedule);
}

INSTANTIATE_TEST_SUITE_P(Few, Seeds, testing::Range(std::uint64_t{1}, std::uint64_t{21}));

}  // namespace
}  // namespace millwright::test
