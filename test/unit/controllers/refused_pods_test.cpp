// Which of the pods that the extender refused are woken when room comes free.
#include "controllers/provisioning/refused_pods.hpp"

#include "millwright/cluster/state.hpp"
#include "unit/cluster/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::controllers {
namespace {

using std::chrono::seconds;
using testing::at;
using testing::ClaimBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::NodeBuilder;
using testing::PodBuilder;
using ::testing::SizeIs;

// A node "n" of 4 CPUs, all of it kept for the ReplicaSet "owner" until somebody frees it.
class WakingRefusedPods : public ::testing::Test {
 protected:
  WakingRefusedPods() {
    state_.set_synced(true);
    state_.upsert(NodeBuilder("n").allocatable(4000).build());
    for (int i = 0; i < 4; ++i) {
      state_.upsert(owner(i).build());
    }
    ledger_.reserve(testing::reservation_for(owner(0).value(), "n", 600, 4));
  }

  static PodBuilder owner(int i) {
    return std::move(PodBuilder("owner-" + std::to_string(i)).requests(1000).owned_by("owner"));
  }
  void refuse(const PodBuilder& pod) {
    state_.upsert(pod.build());
    const model::Pod& value = pod.value();
    pods_.add(value.meta.uid,
              {.key = model::key_of(value.meta),
               .group = scheduling::group_of(value),
               .requests = scheduling::effective_requests(value),
               .priority = value.spec.priority},
              now_);
  }
  void bind(const std::string& name, std::int64_t milli_cpu) {
    state_.upsert(PodBuilder(name).requests(milli_cpu).on("n").build());
  }
  // Names of the pods that are woken `later`.
  std::vector<std::string> woken(base::Duration later = seconds(0)) {
    now_ += later;
    const auto snapshot = state_.snapshot();
    pods_.keep_pending(*snapshot);
    std::vector<std::string> names;
    const auto find = [this](const std::string& name) -> scheduling::NodeRecordPtr {
      return state_.find_claim(name);
    };
    for (const auto& key : pods_.due(*snapshot, *ledger_.view(), find, now_)) {
      names.push_back(key.name);
    }
    return names;
  }
  void free_room(std::int32_t pods) {
    ledger_.lower(scheduling::group_of(owner(0).value()), "n", pods);
  }

