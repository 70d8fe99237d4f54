// Two replicas, a cloud that outlives them, and everything that can be killed.

#include "plane/suite/fixture.hpp"

#include <fmt/format.h>

#include <csignal>
#include <set>

namespace millwright::plane {
namespace {

// The lease lasts 15 s; then the other replica leads, lists and acts.
constexpr auto kTakeOver = seconds(90);

class Failover : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto made = std::make_unique<World>();
    const auto up = made->start();
    ASSERT_TRUE(up.has_value()) << up.error().message;
    world_ = std::move(made);
  }
  static void TearDownTestSuite() { world_.reset(); }
  void SetUp() override {
    ASSERT_NE(world_, nullptr);
    const auto revived = world_->revive();
    ASSERT_TRUE(revived.has_value()) << revived.error().message;
  }

  // The program's replicas, and the plane and the cloud that outlive them.
  struct World {
    base::Result<> start();
    base::Result<> revive();
    Controller* leader();

    std::unique_ptr<Plane> plane;
    std::unique_ptr<CloudProcess> cloud;
    std::vector<std::unique_ptr<Controller>> replicas;
    int started = 0;
  };
  static Plane& plane() { return *world_->plane; }
  static std::vector<json::value> of(std::string_view path, const std::string& pool) {
    return plane().list(std::string(path) + "?labelSelector=karpenter.sh%2Fnodepool%3D" + pool);
  }
  static std::size_t running(const std::string& app) {
    std::size_t count = 0;
    for (const auto& pod : plane().list(std::string(kPods) + "?labelSelector=app%3D" + app)) {
      count += text_at(pod, "/status/phase") == "Running" &&
                       text_at(pod, "/metadata/deletionTimestamp").empty()
                   ? 1U
                   : 0U;
    }
    return count;
  }
  static std::multiset<std::string> instances(const std::string& pool) {
    std::multiset<std::string> ids;
    for (const auto& instance : world_->cloud->instances()) {
      if (text_at(instance, "/nodePool") == pool) {
        ids.insert(text_at(instance, "/providerID"));
      }
    }
    return ids;
  }
  static void apply(const std::string& yaml) {
    const Output output = plane().kubectl({"apply", "-f", "-"}, yaml);
    ASSERT_EQ(output.exit_code, 0) << output.text;
  }
  static void wait(const std::string& what, seconds limit, const std::function<bool()>& seen) {
    if (!wait_until(limit, seen)) {
      std::string said;
      for (const auto& replica : world_->replicas) {
        said += replica->process().log_tail(15) + "---\n";
      }
      FAIL() << "not within " << limit.count() << " s: " << what << "\n"
             << said << plane().kubectl({"get", "nodeclaims,nodes,pods", "-o", "wide"}).text;
    }
  }
  // All pods run, nobody is leaving, and each claim has its own instance and node: none is doubled,
  // none is leaked.
  static void wait_settled(const std::string& name, std::size_t pods) {
    wait(fmt::format("{} pods of {} run, with as many claims as instances as nodes", pods, name),
         kTakeOver, [&] {
           const auto nodes = of(kNodes, name);
           std::multiset<std::string> claimed;
           for (const auto& claim : of(kClaims, name)) {
             claimed.insert(text_at(claim, "/status/providerID"));
           }
           return running(name) == pods && !nodes.empty() && nodes.size() == claimed.size() &&
                  claimed == instances(name) &&
                  json::serialize(json::value_from(nodes)).find("karpenter.sh/disrupted") ==
                      std::string::npos;
         });
  }
  static void clean_up(const std::string& name) {
    plane().kubectl({"delete", "deployment", name, "--ignore-not-found", "--wait=false"});
    plane().kubectl({"delete", "nodepool", name, "--ignore-not-found", "--wait=false"});
    wait("nothing of " + name + " is left", kTakeOver, [&] {
      return of(kNodes, name).empty() && of(kClaims, name).empty() && instances(name).empty();
    });
  }

  inline static std::unique_ptr<World> world_;
};

base::Result<> Failover::World::start() {
  MW_TRY(made, Plane::start());
  plane = std::move(made);
  auto done = plane->start_controller_manager();
  done = done ? plane->start_kwok() : done;
  done = done ? apply_crds(*plane) : done;
  if (!done) {
    return done;
  }
  MW_TRY(clouds, CloudProcess::start(*plane, {"--launch=4s", "--termination=1s"}));
  cloud = std::move(clouds);
  plane->kubectl({"apply", "-f", "-"}, kwok_node_class());
  return revive();
}

// Two replicas run, and kube-scheduler asks both: what one of them holds back, both do.
base::Result<> Failover::World::revive() {
  std::erase_if(replicas, [](const auto& replica) { return !replica->process().running(); });
  if (replicas.size() == 2) {
    return {};
  }
  while (replicas.size() < 2) {
    MW_TRY(replica, Controller::start(*plane, {.name = fmt::format("replica-{}", ++started),
                                               .clouds = "kwok",
                                               .flags = {},
                                               .kubeconfig = {},
                                               .cloud_url = cloud->url()}));
    replicas.push_back(std::move(replica));
  }
  json::array extenders;
  for (const auto& replica : replicas) {
    extenders.push_back(json::parse(replica->extender()).at(0));
  }
  plane->stop("kube-scheduler");
  auto scheduling = plane->start_scheduler(json::serialize(extenders));
  if (scheduling && !wait_until(kTakeOver, [this] { return leader() != nullptr; })) {
    return base::fail(base::ErrorKind::Timeout, "no replica leads");
  }
  return scheduling;
}

