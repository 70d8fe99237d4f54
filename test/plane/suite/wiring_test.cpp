// How a scheduler comes to call us, in each way that `millwright install` offers, with what it
// prints: only addresses and paths differ. And what the program says about it.

#include "millwright/base/base64.hpp"
#include "millwright/model/codec.hpp"
#include "plane/suite/fixture.hpp"

#include <fmt/format.h>

namespace millwright::plane {
namespace {

using testing::HasSubstr;
using testing::Not;

// What was placed since the program served is judged after 30 s.
constexpr auto kNoticed = seconds(90);

// A plane with a controller of an installation of that mode, and no scheduler yet.
class Wiring : public testing::Test {
 protected:
  static std::unique_ptr<Plane> start_plane() {
    auto plane = Plane::start();
    EXPECT_TRUE(plane.has_value()) << plane.error().message;
    if (!plane) {
      return nullptr;
    }
    auto done = (*plane)->start_controller_manager();
    done = done ? (*plane)->start_kwok() : done;
    done = done ? apply_crds(**plane) : done;
    EXPECT_TRUE(done.has_value()) << done.error().message;
    (*plane)->kubectl({"apply", "-f", "-"}, kwok_node_class());
    return done ? *std::move(plane) : nullptr;
  }

  bool start(const std::string& mode) {
    plane_ = start_plane();
    if (plane_ == nullptr) {
      return false;
    }
    ControllerOptions options;
    options.mode = mode;
    auto controller = Controller::start(*plane_, std::move(options));
    EXPECT_TRUE(controller.has_value()) << controller.error().message;
    if (controller) {
      controller_ = *std::move(controller);
    }
    return controller.has_value();
  }

  std::string kubectl(const std::vector<std::string>& arguments, const std::string& input = {}) {
    const Output output = plane_->kubectl(arguments, input);
    EXPECT_EQ(output.exit_code, 0) << output.text;
    return output.text;
  }
  void wait(const std::string& what, seconds limit, const std::function<bool()>& seen) {
    EXPECT_TRUE(wait_until(limit, seen))
        << what << "\n"
        << controller_->process().log_tail(20)
        << plane_->kubectl({"get", "pods,nodes,nodeclaims", "-A", "-o", "wide"}).text;
  }
  // A pool, and a Deployment that needs it, runs.
  void run_on(const std::string& pool, const std::string& namespace_ = "default") {
    kubectl({"apply", "-f", "-"}, node_pool(pool, "Never"));
    kubectl({"apply", "-n", namespace_, "-f", "-"},
            deployment({.name = pool, .replicas = 3, .pool = pool}));
    wait_running(pool, 3, namespace_);
  }
  void wait_running(const std::string& app, std::size_t count,
                    const std::string& namespace_ = "default") {
    wait("the pods of " + app + " run", seconds(90), [&] {
      const auto pods =
          plane_->list("/api/v1/namespaces/" + namespace_ + "/pods?labelSelector=app%3D" + app);
      return pods.size() == count && std::all_of(pods.begin(), pods.end(), [](const auto& pod) {
               return text_at(pod, "/status/phase") == "Running";
             });
    });
  }
  // Waits while pods come now and then, as in any cluster: only those count that came once the
  // program was there to be called.
  void wait_while_pods_come(const std::string& what, const std::function<bool()>& seen) {
    constexpr int kPollsPerPod = 100;
    int polls = 0;
    wait(what, kNoticed, [&] {
      if (polls++ % kPollsPerPod == 0) {
        kubectl({"apply", "-f", "-"},
                deployment({.name = fmt::format("passing-{}", polls), .cpu = "10m"}));
      }
      return seen();
    });
  }
  bool noticed(const std::string& wiring) {
    return controller_->metric("millwright_scheduler_wiring",
                               fmt::format("wiring=\"{}\"", wiring)) == 1;
  }
  std::string log() { return controller_->process().log_text(); }
  std::string lease_holder() {
    return text_at(
        plane_
            ->call("GET", fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases/"
                                      "millwright-extender",
                                      kNamespace))
            .body,
        "/spec/holderIdentity");
  }
  // With our address in place of the Service's.
  std::string at_our_address(std::string text, const std::string& address) {
    const std::string own = fmt::format("127.0.0.1:{}", controller_->extender_port());
    EXPECT_THAT(text, HasSubstr(address));
    for (auto at = text.find(address); at != std::string::npos; at = text.find(address, at + 1)) {
      text.replace(at, address.size(), own);
    }
    return text;
  }
  base::Result<> wire_existing_scheduler() {
    MW_TRY(text,
           install_text(*plane_, {"--part=stanza", "--cluster-ip=127.0.0.1",
                                  "--ca-data=" + controller_->certificate("ca.crt"),
                                  "--client-cert-data=" + controller_->certificate("client.crt"),
                                  "--client-key-data=" + controller_->certificate("client.key")}));
    MW_TRY(stanza, model::parse_yaml(at_our_address(text, "127.0.0.1:443")));
    plane_->stop("kube-scheduler");
    return plane_->start_scheduler(json::serialize(stanza.at(0).at("extenders")));
  }

