// `millwright controller --shadow` on a real API server: what it says it would have done, and, by
// the server's audit log, that its account did nothing but list and watch.

#include "plane/suite/fixture.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <map>
#include <sstream>

namespace millwright::plane {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::UnorderedElementsAre;

constexpr const char* kShadowUser = "system:serviceaccount:default:shadow";

class Shadow : public testing::Test {
 protected:
  // What runs in the cluster: everything but an autoscaler. `crds` is a folder.
  void start_plane(const std::string& crds) {
    auto plane = Plane::start(
        {.api_server_flags = {},
         .audit_rules = fmt::format("- level: Metadata\n  users: [\"{}\"]\n", kShadowUser)});
    ASSERT_TRUE(plane) << plane.error().message;
    plane_ = *std::move(plane);
    for (auto done :
         {plane_->start_controller_manager(), plane_->start_kwok(), plane_->start_scheduler()}) {
      ASSERT_TRUE(done) << done.error().message;
    }
    kubectl({"apply", "--server-side", "-f", crds});
    kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"});
  }

  void kubectl(const std::vector<std::string>& arguments, const std::string& input = {}) {
    const Output output = plane_->kubectl(arguments, input);
    ASSERT_EQ(output.exit_code, 0) << output.text;
  }
  void apply(const std::string& yaml) { kubectl({"apply", "-f", "-"}, yaml); }