Controller* Failover::World::leader() {
  for (const auto& replica : replicas) {
    if (replica->process().running() &&
        replica->process().log_text().find("controller: leading") != std::string::npos) {
      return replica.get();
    }
  }
  return nullptr;
}

TEST_F(Failover, TheLeaderDiesInMidLaunch) {
  apply(node_pool("launch", "Never"));
  apply(deployment({.name = "launch", .replicas = 4, .pool = "launch"}));
  wait("a claim exists", seconds(30), [&] { return !of(kClaims, "launch").empty(); });
  EXPECT_TRUE(instances("launch").empty());
  world_->leader()->process().kill();
  wait_settled("launch", 4);
  clean_up("launch");
}

TEST_F(Failover, TheLeaderDiesInMidDrain) {
  apply(node_pool("drain", "Never"));
  apply(deployment({.name = "drain", .replicas = 3, .pool = "drain"}));
  wait_settled("drain", 3);
  const std::string claim = text_at(of(kClaims, "drain").at(0), "/metadata/name");
  plane().kubectl({"delete", "nodeclaim", claim, "--wait=false"});
  wait("the node is closed", seconds(30), [&] {
    return json::serialize(json::value_from(of(kNodes, "drain"))).find("karpenter.sh/disrupted") !=
           std::string::npos;
  });
  world_->leader()->process().kill();
  wait_settled("drain", 3);
  EXPECT_NE(text_at(of(kClaims, "drain").at(0), "/metadata/name"), claim);
  clean_up("drain");
}

TEST_F(Failover, TheLeaderDiesInMidReplacement) {
  apply(node_pool("replace", "0s"));
  apply(deployment({.name = "replace", .replicas = 6, .cpu = "2", .pool = "replace"}));
  wait_settled("replace", 6);
  plane().kubectl({"scale", "deployment", "replace", "--replicas=1"});
  wait("a replacement was written", seconds(90),
       [&] { return of(kClaims, "replace").size() == 2; });
  world_->leader()->process().kill();
  wait("one node is left", kTakeOver, [&] { return of(kNodes, "replace").size() == 1; });
  wait_settled("replace", 1);
  EXPECT_LE(
      std::strtod(text_at(of(kNodes, "replace").at(0), "/status/capacity/cpu").c_str(), nullptr),
      4);
  clean_up("replace");
}

TEST_F(Failover, TheApiServerRestarts) {
  apply(node_pool("restart", "Never"));
  apply(deployment({.name = "restart", .replicas = 1, .pool = "restart"}));
  wait("a claim exists", seconds(30), [&] { return !of(kClaims, "restart").empty(); });
  const auto restarted = plane().restart_api_server();
  ASSERT_TRUE(restarted.has_value()) << restarted.error().message;
  wait_settled("restart", 1);
  for (const auto& replica : world_->replicas) {
    EXPECT_TRUE(replica->process().running());
  }
  clean_up("restart");
}

// The extender is ignorable: without us, pods that fit are scheduled as ever.
TEST_F(Failover, BothReplicasAreDown) {
  apply(node_pool("down", "Never"));
  apply(deployment({.name = "down", .replicas = 1, .cpu = "600m", .pool = "down"}));
  wait_settled("down", 1);
  for (const auto& replica : world_->replicas) {
    replica->process().kill();
  }
  apply(deployment({.name = "down-too", .replicas = 1, .cpu = "100m", .pool = "down"}));
  wait("a pod that fits runs", seconds(60), [&] { return running("down-too") == 1; });
  apply(deployment({.name = "down-large", .replicas = 1, .cpu = "30", .pool = "down"}));
  wait("a pod that does not fit waits", seconds(30), [&] {
    return json::serialize(json::value_from(plane().list(std::string(kPods) +
                                                         "?labelSelector=app%3Ddown-large")))
               .find("Unschedulable") != std::string::npos;
  });
  ASSERT_TRUE(world_->revive().has_value());
  wait("it gets a node once we are back", kTakeOver, [&] { return running("down-large") == 1; });
  plane().kubectl({"delete", "deployment", "down-too", "down-large"});
  clean_up("down");
}

// Neither dead nor alive: connections are accepted and nothing answers.
TEST_F(Failover, BothReplicasHang) {
  apply(node_pool("hang", "Never"));
  apply(deployment({.name = "hang", .replicas = 1, .cpu = "600m", .pool = "hang"}));
  wait_settled("hang", 1);
  for (const auto& replica : world_->replicas) {
    replica->process().signal(SIGSTOP);
  }
  apply(deployment({.name = "hang-too", .replicas = 1, .cpu = "100m", .pool = "hang"}));
  wait("a pod that fits runs", seconds(60), [&] { return running("hang-too") == 1; });
  for (const auto& replica : world_->replicas) {
    replica->process().signal(SIGCONT);
  }
  apply(deployment({.name = "hang-large", .replicas = 1, .cpu = "30", .pool = "hang"}));
  wait("a pod that fits nowhere gets a node", kTakeOver,
       [&] { return running("hang-large") == 1; });
  plane().kubectl({"delete", "deployment", "hang-too", "hang-large"});
  clean_up("hang");
}

// The follower holds the same promises back as the leader: both answer the scheduler.
TEST_F(Failover, BothReplicasAnswerTheScheduler) {
  apply(node_pool("alike", "Never"));
  apply(deployment({.name = "alike", .replicas = 4, .pool = "alike"}));
  wait_settled("alike", 4);
  for (const auto& replica : world_->replicas) {
    EXPECT_GT(replica->metric("millwright_extender_requests_total"), 0);
  }
  clean_up("alike");
}

}  // namespace
}  // namespace millwright::plane