  base::TimePoint now_ = at(0);
  cluster::Ledger ledger_;
  cluster::State state_{ledger_};
  RefusedPods pods_;
};

TEST_F(WakingRefusedPods, AsManyAsTheRoomHoldsByPriority) {
  for (int i = 0; i < 5; ++i) {
    refuse(PodBuilder("small-" + std::to_string(i)).requests(1000));
  }
  refuse(PodBuilder("urgent").requests(1000).priority(7));
  refuse(PodBuilder("large").requests(3000).priority(9));
  EXPECT_THAT(woken(), IsEmpty());
  free_room(2);
  EXPECT_THAT(woken(), ElementsAre("urgent", "small-0"));
  EXPECT_THAT(woken(), IsEmpty()) << "they have their turn";
  bind("urgent", 1000);
  bind("small-0", 1000);
  EXPECT_THAT(woken(seconds(10)), IsEmpty()) << "the room is used";
}

// What another leader may have refused is woken once, and again only if it is refused then.
TEST_F(WakingRefusedPods, OnesThatWereOnlyAssumedAreForgottenAfterTheirTurn) {
  for (const char* const name : {"refused", "other"}) {
    const auto pod = PodBuilder(name).requests(1000);
    state_.upsert(pod.build());
    pods_.assume(pod.value().meta.uid,
                 {.key = model::key_of(pod.value().meta),
                  .group = scheduling::group_of(pod.value()),
                  .requests = scheduling::effective_requests(pod.value())},
                 now_);
  }
  EXPECT_THAT(woken(), IsEmpty());
  EXPECT_THAT(woken(RefusedPods::kShortSleep), ElementsAre("refused", "other"));
  refuse(PodBuilder("refused").requests(1000));
  EXPECT_THAT(woken(RefusedPods::kTurn), IsEmpty());
  EXPECT_THAT(woken(RefusedPods::kLongestSleep), ElementsAre("refused"));
}

// The API server refused the annotation, as it may just after a change of leader.
TEST_F(WakingRefusedPods, OneThatCouldNotBeWokenIsTriedAgainSoon) {
  const auto pod = PodBuilder("assumed").requests(1000);
  const auto key = model::key_of(pod.value().meta);
  state_.upsert(pod.build());
  pods_.assume(pod.value().meta.uid,
               {.key = key,
                .group = scheduling::group_of(pod.value()),
                .requests = scheduling::effective_requests(pod.value())},
               now_);
  for (int attempt = 0; attempt < 3; ++attempt) {
    EXPECT_THAT(woken(RefusedPods::kShortSleep), ElementsAre("assumed")) << attempt;
    pods_.not_woken(key, now_);
    EXPECT_THAT(woken(RefusedPods::kTurn), IsEmpty());
  }
  EXPECT_THAT(woken(RefusedPods::kShortSleep), ElementsAre("assumed"));
  EXPECT_THAT(woken(RefusedPods::kTurn), IsEmpty());
  EXPECT_THAT(woken(RefusedPods::kLongestSleep), IsEmpty()) << "it has had its turn";
}

TEST_F(WakingRefusedPods, OneThatDoesNotGoGivesItsTurnToTheNextUntilAllHadOne) {
  for (const char* const name : {"a", "b", "c"}) {
    refuse(PodBuilder(name).requests(1000));
  }
  EXPECT_THAT(woken(), IsEmpty());
  free_room(1);
  EXPECT_THAT(woken(), ElementsAre("a"));
  refuse(PodBuilder("a").requests(1000));
  EXPECT_THAT(woken(), ElementsAre("b"));
  EXPECT_THAT(woken(RefusedPods::kTurn), ElementsAre("c")) << "b does not say";
  EXPECT_THAT(woken(RefusedPods::kTurn), IsEmpty());
  free_room(1);
  EXPECT_THAT(woken(), ElementsAre("a", "b")) << "there is more room than before";
}

TEST_F(WakingRefusedPods, PodsOfAGroupWhoseRoomEndedMayGoAnywhere) {
  for (int i = 0; i < 4; ++i) {
    refuse(owner(i));
  }
  state_.upsert(ClaimBuilder("claim").build());
  const auto group = scheduling::group_of(owner(0).value());
  free_room(4);
  ledger_.reserve(testing::reservation_for(owner(0).value(), "claim", 600, 4));
  EXPECT_THAT(woken(), IsEmpty());
  ledger_.lower(group, "claim", 1);
  EXPECT_THAT(woken(), ElementsAre("owner-0"));
  auto failing = *ClaimBuilder("claim").build();
  failing.conditions = {{.type = "Launched", .reason = "LaunchFailed"}};
  state_.upsert(std::make_shared<const model::NodeClaim>(std::move(failing)));
  EXPECT_THAT(woken(), SizeIs(3)) << "nobody waits for a launch that fails";
}

// A device that broke while all were in use: less than nothing is left of its kind.
TEST_F(WakingRefusedPods, OnesThatDoNotAskForWhatIsShort) {
  auto broken = *NodeBuilder("n").allocatable(5000).version(2).build();
  broken.allocatable["example.com/gpu"] = model::Quantity::from_units(7);
  state_.upsert(std::make_shared<const model::Node>(broken));
  auto trainer = PodBuilder("trainer").requests(1000).on("n").value();
  trainer.spec.containers.front().requests["example.com/gpu"] = model::Quantity::from_units(8);
  state_.upsert(std::make_shared<const model::Pod>(trainer));
  refuse(PodBuilder("plain").requests(1000));
  EXPECT_THAT(woken(), IsEmpty());
  free_room(1);
  EXPECT_THAT(woken(), ElementsAre("plain"));
}

TEST_F(WakingRefusedPods, NobodySleepsForEver) {
  for (int i = 0; i < 15; ++i) {
    refuse(PodBuilder("pod-" + std::to_string(i)).requests(1000));
  }
  EXPECT_THAT(woken(), IsEmpty());
  EXPECT_THAT(woken(RefusedPods::kLongestSleep - seconds(1)), IsEmpty());
  EXPECT_THAT(woken(seconds(1)), SizeIs(RefusedPods::kSleepersPerSecond));
  EXPECT_THAT(woken(), IsEmpty());
  EXPECT_THAT(woken(seconds(1)), SizeIs(5));
}

TEST_F(WakingRefusedPods, OneThatAPlanHasAPlaceForIsWokenAtOnceAndAfterAPauseAgain) {
  refuse(PodBuilder("a").requests(9000));
  pods_.has_place("uid-a");
  pods_.has_place("uid-stranger");
  EXPECT_THAT(woken(), ElementsAre("a"));
  pods_.has_place("uid-a");
  EXPECT_THAT(woken(), IsEmpty()) << "it has its turn";
  refuse(PodBuilder("a").requests(9000));
  EXPECT_THAT(woken(), IsEmpty());
  EXPECT_THAT(woken(RefusedPods::kPause), ElementsAre("a"));
}

}  // namespace
}  // namespace millwright::controllers
