// Everything at once goes wrong now and then; in the end every pod runs, and nothing is left over.

#include "sandbox/lifecycle/lifecycle_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::test {
namespace {

class Faults : public LifecycleFixture, public testing::WithParamInterface<std::uint64_t> {
 protected:
  static app::EmbeddedOptions troubled(std::uint64_t seed) {
    app::EmbeddedOptions options;
    options.seed = seed;
    cloud::SimulatedSettings settings;
    settings.launch = {std::chrono::milliseconds(200), seconds(2), seconds(20)};
    settings.boot = {seconds(5), seconds(20), seconds(90)};
    settings.termination = {seconds(1), seconds(5), seconds(40)};
    settings.error_rate = 0.1;
    settings.throttle_rate = 0.1;
    settings.lost_reply_rate = 0.1;
    settings.capacity_error_rate = 0.05;
    options.settings[cloud::Profile::Kwok] = settings;
    options.world.api.faults = {.conflict_rate = 0.1,
                                .error_rate = 0.1,
                                .lost_reply_rate = 0.05,
                                .watch_cut_rate = 0.02,
                                .watch_delay = seconds(1)};
    return options;
  }

  void expect_one_instance_per_claim() {
    EXPECT_TRUE(wait([&] { return nodes().size() == claims().size(); }, hours(1)));
    EXPECT_TRUE(wait_instances(claims().size(), hours(1))) << inventory();
    std::set<std::string> owners;
    for (const auto& instance : instances()) {
      EXPECT_TRUE(owners.insert(instance.node_claim).second) << instance.node_claim << " has two";
    }
  }
};

TEST_P(Faults, LoseNothingAndDoubleNothing) {
  start(troubled(GetParam()));
  apply_class();
  apply_pool({.disruption = "{consolidateAfter: 30s, budgets: [{nodes: \"100%\"}]}"});
  deploy({.name = "web", .replicas = 30, .cpu = "1500m"});
  deploy({.name = "big", .replicas = 4, .cpu = "30"});
  EXPECT_TRUE(wait_running("web", 30, hours(2)));
  EXPECT_TRUE(wait_running("big", 4, hours(2)));
  scale("web", 5);
  scale("big", 1);
  run_for(minutes(20));
  EXPECT_TRUE(wait_running("web", 5, hours(2)));
  EXPECT_TRUE(wait_running("big", 1, hours(2)));
  change(model::kNodePoolResource, "default", [](boost::json::value& pool) {
    pool.at("spec").at("disruption").as_object()["consolidateAfter"] = "Never";
  });
  run_for(minutes(10));
  expect_one_instance_per_claim();
  remove(model::kDeploymentResource, "web", "default");
  remove(model::kDeploymentResource, "big", "default");
  remove(model::kNodePoolResource, "default");
  EXPECT_TRUE(wait_empty(hours(3))) << inventory();
}

INSTANTIATE_TEST_SUITE_P(Seeds, Faults, testing::Range(std::uint64_t{1}, std::uint64_t{13}));

}  // namespace
}  // namespace millwright::test
