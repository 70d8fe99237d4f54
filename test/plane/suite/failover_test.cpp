// Two replicas, a cloud that outlives them, and everything that can be killed.

#include "plane/suite/replicas.hpp"

#include <algorithm>
#include <csignal>

namespace millwright::plane {
namespace {

using testing::HasSubstr;

class Failover : public testing::Test {
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
  static std::string first_name(const std::vector<json::value>& objects) {
    return objects.empty() ? "" : text_at(objects.front(), "/metadata/name");
  }
  static bool is_bound(const json::value& pod) {
    const auto pods = world().pods("launch");
    return std::any_of(pods.begin(), pods.end(), [&](const auto& each) {
      return text_at(each, "/metadata/uid") == text_at(pod, "/metadata/uid") &&
             !text_at(each, "/spec/nodeName").empty();
    });
  }
  // A pod that nobody has heard of yet.
  static json::value new_pod() {
    return {{"metadata", {{"name", "new"}, {"namespace", "default"}, {"uid", "new-pod"}}},
            {"spec",
             {{"containers",
               json::array{{{"name", "main"}, {"resources", {{"requests", {{"cpu", "1"}}}}}}}}}}};
  }

  inline static std::unique_ptr<Replicas> replicas_;
};

TEST_F(Failover, TheLeaderDiesInMidLaunch) {
  world().apply(node_pool("base", "Never"));
  world().apply(deployment({.name = "base", .replicas = 1, .pool = "base"}));
  world().wait_settled("base", 1);
  world().apply(node_pool("launch", "Never"));
  world().apply(deployment({.name = "launch", .replicas = 4, .pool = "launch"}));
  world().wait("a claim exists", seconds(30),
               [&] { return !world().of(kClaims, "launch").empty(); });
  EXPECT_TRUE(world().instances("launch").empty());
  // Its pods are kept for the node to come, by this leader and by the next.
  const json::value pod = world().pods("launch").at(0);
  const std::string node = first_name(world().of(kNodes, "base"));
  const std::string before = world().filter_answer(pod, node);
  EXPECT_THAT(before, HasSubstr(R"("FailedAndUnresolvableNodes":{")" + node));
  world().kill_leader();
  const std::string after = world().filter_answer(pod, node);
  // On a busy machine the node has come, and its pods are bound, before the question is asked.
  EXPECT_TRUE(after == before || is_bound(pod)) << after;
  world().wait("each claim has its instance", seconds(6), [&] {
    const auto claims = world().of(kClaims, "launch");
    return std::none_of(claims.begin(), claims.end(), [](const auto& claim) {
      return text_at(claim, "/status/providerID").empty();
    });
  });
  world().wait_settled("launch", 4);
  world().clean_up("launch");
  world().clean_up("base");
}

TEST_F(Failover, TheLeaderDiesInMidDrain) {
  world().apply(node_pool("drain", "Never"));
  world().apply(deployment({.name = "drain", .replicas = 3, .pool = "drain"}));
  world().wait_settled("drain", 3);
  const std::string claim = first_name(world().of(kClaims, "drain"));
  const std::string node = first_name(world().of(kNodes, "drain"));
  world().plane().kubectl({"delete", "nodeclaim", claim, "--wait=false"});
  world().wait("the node is closed", seconds(30), [&] { return world().any_closed("drain"); });
  const std::string before = world().filter_answer(new_pod(), node);
  EXPECT_THAT(before, HasSubstr(R"("FailedAndUnresolvableNodes":{")" + node));
  world().kill_leader();
  world().wait_settled("drain", 3);
  EXPECT_NE(first_name(world().of(kClaims, "drain")), claim);
  world().clean_up("drain");
}

TEST_F(Failover, TheLeaderDiesInMidReplacement) {
  world().apply(node_pool("replace", "0s"));
  world().apply(deployment({.name = "replace", .replicas = 6, .cpu = "2", .pool = "replace"}));
  world().wait_settled("replace", 6);
  const std::string node = first_name(world().of(kNodes, "replace"));
  world().plane().kubectl({"scale", "deployment", "replace", "--replicas=1"});
  world().wait("a replacement was written", seconds(90),
               [&] { return world().of(kClaims, "replace").size() == 2; });
  const std::string before = world().filter_answer(new_pod(), node);
  EXPECT_THAT(before, HasSubstr(R"("FailedAndUnresolvableNodes":{")" + node));
  world().kill_leader();
  world().wait("one smaller node is left", kSettled, [&] {
    const auto nodes = world().of(kNodes, "replace");
    return nodes.size() == 1 &&
           std::strtod(text_at(nodes.front(), "/status/capacity/cpu").c_str(), nullptr) <= 4;
  });
  world().wait_settled("replace", 1);
  world().clean_up("replace");
}

TEST_F(Failover, TheApiServerRestarts) {
  world().apply(node_pool("restart", "Never"));
  world().apply(deployment({.name = "restart", .replicas = 1, .pool = "restart"}));
  world().wait("a claim exists", seconds(30),
               [&] { return !world().of(kClaims, "restart").empty(); });
  const auto restarted = world().plane().restart_api_server();
  ASSERT_TRUE(restarted.has_value()) << restarted.error().message;
  world().wait_settled("restart", 1);
  for (const auto& replica : world().all()) {
    EXPECT_TRUE(replica->process().running());
  }
  world().clean_up("restart");
}

// The extender is ignorable: without us, pods that fit are scheduled as ever.
TEST_F(Failover, BothReplicasAreDown) {
  world().apply(node_pool("down", "Never"));
  world().apply(deployment({.name = "down", .replicas = 1, .cpu = "600m", .pool = "down"}));
  world().wait_settled("down", 1);
  for (const auto& replica : world().all()) {
    replica->process().kill();
  }
  world().apply(deployment({.name = "down-too", .replicas = 1, .cpu = "100m", .pool = "down"}));
  world().wait("a pod that fits runs", seconds(60),
               [&] { return world().running("down-too") == 1; });
  world().apply(deployment({.name = "down-large", .replicas = 1, .cpu = "30", .pool = "down"}));
  world().wait("a pod that does not fit waits", seconds(30), [&] {
    return json::serialize(json::value_from(world().plane().list(
                               std::string(kPods) + "?labelSelector=app%3Ddown-large")))
               .find("Unschedulable") != std::string::npos;
  });
  ASSERT_TRUE(world().revive().has_value());
  world().wait("it gets a node once we are back", kSettled,
               [&] { return world().running("down-large") == 1; });
  world().plane().kubectl({"delete", "deployment", "down-too", "down-large"});
  world().clean_up("down");
}

// Neither dead nor alive: connections are accepted and nothing answers.
TEST_F(Failover, BothReplicasHang) {
  world().apply(node_pool("hang", "Never"));
  world().apply(deployment({.name = "hang", .replicas = 1, .cpu = "600m", .pool = "hang"}));
  world().wait_settled("hang", 1);
  for (const auto& replica : world().all()) {
    replica->process().signal(SIGSTOP);
  }
  world().apply(deployment({.name = "hang-too", .replicas = 1, .cpu = "100m", .pool = "hang"}));
  world().wait("a pod that fits runs", seconds(60),
               [&] { return world().running("hang-too") == 1; });
  for (const auto& replica : world().all()) {
    replica->process().signal(SIGCONT);
  }
  world().apply(deployment({.name = "hang-large", .replicas = 1, .cpu = "30", .pool = "hang"}));
  world().wait("a pod that fits nowhere gets a node", kSettled,
               [&] { return world().running("hang-large") == 1; });
  world().plane().kubectl({"delete", "deployment", "hang-too", "hang-large"});
  world().clean_up("hang");
}

}  // namespace
}  // namespace millwright::plane
