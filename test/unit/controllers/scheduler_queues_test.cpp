// Whether anybody is about to try a pod that was not tried yet.
#include "controllers/provisioning/scheduler_queues.hpp"

#include "unit/cluster/objects.hpp"

#include <gtest/gtest.h>

namespace millwright::controllers {
namespace {

using testing::at;
using testing::PodBuilder;

// A pod "p" of kube-scheduler was created at 0 and waits; others may have been tried.
class QueueOfAScheduler : public ::testing::Test {
 protected:
  static model::Pod pod(PodBuilder builder, const std::string& scheduler = "default-scheduler") {
    auto pod = builder.value();
    pod.spec.scheduler_name = scheduler;
    return pod;
  }
  // What is said of a pod that was created then, and when.
  static model::Pod tried(std::int64_t created, std::int64_t said,
                          const std::string& reason = "Unschedulable") {
    return pod(
        PodBuilder("other").created(created).conditions({{.type = "PodScheduled",
                                                          .status = model::ConditionStatus::False,
                                                          .reason = reason,
                                                          .last_transition_time = at(said)}}));
  }
  void waits(model::Pod other) {
    snapshot_.pending_pods.push_back(std::make_shared<const model::Pod>(std::move(other)));
  }
  void runs(model::Pod other) {
    auto record = std::make_shared<scheduling::NodeRecord>();
    record->pods = {std::make_shared<const model::Pod>(std::move(other))};
    snapshot_.nodes.push_back(std::move(record));
  }
  bool is_about_to_try(std::int64_t now, const std::string& scheduler = "default-scheduler") {
    return SchedulerQueues().is_about_to_try(pod(PodBuilder("p").created(0), scheduler), snapshot_,
                                             at(now));
  }

  scheduling::Snapshot snapshot_;
};

TEST_F(QueueOfAScheduler, ThatIsNotThereIsWaitedForAMinute) {
  EXPECT_TRUE(is_about_to_try(-5)) << "clocks differ";
  EXPECT_TRUE(is_about_to_try(60));
  EXPECT_FALSE(is_about_to_try(61));
}

// 10,000 pods came at once, and a hundred have their turn in a second.
TEST_F(QueueOfAScheduler, ThatMovesIsWaitedForHoweverLongItIs) {
  waits(tried(0, 70));
  runs(tried(60, 90));
  EXPECT_TRUE(is_about_to_try(100));
  EXPECT_TRUE(is_about_to_try(150));
  EXPECT_FALSE(is_about_to_try(151)) << "it has stopped";
  EXPECT_FALSE(is_about_to_try(100, "another"));
}

TEST_F(QueueOfAScheduler, ThatGoesOnWithYoungerPodsHoldsThisOneBack) {
  runs(tried(61, 62));
  EXPECT_FALSE(is_about_to_try(65));
}

TEST_F(QueueOfAScheduler, MayGoOnWithYoungerPodsOfHigherPriority) {
  auto urgent = tried(61, 62);
  urgent.spec.priority = 1;
  runs(urgent);
  EXPECT_TRUE(is_about_to_try(65));
  auto least = tried(61, 63);
  least.spec.priority = -1;
  runs(least);
  EXPECT_FALSE(is_about_to_try(65)) << "it has passed this one over";
}

// Those of the nodes that came up meanwhile.
TEST_F(QueueOfAScheduler, MayGoOnWithYoungerPodsOfDaemonSets) {
  auto agent = tried(61, 62);
  agent.meta.owner_references =
      PodBuilder("agent").owned_by_daemon_set().value().meta.owner_references;
  runs(agent);
  EXPECT_TRUE(is_about_to_try(65));
}

TEST_F(QueueOfAScheduler, IsNotMovedByWhatOthersWrite) {
  waits(tried(50, 90, "SchedulingGated"));
  auto own = tried(50, 90, "");
  own.meta.owner_references = {
      {.api_version = "v1", .kind = "Node", .name = "n", .uid = "n", .controller = true}};
  runs(own);
  EXPECT_FALSE(is_about_to_try(100));
}

TEST_F(QueueOfAScheduler, IsLookedAtAgainAfterASecond) {
  SchedulerQueues queues;
  const auto waiting = pod(PodBuilder("p").created(0));
  EXPECT_FALSE(queues.is_about_to_try(waiting, snapshot_, at(100)));
  waits(tried(0, 100));
  EXPECT_TRUE(queues.is_about_to_try(waiting, snapshot_, at(101)));
}

}  // namespace
}  // namespace millwright::controllers
