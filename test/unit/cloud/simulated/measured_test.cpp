#include "millwright/cloud/measured.hpp"

#include "simulated_fixture.hpp"
#include "witness.hpp"

#include <string>
#include <vector>

namespace millwright::cloud {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

class MeasuredTest : public testing::Test {
 protected:
  static SimulatedSettings slow() {
    SimulatedSettings settings;
    settings.launch = {seconds(2), seconds(2), seconds(2)};
    return settings;
  }
  MeasuredTest()
      : bench_(Profile::Kwok, slow()),
        simulated_(bench_.cloud.get()),
        cloud_(measured(std::move(bench_.cloud), bench_.loop, metrics_)) {}
  ~MeasuredTest() override { simulated_->set_listener(nullptr); }

  base::Metrics metrics_;
  Bench bench_;
  SimulatedCloud* simulated_;
  std::unique_ptr<Provider> cloud_;
};

TEST_F(MeasuredTest, TellsHowLongCallsTook) {
  const auto created = bench_.wait(cloud_->create(claim("a"), node_class("KWOKNodeClass")));
  ASSERT_TRUE(created) << created.error().message;
  const std::string text = metrics_.render();
  EXPECT_THAT(text, HasSubstr("karpenter_cloudprovider_duration_seconds_sum{controller="
                              "\"nodeclaim.lifecycle\",method=\"Create\",provider=\"kwok\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("method=\"Create\",provider=\"kwok\",le=\"0.005\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("karpenter_cloudprovider_errors_total")));
}

TEST_F(MeasuredTest, NamesTheErrorsThatKarpenterKnows) {
  const auto value = [this](const char* controller, const char* method, const char* error) {
    return metrics_.value(
        "karpenter_cloudprovider_errors_total",
        {{"controller", controller}, {"method", method}, {"provider", "kwok"}, {"error", error}});
  };
  simulated_->sell_out({});
  EXPECT_FALSE(bench_.wait(cloud_->create(claim("a"), node_class("KWOKNodeClass"))));
  EXPECT_EQ(value("nodeclaim.lifecycle", "Create", "InsufficientCapacityError"), 1);
  EXPECT_FALSE(bench_.wait(cloud_->get("kwok://nothing")));
  EXPECT_EQ(value("node.termination", "Get", "NodeClaimNotFoundError"), 1);
}

TEST_F(MeasuredTest, IsTheCloudItMeasures) {
  EXPECT_EQ(cloud_->name(), simulated_->name());
  EXPECT_EQ(cloud_->node_classes().data(), simulated_->node_classes().data());
  const auto types = cloud_->instance_types({}, *node_class("KWOKNodeClass"));
  ASSERT_TRUE(types) << types.error().message;
  EXPECT_EQ(*types, *simulated_->instance_types({}, *node_class("KWOKNodeClass")));
  EXPECT_EQ(cloud_->repair_policies().data(), simulated_->repair_policies().data());
}

TEST(MeasuredDoorsTest, EveryDoorLeadsToTheCloudBehind) {
  std::vector<std::string> used;
  base::Metrics metrics;
  Bench bench(Profile::Kwok, {});
  auto behind = std::make_unique<Witness>(used);
  const auto* witness = behind.get();
  const auto cloud = measured(std::move(behind), bench.loop, metrics);
  const auto claimed = claim("a");
  const auto of_class = node_class("KWOKNodeClass");

  cloud->on_catalog_change([&used] { used.emplace_back("on_catalog_change"); });
  cloud->on_interruption([&used](const InstanceNotice& notice) {
    used.push_back("interrupted " + notice.provider_id);
    return acted();
  });
  cloud->set_recorded([](std::string_view id) { return id == "witness://recorded"; });
  EXPECT_FALSE(bench.wait(cloud->create(claimed, of_class)));
  EXPECT_FALSE(bench.wait(cloud->remove(claimed)));
  EXPECT_FALSE(bench.wait(cloud->get("witness://a")));
  EXPECT_FALSE(bench.wait(cloud->list()));
  EXPECT_FALSE(bench.wait(cloud->remove_leaked("witness://a")));
  EXPECT_FALSE(bench.wait(cloud->drift(claimed, of_class)));
  EXPECT_FALSE(bench.wait(cloud->resolve(of_class)));
  EXPECT_FALSE(bench.wait(cloud->release(of_class)));
  cloud->learn_capacity({}, {});
  bench.tasks.spawn(cloud->run({}));
  bench.tasks.spawn(cloud->lead({}));
  bench.loop.run_until([&used] { return used.size() == 14; }, std::chrono::hours(1));

  cloud->set_may_buy([] { return false; });
  EXPECT_FALSE(witness->may_buy());
  EXPECT_EQ(cloud->node_class_finalizer(*of_class), "witness/finalizer");
  EXPECT_EQ(cloud->hash_of(*of_class).value().key, "witness/hash");
  EXPECT_THAT(cloud->unsupported(*of_class), testing::ElementsAre("witness"));
  EXPECT_THAT(
      used, testing::ElementsAre("on_catalog_change", "interrupted witness://interrupted",
                                 "set_recorded", "create", "remove", "get", "list", "remove_leaked",
                                 "drift", "resolve", "release", "learn_capacity", "run", "lead"));
}

}  // namespace
}  // namespace millwright::cloud
