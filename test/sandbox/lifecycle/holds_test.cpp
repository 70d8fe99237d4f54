// Pods that wait although there is room for them.

#include "millwright/cluster/ledger.hpp"
#include "sandbox/lifecycle/lifecycle_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::test {
namespace {

namespace json = boost::json;
using testing::SizeIs;

class WaitingForRoom : public LifecycleFixture {
 protected:
  static app::EmbeddedOptions holding_long() {
    app::EmbeddedOptions options;
    options.controllers.hold_after_ready = hours(1);
    options.policy.hold_after_ready = hours(1);
    return options;
  }
  static model::ResourceList cpu(std::int64_t milli) {
    return {{std::string(model::kCpu), model::Quantity::from_milli(milli)}};
  }
  // Another replica's word for it that room on the claim is kept.
  void keep_room(const std::string& claim, std::int64_t milli_cpu) {
    const std::vector<scheduling::Hold> holds{{.pod_uid = "kept-for",
                                               .pod = {"default", "kept-for"},
                                               .target = claim,
                                               .requests = cpu(milli_cpu),
                                               .deadline = now() + hours(1)}};
    change(model::kNodeClaimResource, claim, [&](json::value& object) {
      object.at("metadata").as_object()["annotations"].as_object()[model::kHoldsAnnotation] =
          cluster::encode_holds(holds);
    });
  }
  // As kube-scheduler asks for a pod of its own that it then binds elsewhere, or not at all.
  void ask_for_stranger(const std::string& node, const std::string& cpu) {
    const json::value question = {
        {"Pod",
         {{"metadata", {{"name", "stranger"}, {"namespace", "default"}, {"uid", "stranger"}}},
          {"spec",
           {{"containers",
             json::array{{{"name", "main"}, {"resources", {{"requests", {{"cpu", cpu}}}}}}}}}}}},
        {"NodeNames", json::array{node}}};
    const auto answer = extender().filter(json::serialize(question));
    ASSERT_EQ(answer.status, 200) << answer.body;
    ASSERT_NE(answer.body.find(node), std::string::npos) << answer.body;
  }
};

TEST_F(WaitingForRoom, APodRefusedForTheSakeOfOneThatWentElsewhereIsWoken) {
  start(holding_long());
  apply_class();
  apply_pool();
  deploy({.name = "web", .cpu = "3"});
  ASSERT_TRUE(wait_running("web", 1));
  ASSERT_THAT(claims(), SizeIs(1));
  keep_room(claims().front()->meta.name, 100);
  run_for(seconds(1));
  ask_for_stranger(nodes().front()->meta.name, "500m");

  deploy({.name = "late", .cpu = "500m"});
  run_for(seconds(3));
  ASSERT_EQ(running("late"), 0U) << "room for it depends on where the stranger goes";
  EXPECT_TRUE(wait_running("late", 1, minutes(1)));
  EXPECT_THAT(claims(), SizeIs(1));
}

}  // namespace
}  // namespace millwright::test
