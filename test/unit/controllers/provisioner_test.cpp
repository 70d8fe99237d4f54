// What a plan says of groups of pods.
#include "millwright/controllers/provisioning/provisioning.hpp"
#include "millwright/controllers/provisioning/reservations.hpp"
#include "unit/controllers/with_services.hpp"

#include <gtest/gtest.h>

namespace millwright::controllers {
namespace {

using testing::NodeBuilder;
using testing::PodBuilder;

// A ReplicaSet wants two pods. One was reported and has room on node "n"; for the other, which is
// yet to come, there is none.
class PlanForPartOfAGroup : public WithServices {
 protected:
  PlanForPartOfAGroup() {
    state_.set_synced(true);
    state_.upsert(NodeBuilder("n").ready_since(0).allocatable(1000).build());
    state_.upsert(waiting("web-1").build());
    model::Workload workload{.kind = "ReplicaSet", .meta = {}, .pods = 2, .at_once = true};
    workload.meta.name = "web";
    workload.meta.namespace_ = "default";
    workload.meta.uid = "web";
    state_.upsert(std::make_shared<const model::Workload>(workload));
  }
  // By their uids pods that are there come before those that are yet to come, as real ones do.
  static PodBuilder waiting(const std::string& name) {
    return std::move(PodBuilder(name)
                         .uid("0-" + name)
                         .requests(1000)
                         .owned_by("web")
                         .conditions({{.type = "PodScheduled",
                                       .status = model::ConditionStatus::False,
                                       .reason = "Unschedulable"}}));
  }
  bool refuses() const {
    return provisioner_.refuses(scheduling::group_of(waiting("web-1").value()));
  }
  void plan() { kube::test::run(loop_, provisioner_.plan_once()); }

  Reservations reservations_{services_};
  Provisioner provisioner_{services_, reservations_};
};

TEST_F(PlanForPartOfAGroup, DoesNotRefuseItForPodsThatAreYetToCome) {
  ASSERT_EQ(state_.snapshot()->demand.front().expected, 1);
  plan();
  EXPECT_FALSE(refuses());
}

TEST_F(PlanForPartOfAGroup, RefusesItForAPodThatIsThere) {
  state_.upsert(waiting("web-2").build());
  plan();
  EXPECT_TRUE(refuses());
}

}  // namespace
}  // namespace millwright::controllers
