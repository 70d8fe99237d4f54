// Two replicas as they are shipped: one Service for kube-scheduler, whose connections stay where
// they were made, one stanza, and a leader that dies, hangs, is cut off or ends.

#include "plane/suite/replicas.hpp"

#include <csignal>

namespace millwright::plane {
namespace {

constexpr const char* kRequests = "millwright_extender_requests_total";

class Ha : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto made = Replicas::start({"--launch=4s", "--termination=1s"});
    ASSERT_TRUE(made.has_value()) << made.error().message;
    replicas_ = *std::move(made);
  }
  static void TearDownTestSuite() { replicas_.reset(); }
  void SetUp() override {
    ASSERT_NE(replicas_, nullptr);
    const auto revived = world().revive();
    ASSERT_TRUE(revived.has_value()) << revived.error().message;
  }
  static Replicas& world() { return *replicas_; }

  // A burst is being bought for when the leader is struck; `mend` comes once the other one leads.
  static void survive(const std::string& name, const std::function<void(Controller&)>& blow,
                      const std::function<void(Controller&)>& mend) {
    world().apply(node_pool(name, "Never"));
    world().apply(deployment({.name = name, .replicas = 8, .cpu = "2", .pool = name}));
    world().wait("a claim exists", seconds(30), [&] { return !world().of(kClaims, name).empty(); });
    auto* const old = world().strike_leader(blow);
    ASSERT_NE(old, nullptr);
    mend(*old);
    world().wait_settled(name, 8);
    // Nobody leads twice, and nobody had to end itself.
    EXPECT_NE(world().leader(), old);
    EXPECT_EQ(old->process().log_text().find("did not end after the term"), std::string::npos);
    world().clean_up(name);
  }

  inline static std::unique_ptr<Replicas> replicas_;
};

TEST_F(Ha, OnlyTheLeaderIsCalled) {
  auto* const leader = world().leader();
  auto* const follower = world().follower();
  ASSERT_NE(leader, nullptr);
  ASSERT_NE(follower, nullptr);
  EXPECT_EQ(world().led_to(), leader);
  const double answered = leader->metric(kRequests);
  const double elsewhere = follower->metric(kRequests);
  world().apply(node_pool("one", "Never"));
  world().apply(deployment({.name = "one", .replicas = 4, .pool = "one"}));
  world().wait_settled("one", 4);
  EXPECT_GT(leader->metric(kRequests), answered);
  EXPECT_EQ(follower->metric(kRequests), elsewhere);
  // Whoever asks it all the same is told to go.
  const json::object nobody{
      {"Pod", {{"metadata", {{"name", "p"}, {"namespace", "d"}, {"uid", "u"}}}}},
      {"NodeNames", json::array{"n"}}};
  const auto refused = follower->ask_extender("filter", nobody);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, testing::HasSubstr("another replica leads"));
  world().clean_up("one");
}

// kube-scheduler's connection is to the leader that died: its next one is to the new leader.
TEST_F(Ha, TheLeaderDies) {
  survive(
      "dies", [](Controller& leader) { leader.process().kill(); }, [](Controller&) {});
  EXPECT_GT(world().leader()->metric(kRequests), 0);
}

// Its connections stay open and nothing answers. When it goes on, its term is over.
TEST_F(Ha, TheLeaderHangs) {
  survive(
      "hangs", [](Controller& leader) { leader.process().signal(SIGSTOP); },
      [](Controller& leader) { leader.process().signal(SIGCONT); });
  for (const auto& replica : world().all()) {
    EXPECT_TRUE(replica->process().running());
  }
}

// It still answers kube-scheduler for as long as its term may hold, and says no after that.
TEST_F(Ha, TheLeaderIsCutOffFromTheApiServer) {
  survive(
      "cut", [](Controller& leader) { world().api_of(leader).cut(); },
      [](Controller& leader) {
        const auto refused = leader.ask_extender("filter", json::object{});
        EXPECT_THAT(refused ? "" : refused.error().message,
                    testing::HasSubstr("another replica leads"));
        world().api_of(leader).mend();
      });
}

// In good order: the Lease is given up, and nobody waits for it to run out.
TEST_F(Ha, TheLeaderEnds) {
  survive(
      "ends", [](Controller& leader) { leader.process().signal(SIGTERM); },
      [](Controller& leader) { EXPECT_EQ(leader.process().wait(milliseconds(15'000)), 0); });
}

}  // namespace
}  // namespace millwright::plane
