// What is waited for at the start, and what is done without.

#include "sandbox/lifecycle/lifecycle_fixture.hpp"

namespace millwright::test {
namespace {

using testing::HasSubstr;

class FirstLists : public LifecycleFixture {
 protected:
  void start_with(sandbox::Faults faults) {
    app::EmbeddedOptions options;
    options.world.api.faults = std::move(faults);
    start(std::move(options));
    apply_class();
    apply_pool();
    deploy({.name = "web", .replicas = 2});
    run_for(minutes(2));
  }
};

TEST_F(FirstLists, OfWorkloadsAndQuotasAreWaitedFor) {
  for (const char* const plural : {"replicasets", "jobs", "resourcequotas"}) {
    start_with({.broken = {plural}});
    EXPECT_THAT(metrics(), HasSubstr("\nkarpenter_cluster_state_synced 0\n")) << plural;
    EXPECT_EQ(running("web"), 0U) << plural;
    api().set_faults({});
    EXPECT_TRUE(wait_running("web", 2)) << plural;
  }
}

TEST_F(FirstLists, ThatMayNotBeReadAreDoneWithout) {
  start_with({.forbidden = {"replicasets", "replicationcontrollers", "statefulsets", "jobs",
                            "resourcequotas"}});
  EXPECT_THAT(metrics(), HasSubstr("\nkarpenter_cluster_state_synced 1\n"));
  EXPECT_TRUE(wait_running("web", 2));
}

}  // namespace
}  // namespace millwright::test
