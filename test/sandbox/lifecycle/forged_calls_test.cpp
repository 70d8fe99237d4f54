// Calls of the extender that no kube-scheduler made: nothing is bought, and nothing left unbought,
// because of them.
#include "millwright/model/codec.hpp"
#include "sandbox/lifecycle/lifecycle_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::test {
namespace {

namespace json = boost::json;
using testing::SizeIs;

class ForgedCalls : public LifecycleFixture {
 protected:
  void say(const model::Pod& pod, const std::vector<std::string>& names) {
    const json::value question{{"Pod", model::encode(pod)},
                               {"NodeNames", json::array(names.begin(), names.end())}};
    EXPECT_EQ(extender().filter(json::serialize(question)).status, 200);
  }
  // A pod of another name and uid.
  static model::Pod copy_of(const model::Pod& pod, const std::string& name) {
    model::Pod copy = pod;
    copy.meta.name = name;
    copy.meta.uid = "uid-" + name;
    return copy;
  }
  // One node, on which one pod of "web" runs.
  void up() {
    start();
    apply_class();
    apply_pool();
    deploy({});
    ASSERT_TRUE(wait_running("web", 1));
    node_ = nodes().front()->meta.name;
  }
  // A pod that only the pool "second" can take, which does not exist yet.
  model::Pod waiting_for_second_pool() {
    deploy({.name = "late", .pod_spec = "      nodeSelector: {karpenter.sh/nodepool: second}"});
    run_for(seconds(5));
    return *pods("late").front();
  }

  std::string node_;
};

TEST_F(ForgedCalls, AWaitingPodIsBoughtForThoughSomebodySaysThatItHasANode) {
  up();
  const model::Pod pod = waiting_for_second_pool();
  say(pod, {"made-up"});
  apply_pool({.name = "second"});
  EXPECT_TRUE(wait([&] { return claims().size() == 2; }, seconds(6)));
}

TEST_F(ForgedCalls, AGroupIsBoughtForThoughSomebodyMakesUpPodsOfIt) {
  up();
  const model::Pod pod = waiting_for_second_pool();
  for (int i = 0; i < 20; ++i) {
    say(copy_of(pod, "late-made-up-" + std::to_string(i)), {node_});
  }
  apply_pool({.name = "second"});
  EXPECT_TRUE(wait([&] { return claims().size() == 2; }, seconds(6)));
}

TEST_F(ForgedCalls, NothingIsBoughtForPodsThatSomebodyMakesUp) {
  up();
  ledger().fence({.node = node_, .reason = "Test", .since = now()});
  const model::Pod pod = *pods("web").front();
  for (int i = 0; i < 20; ++i) {
    say(copy_of(pod, "web-made-up-" + std::to_string(i)), {node_});
  }
  run_for(minutes(1));
  EXPECT_THAT(claims(), SizeIs(1));
  EXPECT_TRUE(ledger().passes(now()).empty());
}

}  // namespace
}  // namespace millwright::test
