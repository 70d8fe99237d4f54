// The AWS stories on a real control plane: `millwright controller --clouds aws` as a process of its
// own beside the stock kube-scheduler, its adapter talking HTTP to test/aws/facade.py, and kwok as
// the kubelet of the instances that the facade's EC2 has.
#include "app/program/simulated_nodes.hpp"
#include "aws/support/machines.hpp"
#include "aws/support/telling.hpp"
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

class AwsOnThePlane : public testing::Test {
 protected:
  void SetUp() override {
    if (Facade::url().empty() || std::getenv("MILLWRIGHT_PLANE") == nullptr) {
      GTEST_SKIP() << "run by scripts/test aws-plane";
    }
    for (const auto& [name, value] : Facade::environment()) {
      setenv(name.c_str(), value.c_str(), 1);  // what is started from here inherits it
    }
    mark_ = std::make_unique<LedgerMark>(facade_);
  }

  void tell(const std::string& story) {
    const auto* info = sandbox::find_story(story);
    std::vector<std::string> flags{"--clouds=aws", "--cluster-name=" + std::string(kFacadeCluster)};
    if (info->best_effort_min_values) {
      flags.emplace_back("--min-values-policy=BestEffort");
    }
    const auto started = start(std::move(flags));
    ASSERT_TRUE(started) << started.error().message;
    const auto report = play(story);
    const auto said = controller_->process().log_text();
    EXPECT_EQ(failures_of(report), "") << controller_->process().log_tail(25);
    EXPECT_THAT(mark_->problems(), IsEmpty()) << controller_->process().log_tail(25);
    EXPECT_FALSE(mark_->launched().empty());
    const std::string secret(kFacadeSecret);
    EXPECT_THAT(said, HasSubstr("launched nodeclaim"));
    EXPECT_THAT(said, Not(HasSubstr(secret)));
    EXPECT_THAT(controller_->metrics(), Not(HasSubstr(secret)));
    const auto everything = plane_->kubectl({"get", "events,nodes,nodepools", "-A", "-o", "json"});
    EXPECT_THAT(everything.text, HasSubstr("\"kind\": \"Event\""));
    EXPECT_THAT(everything.text, Not(HasSubstr(secret)));
    EXPECT_THAT(files_with("launched nodeclaim"), Not(IsEmpty())) << "the program's log is one";
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
  base::Result<> start(std::vector<std::string> flags) {
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
    options.flags = std::move(flags);
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
        kube::make_transport(loop, *std::move(config), base::Logger(), "aws-stories");
    kube::Client client(loop, transport);
    const auto http = net::make_client(loop);
    app::SimulatedNodes nodes(client, base::Logger());
    Machines machines(loop, *http, nodes);
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
        loop, [&machines](std::stop_token stop) { return machines.run(std::move(stop)); }, nodes,
        tell_on_aws(story, recorder, client, group.stop_token()), report,
        [&loop] { loop.stop(); }));
    loop.run();
    return report;
  }

  Facade facade_;
  std::unique_ptr<LedgerMark> mark_;
  std::unique_ptr<plane::Plane> plane_;
  std::unique_ptr<plane::Controller> controller_;
};

TEST_F(AwsOnThePlane, TheTeamsPodGetsItsInstanceType) {
  tell("aws-team");
}

TEST_F(AwsOnThePlane, TheHeavierProvisionerBuys) {
  tell("aws-weight");
}

TEST_F(AwsOnThePlane, AnEc2NodeClassServesAFullNodePool) {
  tell("nodepool-full");
}

}  // namespace
}  // namespace millwright::test
