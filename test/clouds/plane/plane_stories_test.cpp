// The clouds' stories on a real control plane: `millwright controller --clouds CLOUD` as a process
// of its own beside the stock kube-scheduler, its adapter talking HTTP to test/CLOUD/facade.py, and
// kwok as the kubelet of the machines that the facade's cloud has.
#include "app/program/simulated_nodes.hpp"
#include "aws/support/telling.hpp"
#include "clouds/support/peer_machines.hpp"
#include "millwright/kube/config.hpp"
#include "plane/runner/controller.hpp"
#include "plane/runner/watched.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace millwright::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr auto kBootTime = std::chrono::seconds(15);

class CloudsOnThePlane : public testing::Test {
 protected:
  void tell(const std::string& story, const Peer& peer) {
    if (peer.url.empty() || std::getenv("MILLWRIGHT_PLANE") == nullptr) {
      GTEST_SKIP() << "run by scripts/test clouds-plane";
    }
    machines_ = std::make_unique<PeerMachines>(*client_, std::vector<Peer>{peer});
    const auto begun = machines_->begin();
    ASSERT_TRUE(begun) << begun.error().message;
    const auto started = start(story, peer);
    ASSERT_TRUE(started) << started.error().message;
    const auto report = play(story);
    EXPECT_EQ(failures_of(report), "") << controller_->process().log_tail(25);
    EXPECT_THAT(machines_->problems(), IsEmpty()) << controller_->process().log_tail(25);
    EXPECT_THAT(machines_->launched(), Not(IsEmpty()));
    EXPECT_THAT(controller_->process().log_text(), HasSubstr("launched nodeclaim"));
    EXPECT_THAT(files_with("launched nodeclaim"), Not(IsEmpty())) << "the program's log is one";
    for (const auto& secret : peer.secrets) {
      expect_nowhere(secret);
    }
  }

  void expect_nowhere(const std::string& secret) {
    EXPECT_THAT(controller_->process().log_text(), Not(HasSubstr(secret)));
    EXPECT_THAT(controller_->metrics(), Not(HasSubstr(secret)));
    const auto everything = plane_->kubectl({"get", "events,nodes,nodepools", "-A", "-o", "json"});
    EXPECT_THAT(everything.text, HasSubstr("\"kind\": \"Event\""));
    EXPECT_THAT(everything.text, Not(HasSubstr(secret)));
    EXPECT_THAT(files_with(secret), IsEmpty());
  }

  // Of all that the program, the control plane, etcd and the audit log wrote down.
  std::vector<std::string> files_with(std::string_view text) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(plane_->directory())) {
      if (!entry.is_regular_file()) {
        continue;
      }
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string content{std::istreambuf_iterator<char>(file), {}};
      if (content.find(text) != std::string::npos) {
        found.push_back(entry.path().string());
      }
    }
    return found;
  }

  void TearDown() override {
    controller_.reset();  // before the API server that it would complain about
    plane_.reset();
  }

 private:
  base::Result<> start(const std::string& story, const Peer& peer) {
    MW_TRY(made, plane::Plane::start());
    plane_ = std::move(made);
    auto done = plane_->start_controller_manager();
    done = done ? plane_->start_kwok() : done;
    done = done ? plane::apply_crds(*plane_) : done;
    if (!done) {
      return done;
    }
    plane::ControllerOptions options;
    options.clouds = "";  // no simulated one
    options.environment = peer.environment;
    options.flags = peer.flags;
    options.flags.push_back("--clouds=" + peer.name);
    if (sandbox::find_story(story)->best_effort_min_values) {
      options.flags.emplace_back("--min-values-policy=BestEffort");
    }
    MW_TRY(controller, plane::Controller::start(*plane_, std::move(options)));
    controller_ = std::move(controller);
    done = controller_->register_webhooks();
    return done ? plane_->start_scheduler(controller_->extender()) : done;
  }

  // On a loop of its own, in real time.
  sandbox::StoryReport play(const std::string& story) {
    sandbox::StoryReport report;
    auto config = kube::load_kubeconfig(plane_->kubeconfig());
    if (!config) {
      report.failures.push_back(config.error().message);
      return report;
    }
    base::RealLoop loop;
    std::shared_ptr<kube::Transport> transport =
        kube::make_transport(loop, *std::move(config), base::Logger(), "cloud-stories");
    kube::Client client(loop, transport);
    const auto http = net::make_client(loop);
    app::SimulatedNodes nodes(client, base::Logger());
    const PeerMachines::Kubelets kubelets{
        .loop = loop, .client = *http, .listener = nodes, .boot_time = kBootTime};
    sandbox::Recorder recorder(loop);
    plane::Watched watched(client, recorder, base::Logger());
    base::TaskGroup group(loop);
    struct Run {
      static base::Task<void> all(base::Loop& on,
                                  std::function<base::Task<void>(std::stop_token)> play_kubelets,
                                  app::SimulatedNodes& kubelets,
                                  base::Task<sandbox::StoryReport> telling,
                                  sandbox::StoryReport& out, std::function<void()> end) {
        base::TaskGroup running(on);
        running.spawn(play_kubelets(running.stop_token()));
        out = co_await std::move(telling);
        running.request_stop();
        co_await running.join();
        co_await kubelets.stop();
        end();
      }
    };
    base::TaskGroup watching(loop);
    watching.spawn(watched.run(watching.stop_token()));
    group.spawn(Run::all(
        loop,
        [this, &kubelets](std::stop_token stop) {
          return machines_->play(kubelets, std::move(stop));
        },
        nodes, tell_and_clean_up(story, recorder, client, group.stop_token()), report,
        [&loop] { loop.stop(); }));
    loop.run();
    return report;
  }

  base::RealLoop loop_;  // never run: the client is only used blocking
  std::unique_ptr<net::Client> client_ = net::make_client(loop_);
  std::unique_ptr<PeerMachines> machines_;
  std::unique_ptr<plane::Plane> plane_;
  std::unique_ptr<plane::Controller> controller_;
};

// What AWS's adapter makes besides instances, and its client tokens, are looked at, too.
class AwsOnThePlane : public CloudsOnThePlane {
 protected:
  void tell_aws(const std::string& story) {
    if (Facade::url().empty()) {
      GTEST_SKIP() << "run by scripts/test clouds-plane";
    }
    Facade facade;
    LedgerMark mark(facade);
    tell(story, aws_peer());
    EXPECT_THAT(mark.problems(), IsEmpty());
  }
};

TEST_F(AwsOnThePlane, TheTeamsPodGetsItsInstanceType) {
  tell_aws("aws-team");
}

TEST_F(AwsOnThePlane, TheHeavierProvisionerBuys) {
  tell_aws("aws-weight");
}

TEST_F(AwsOnThePlane, AnEc2NodeClassServesAFullNodePool) {
  tell_aws("nodepool-full");
}

TEST_F(CloudsOnThePlane, AlibabaSellsASpotInstanceToTheUsersManifests) {
  tell("alibaba", alibaba_peer());
}

TEST_F(CloudsOnThePlane, HuaweiGrowsAndShrinksWithTheUsersManifests) {
  tell("huawei", huawei_peer());
}

}  // namespace
}  // namespace millwright::test
