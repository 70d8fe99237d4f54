// A machine's clock jumps by an hour under the replicas (libfaketime: every reading of the wall
// clock, none of the monotonic one, as when an administrator or NTP steps it). Nothing may count
// time by it: leases, timeouts of claims that are starting, holds.

#include "plane/suite/replicas.hpp"

#include <filesystem>

namespace millwright::plane {
namespace {

constexpr const char* kFakeTime = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

class ClockJump : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kFakeTime)) {
      GTEST_FAIL() << kFakeTime << " is missing; scripts/setup installs it (package libfaketime)";
    }
    set_clock(0);
    auto made =
        Replicas::start({"--launch=4s", "--termination=1s"}, {{"LD_PRELOAD", kFakeTime},
                                                              {"FAKETIME_TIMESTAMP_FILE", file_},
                                                              {"FAKETIME_NO_CACHE", "1"},
                                                              {"FAKETIME_DONT_FAKE_MONOTONIC", "1"},
                                                              {"DONT_FAKE_MONOTONIC", "1"}});
    ASSERT_TRUE(made.has_value()) << made.error().message;
    world_ = *std::move(made);
  }
  void TearDown() override {
    world_.reset();
    std::filesystem::remove(file_);
  }

  // From now on the replicas' machine is so far ahead.
  void set_clock(int offset_seconds) const {
    const std::string text = (offset_seconds < 0 ? "" : "+") + std::to_string(offset_seconds);
    write_text(file_ + ".new", text + "\n");
    std::filesystem::rename(file_ + ".new", file_);  // never seen half written
  }
  void wait_noticed(Controller& replica, int offset_seconds) {
    world_->wait("the replica's machine is that far ahead", seconds(30), [&] {
      return std::abs(replica.metric("millwright_clock_offset_seconds") - offset_seconds) < 5;
    });
  }
  std::multiset<std::string> claim_uids(const std::string& pool) {
    std::multiset<std::string> uids;
    for (const auto& claim : world_->of(kClaims, pool)) {
      uids.insert(text_at(claim, "/metadata/uid"));
    }
    return uids;
  }

  const std::string file_ =
      std::filesystem::temp_directory_path() / ("millwright-clock-" + std::to_string(getpid()));
  std::unique_ptr<Replicas> world_;
};

TEST_P(ClockJump, LosesNoNodeAndDoublesNoClaim) {
  const int hour = GetParam();
  world_->apply(node_pool("before", "Never"));
  world_->apply(deployment({.name = "before", .replicas = 3, .pool = "before"}));
  world_->wait_settled("before", 3);
  const auto claims_before = claim_uids("before");

  // It jumps while an instance is being launched.
  world_->apply(node_pool("during", "Never"));
  world_->apply(deployment({.name = "during", .replicas = 3, .pool = "during"}));
  world_->wait("a claim exists", seconds(30),
               [&] { return !world_->of(kClaims, "during").empty(); });
  const auto claims_during = claim_uids("during");
  Controller* const leader = world_->leader();
  set_clock(hour);
  wait_noticed(*leader, hour);
  world_->wait_settled("during", 3);
  EXPECT_EQ(world_->leader(), leader) << "the leader changed";

  // The next leader begins, and finds a claim in mid-launch, when its machine is an hour off.
  world_->kill_leader();
  const auto revived = world_->revive();
  ASSERT_TRUE(revived.has_value()) << revived.error().message;
  wait_noticed(*world_->follower(), hour);
  world_->apply(node_pool("after", "Never"));
  world_->apply(deployment({.name = "after", .replicas = 3, .pool = "after"}));
  world_->wait("a claim exists", seconds(30),
               [&] { return !world_->of(kClaims, "after").empty(); });
  const auto claims_after = claim_uids("after");
  world_->kill_leader();
  world_->wait_settled("after", 3);
  world_->wait_settled("before", 3);
  world_->wait_settled("during", 3);

  EXPECT_EQ(claim_uids("before"), claims_before);
  EXPECT_EQ(claim_uids("during"), claims_during);
  EXPECT_EQ(claim_uids("after"), claims_after);
  for (const std::string name : {"before", "during", "after"}) {
    world_->clean_up(name);
  }
  EXPECT_TRUE(world_->cloud().instances().empty());
}

INSTANTIATE_TEST_SUITE_P(AnHour, ClockJump, testing::Values(3600, -3600), [](const auto& instance) {
  return instance.param > 0 ? "Forwards" : "Backwards";
});

}  // namespace
}  // namespace millwright::plane