  std::unique_ptr<Plane> plane_;
  std::unique_ptr<Controller> controller_;
};

TEST_F(Wiring, TheStanzaLetsAnExistingSchedulerCall) {
  ASSERT_TRUE(start("extender"));
  const auto wired = wire_existing_scheduler();
  ASSERT_TRUE(wired.has_value()) << wired.error().message;
  run_on("stanza");
  wait("it is noticed", kNoticed, [&] { return noticed("extender"); });
  EXPECT_THAT(log(), HasSubstr("a scheduler calls the extender"));
  EXPECT_THAT(log(), Not(HasSubstr("never called")));
  EXPECT_EQ(lease_holder(), "default-scheduler");
  // Both entries work: the one that refuses, and the one that has opinions when there is a choice.
  run_on("other");
  kubectl({"apply", "-f", "-"}, deployment({.name = "either", .cpu = "100m"}));
  wait_running("either", 1);
  for (const char* verb : {"filter", "prioritize"}) {
    EXPECT_GT(
        controller_->metric("millwright_extender_requests_total", fmt::format("verb=\"{}\"", verb)),
        0)
        << verb << "\n"
        << controller_->metrics();
  }
  EXPECT_THAT(read_text(plane_->directory() + "/kube-scheduler.log"),
              Not(HasSubstr("Skipping extender")));
}

// The configuration and the account of the second scheduler, from what install prints.
TEST_F(Wiring, ASecondSchedulerTakesThePodsOfNamespacesThatOptIn) {
  ASSERT_TRUE(start("second-scheduler"));
  if (plane_->call("GET", "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies")
          .status != 200) {
    GTEST_SKIP() << "MutatingAdmissionPolicy is there from Kubernetes 1.36 on";
  }
  ASSERT_TRUE(plane_->start_scheduler().has_value());  // closed: nothing can be added to it
  const auto objects = install_objects(*plane_, {"--part=second-scheduler"});
  ASSERT_TRUE(objects.has_value()) << objects.error().message;
  std::string configuration;
  for (const auto& object : *objects) {
    if (text_at(object, "/kind") == "ConfigMap") {
      configuration = text_at(object, "/data/config.yaml");
    }
  }
  const std::string prefix = plane_->directory() + "/extender-";
  for (const std::string file : {"ca.crt", "client.crt", "client.key"}) {
    write_text(prefix + file, base::decode_base64(controller_->certificate(file)).value_or(""));
  }
  configuration = at_our_address(configuration, "millwright-extender.millwright-system.svc:443");
  const std::string mounted = "/etc/millwright/tls/";
  for (auto at = configuration.find(mounted); at != std::string::npos;
       at = configuration.find(mounted)) {
    configuration.replace(at, mounted.size(), prefix);
  }
  const auto account =
      plane_->kubeconfig_of_account(std::string(kNamespace), "millwright-scheduler");
  ASSERT_TRUE(account.has_value()) << account.error().message;
  const auto second = plane_->start_second_scheduler(configuration, *account);
  ASSERT_TRUE(second.has_value()) << second.error().message;

  kubectl({"apply", "-f", SOURCE_ROOT "/manifests/scheduler/opt-in-policy.yaml"});
  kubectl({"create", "namespace", "opted-in"});
  kubectl({"label", "namespace", "opted-in", "millwright.io/scheduler=enabled"});
  const auto scheduler_of = [&](const std::string& namespace_, const std::string& chosen) {
    const json::value pod{
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata", {{"name", "probe"}}},
        {"spec",
         {{"schedulerName", chosen}, {"containers", {{{"name", "main"}, {"image", "pause"}}}}}}};
    return text_at(
        plane_->call("POST", "/api/v1/namespaces/" + namespace_ + "/pods?dryRun=All", pod).body,
        "/spec/schedulerName");
  };
  wait("the policy is in force", seconds(30),
       [&] { return scheduler_of("opted-in", "default-scheduler") == "millwright-scheduler"; });
  EXPECT_EQ(scheduler_of("opted-in", "chosen"), "chosen");
  EXPECT_EQ(scheduler_of("default", "default-scheduler"), "default-scheduler");

  run_on("second", "opted-in");
  wait("it is noticed", kNoticed, [&] { return noticed("second-scheduler"); });
  EXPECT_EQ(lease_holder(), "millwright-scheduler");
  for (const auto& pod : plane_->list("/api/v1/namespaces/opted-in/pods")) {
    EXPECT_EQ(text_at(pod, "/spec/schedulerName"), "millwright-scheduler");
  }
  EXPECT_THAT(read_text(plane_->directory() + "/second-scheduler.log"),
              Not(HasSubstr("Skipping extender")));
}

TEST_F(Wiring, AloneIsNoticedAndNobodyComplains) {
  ASSERT_TRUE(start("alone"));
  ASSERT_TRUE(plane_->start_scheduler().has_value());
  run_on("alone");
  wait_while_pods_come("it is noticed", [&] { return noticed("alone"); });
  EXPECT_THAT(log(), HasSubstr("no scheduler calls the extender"));
  EXPECT_THAT(log(), Not(HasSubstr("never called")));
  EXPECT_EQ(controller_->metric("millwright_extender_never_called"), 0);
  EXPECT_THAT(kubectl({"get", "events", "-A"}), Not(HasSubstr("ExtenderNeverCalled")));
}

TEST_F(Wiring, AnExtenderThatIsNeverCalledIsComplainedAboutUntilItIs) {
  ASSERT_TRUE(start("extender"));
  ASSERT_TRUE(plane_->start_scheduler().has_value());  // without the stanza
  run_on("forgotten");
  wait_while_pods_come("it is complained about", [&] {
    return controller_->metric("millwright_extender_never_called") == 1 &&
           plane_->kubectl({"get", "events", "-n", std::string(kNamespace)})
                   .text.find("ExtenderNeverCalled") != std::string::npos;
  });
  EXPECT_TRUE(noticed("alone"));
  EXPECT_THAT(log(), HasSubstr("the extender is installed but never called"));
  EXPECT_THAT(kubectl({"get", "events", "-n", std::string(kNamespace)}),
              HasSubstr("Put the stanza (millwright install --part stanza)"));

  const auto wired = wire_existing_scheduler();
  ASSERT_TRUE(wired.has_value()) << wired.error().message;
  wait_while_pods_come("the complaint is over", [&] {
    return noticed("extender") && controller_->metric("millwright_extender_never_called") == 0;
  });
}

}  // namespace
}  // namespace millwright::plane