  // As docs/asking.md says: an account with the role of a reader.
  void start_shadow() {
    const auto role = install_text(*plane_, {"--part=reader"});
    ASSERT_TRUE(role) << role.error().message;
    apply(*role);
    kubectl({"create", "serviceaccount", "shadow"});
    kubectl({"create", "clusterrolebinding", "shadow", "--clusterrole=millwright-reader",
             "--serviceaccount=default:shadow"});
    const auto kubeconfig = plane_->kubeconfig_of_account("default", "shadow");
    ASSERT_TRUE(kubeconfig) << kubeconfig.error().message;
    auto process = Process::start(
        {.program = MILLWRIGHT_PROGRAM,
         .arguments = {"controller", "--shadow", "--kubeconfig=" + *kubeconfig,
                       "--bind-address=127.0.0.1", "--decision-log=-",
                       "--shadow-report-interval=1s", fmt::format("--metrics-port={}", free_port()),
                       fmt::format("--health-probe-port={}", free_port())},
         .environment = {},
         .log = plane_->directory() + "/shadow.log",
         .input = {}});
    ASSERT_TRUE(process) << process.error().message;
    shadow_ = *std::move(process);
    wait_said("the shadow has begun");
  }
  // After what it was waited for before.
  void wait_said(const std::string& text) {
    std::size_t found = std::string::npos;
    wait_until(seconds(60), [&] {
      found = shadow_->log_text().find(text, heard_);
      return !shadow_->running() || found != std::string::npos;
    });
    ASSERT_NE(found, std::string::npos) << "not said: " << text << "\n" << shadow_->log_tail(25);
    heard_ = found + text.size();
  }
  // What it said after SIGTERM.
  std::string end_shadow() {
    const auto before = shadow_->log_text().size();
    shadow_->signal(SIGTERM);
    EXPECT_EQ(shadow_->wait(milliseconds(20'000)), 0);
    return shadow_->log_text().substr(before);
  }

  // How often its account used each verb.
  std::map<std::string, int> verbs_of_shadow() {
    std::map<std::string, int> verbs;
    std::istringstream log(read_text(plane_->directory() + "/audit.log"));
    for (std::string line; std::getline(log, line);) {
      boost::system::error_code torn;
      const auto event = json::parse(line, torn);
      if (!torn && text_at(event, "/user/username") == kShadowUser) {
        ++verbs[text_at(event, "/verb")];
      }
    }
    return verbs;
  }
  void expect_no_write() {
    // "get" is the path /version, asked once for the cluster's time.
    const auto verbs = verbs_of_shadow();
    EXPECT_THAT(verbs, UnorderedElementsAre(Key("get"), Key("list"), Key("watch")));
    for (const auto& [verb, count] : verbs) {
      fmt::print("the shadow's account: {} {} times\n", verb, count);
    }
  }
  std::size_t claims() { return plane_->list(std::string(kClaims)).size(); }

  std::unique_ptr<Plane> plane_;
  std::unique_ptr<Process> shadow_;
  std::size_t heard_ = 0;  // of its log
};

TEST_F(Shadow, WithoutAnAutoscalerItTellsWhatItWouldHaveBoughtAndWritesNothing) {
  ASSERT_NO_FATAL_FAILURE(start_plane(SOURCE_ROOT "/manifests/crds"));
  apply(kwok_node_class());
  apply(node_pool("shop", "30s"));
  ASSERT_NO_FATAL_FAILURE(start_shadow());
  apply(deployment({.name = "web", .replicas = 6, .pool = "shop"}));
  ASSERT_NO_FATAL_FAILURE(wait_said("\"decision\":\"purchase\""));
  ASSERT_NO_FATAL_FAILURE(wait_said("\"pods-waiting\":\"0\",\"cluster-pods-waiting\":\"6\""));
  const std::string report = end_shadow();
  std::puts(report.c_str());
  EXPECT_THAT(report, AllOf(HasSubstr("nothing was bought and nothing written"),
                            HasSubstr("The cluster has 0 node(s) at $0.0000/h and 6 pod(s)"),
                            HasSubstr("the shadow has 1 node(s) at $0.2172/h and 0 pod(s)"),
                            HasSubstr("It would have bought:"), HasSubstr("shop  ")));
  EXPECT_EQ(claims(), 0);
  EXPECT_THAT(plane_->list(std::string(kNodes)), IsEmpty());
  expect_no_write();
}

// MILLWRIGHT_PEER_CONTROLLER names the folder that `scripts/peer controller` prints.
TEST_F(Shadow, BesideKarpenterItTellsBothCoursesAndWritesNothing) {
  const char* folder = std::getenv("MILLWRIGHT_PEER_CONTROLLER");  // NOLINT(concurrency-mt-unsafe)
  if (folder == nullptr) {
    GTEST_SKIP() << "MILLWRIGHT_PEER_CONTROLLER does not name the folder of Karpenter's controller";
  }
  ASSERT_NO_FATAL_FAILURE(start_plane(std::string(folder) + "/crds"));
  kubectl({"create", "namespace", "karpenter"});
  const auto karpenter = Process::start(
      {.program = std::string(folder) + "/karpenter",
       .arguments = {},
       .environment = {{"KUBECONFIG", plane_->kubeconfig_of("karpenter", {"system:masters"})},
                       {"SYSTEM_NAMESPACE", "karpenter"},
                       {"LEADER_ELECTION_NAMESPACE", "karpenter"},
                       {"METRICS_PORT", std::to_string(free_port())},
                       {"HEALTH_PROBE_PORT", std::to_string(free_port())}},
       .log = plane_->directory() + "/karpenter.log",
       .input = {}});
  ASSERT_TRUE(karpenter) << karpenter.error().message;
  apply(kwok_node_class());
  apply(node_pool("shop", "30s"));
  ASSERT_NO_FATAL_FAILURE(start_shadow());
  apply(deployment({.name = "web", .replicas = 6, .pool = "shop"}));
  const auto runs = [this] {
    return plane_->list(std::string(kPods) + "?fieldSelector=status.phase%3DRunning").size() == 6;
  };
  ASSERT_TRUE(wait_until(seconds(120), runs)) << (*karpenter)->log_tail(25);
  ASSERT_NO_FATAL_FAILURE(wait_said("\"decision\":\"purchase\""));
  ASSERT_NO_FATAL_FAILURE(wait_said("\"pods-waiting\":\"0\",\"cluster-pods-waiting\":\"0\""));
  const std::string report = end_shadow();
  std::puts(report.c_str());
  EXPECT_GE(claims(), 1) << "Karpenter's";
  EXPECT_THAT(report, AllOf(HasSubstr("The cluster has 1 node(s)"),
                            HasSubstr("It would have bought:"), HasSubstr("NodeClaims made")));
  expect_no_write();
}

}  // namespace
}  // namespace millwright::plane
