// The three AWS stories in the sandbox with the real adapter, which talks HTTP to
// test/aws/facade.py. Instances of its EC2 become Nodes as their user data say; in the end the
// facade's ledger shows no instance left and none launched twice.
#include "aws/support/machines.hpp"
#include "aws/support/telling.hpp"
#include "millwright/app/engine.hpp"
#include "millwright/base/random.hpp"
#include "millwright/cloud/aws.hpp"
#include "millwright/sandbox/world.hpp"
#include "support/records.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace millwright::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Seconds of the story in a real one. Signatures bear the story's time, and the facade refuses
// those that are five minutes off.
constexpr double kSpeed = 3;

class AwsStories : public testing::Test {
 protected:
  AwsStories() : loop_(kSpeed, base::system_now()), group_(loop_) {}

  void SetUp() override {
    if (Facade::url().empty()) {
      GTEST_SKIP() << "run by scripts/test aws";
    }
    mark_ = std::make_unique<LedgerMark>(facade_);
  }

  void tell(const std::string& story) {
    start(story);
    if (HasFatalFailure()) {
      return;
    }
    group_.spawn(play(story));
    loop_.run();
    EXPECT_EQ(failures_of(report_), "") << records_->tail();
    EXPECT_THAT(mark_->problems(), IsEmpty()) << records_->tail();
    EXPECT_FALSE(mark_->launched().empty());
    expect_no_secret();
  }

  // What the machines were told at their first start.
  std::vector<std::string> user_data() {
    std::vector<std::string> result;
    for (const auto& machine : mark_->launched()) {
      result.push_back(machine.user_data);
    }
    return result;
  }

 private:
  void start(const std::string& story) {
    sandbox::WorldOptions options;
    options.seed = base::entropy_seed();  // claims' UIDs are client tokens: no two runs share any
    world_ = std::make_unique<sandbox::World>(loop_, options);
    http_ = net::make_client(loop_);
    client_ = std::make_unique<kube::Client>(loop_, world_->transport());
    person_ = std::make_unique<kube::Client>(loop_, world_->transport());
    cloud::AwsSettings settings;
    settings.cluster_name = kFacadeCluster;
    const auto variables = Facade::environment();
    auto aws = cloud::make_aws_cloud(
        loop_, *http_, settings,
        [variables](const std::string& name) -> std::optional<std::string> {
          const auto found = variables.find(name);
          return found == variables.end() ? std::nullopt : std::optional(found->second);
        },
        metrics_, base::Logger(records_, "aws"));
    ASSERT_TRUE(aws) << aws.error().message;
    providers_.add(*std::move(aws));
    controllers::Options controlling;
    if (sandbox::find_story(story)->best_effort_min_values) {
      controlling.solve.min_values = scheduling::MinValuesPolicy::BestEffort;
    }
    engine_ =
        std::make_unique<app::Engine>(app::EngineParts{.loop = loop_,
                                                       .compute = compute_,
                                                       .client = *client_,
                                                       .providers = providers_,
                                                       .metrics = metrics_,
                                                       .log = base::Logger(records_, "millwright"),
                                                       .options = controlling,
                                                       .policy = {},
                                                       .seed = 11});
    world_->set_extender(sandbox::in_process_extender(engine_->extender()));
    world_->api().set_admission(sandbox::in_process_admission(engine_->admission()));
    ASSERT_TRUE(sandbox::register_webhooks(world_->api(), "https://millwright.invalid", ""));
    machines_ = std::make_unique<Machines>(loop_, *http_, world_->kubelet());
    world_->start();
  }

  base::Task<void> play(std::string story) {
    base::TaskGroup running(loop_);
    const auto stop = running.stop_token();
    running.spawn(engine_->watch(stop));
    running.spawn(engine_->lead(stop));
    running.spawn(machines_->run(stop));
    report_ = co_await tell_and_clean_up(story, world_->recorder(), *person_, stop);
    co_await keep_objects(stop);
    running.request_stop();
    co_await running.join();
    world_->stop();
    loop_.stop();
  }

  // Everything that the API server has and had to say, to be searched for secrets.
  base::Task<void> keep_objects(std::stop_token stop) {
    for (const auto& resource : {model::kEventResource, model::kNodePoolResource,
                                 model::kNodeClaimResource, model::kNodeResource}) {
      const kube::ListOptions all;
      auto listed = co_await person_->list(resource, all, stop);
      for (const auto& object : listed ? listed->items : std::vector<boost::json::value>{}) {
        objects_ += boost::json::serialize(object) + "\n";
      }
    }
  }

  void expect_no_secret() {
    const std::string secret(kFacadeSecret);
    EXPECT_THAT(objects_, HasSubstr("\"kind\":\"Event\""));
    EXPECT_THAT(records_->text(), HasSubstr("launched nodeclaim"));
    EXPECT_THAT(objects_, Not(HasSubstr(secret)));
    EXPECT_THAT(records_->text(), Not(HasSubstr(secret)));
    EXPECT_THAT(metrics_.render(), Not(HasSubstr(secret)));
    for (const auto& text : user_data()) {
      EXPECT_THAT(text, Not(HasSubstr(secret)));
    }
  }

  Facade facade_;
  std::unique_ptr<LedgerMark> mark_;
  base::RealLoop loop_;
  base::ComputeThreads compute_;
  base::Metrics metrics_;
  std::shared_ptr<Records> records_ = std::make_shared<Records>();
  std::unique_ptr<net::Client> http_;
  std::unique_ptr<sandbox::World> world_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<kube::Client> person_;
  cloud::ProviderSet providers_;
  std::unique_ptr<app::Engine> engine_;
  std::unique_ptr<Machines> machines_;
  sandbox::StoryReport report_;
  std::string objects_;
  base::TaskGroup group_;
};

TEST_F(AwsStories, TheTeamsPodGetsItsInstanceType) {
  tell("aws-team");
  for (const auto& text : user_data()) {
    EXPECT_THAT(text, HasSubstr("/etc/eks/bootstrap.sh 'demo'"));
    EXPECT_THAT(text, HasSubstr("eks-immersion-team=team-provisioner"));
    EXPECT_THAT(text, HasSubstr("karpenter.sh/unregistered=:NoExecute"));
  }
}

TEST_F(AwsStories, TheHeavierProvisionerBuys) {
  tell("aws-weight");
}

TEST_F(AwsStories, AnEc2NodeClassServesAFullNodePool) {
  tell("nodepool-full");
  for (const auto& text : user_data()) {
    EXPECT_THAT(text, HasSubstr("kind: NodeConfig"));
    EXPECT_THAT(text, HasSubstr("billing-team=my-team"));
    EXPECT_THAT(text, HasSubstr("example.com/special-taint"));
    EXPECT_THAT(text, HasSubstr("example.com/another-taint"));
  }
}

}  // namespace
}  // namespace millwright::test
