// Whether pods of lower priority are evicted, or a node is bought.
#include "sandbox/semantics/semantics_fixture.hpp"

namespace millwright::test {
namespace {

// A cluster that pods of low priority fill, and a class of pods that may evict them.
class Preemption : public Semantics {
 protected:
  // `limits` of the pool; `annotations` of the class.
  void fill(const std::string& limits, const std::string& annotations) {
    create("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: urgent" +
           annotations + "}\nvalue: 1000\n");
    create(pool("default", limits));
    create(deployment("low", 2, "cpu: 900m"));
    ASSERT_TRUE(soon([&] { return running("low") == 2; }));
    bought_before_ = claims();
  }
  void ask() {
    create(deployment("urgent", 1, "cpu: 900m", "      priorityClassName: urgent\n"));
    ASSERT_TRUE(soon([&] { return running("urgent") == 1; }));
  }
  std::size_t evicted() { return events_of("low", "Preempted").size(); }

  std::size_t bought_before_ = 0;
  static constexpr const char* kSparing =
      ", annotations: {millwright.io/provision-instead-of-preempt: 2m}";
};

TEST_F(Preemption, EvictsUnlessItIsAskedNotTo) {
  fill("", "");
  ask();
  EXPECT_EQ(evicted(), 1U);
}

TEST_F(Preemption, SparesItsVictimsWhenANodeCanBeBought) {
  fill("", kSparing);
  ask();
  EXPECT_EQ(evicted(), 0U);
  EXPECT_EQ(running("low"), 2U);
  EXPECT_GT(claims(), bought_before_);
}

TEST_F(Preemption, EvictsAtOnceWhenThePoolMayNotGrow) {
  fill("  limits: {cpu: 2}\n", kSparing);
  ask();
  EXPECT_EQ(evicted(), 1U);
  EXPECT_EQ(claims(), bought_before_);
}

// New nodes are closed to the pods, which no limit says: the first pod finds that out for others.
TEST_F(Preemption, EvictsForThePodsOfAGroupThatThePlanRefused) {
  fill("", kSparing);
  edit(model::kNodePoolResource, "default", [](json::value& object) {
    object.at("spec").at("template").at("spec").as_object()["taints"] =
        json::parse(R"([{"key": "closed", "effect": "NoSchedule"}])");
  });
  cluster_.loop.run_for(seconds(1));
  create(deployment("urgent", 1, "cpu: 900m", "      priorityClassName: urgent\n"));
  cluster_.loop.run_for(seconds(10));
  EXPECT_EQ(evicted(), 0U);
  EXPECT_EQ(claims(), bought_before_);
  edit(model::kDeploymentResource, "urgent",
       [](json::value& object) { object.at("spec").as_object()["replicas"] = 2; });
  EXPECT_TRUE(soon([&] { return running("urgent") >= 1; }, seconds(20)));
  EXPECT_GE(evicted(), 1U);
}

}  // namespace
}  // namespace millwright::test
