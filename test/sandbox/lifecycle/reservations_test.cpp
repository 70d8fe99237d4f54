// Pods that wait although there is room for them.

#include "millwright/cluster/ledger.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/scheduling/solve.hpp"
#include "sandbox/lifecycle/lifecycle_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::test {
namespace {

namespace json = boost::json;
using testing::SizeIs;

class WaitingForRoom : public LifecycleFixture {
 protected:
  static app::EmbeddedOptions reserving_long() {
    app::EmbeddedOptions options;
    options.controllers.reserve_after_ready = hours(1);
    return options;
  }
  // Room for a pod that another scheduler has not placed yet.
  void keep_room(const std::string& node, const std::string& cpu) {
    const auto made = api().create(
        model::kPodResource,
        {{"apiVersion", "v1"},
         {"kind", "Pod"},
         {"metadata", {{"name", "kept-for"}, {"namespace", "default"}}},
         {"spec",
          {{"schedulerName", "another"},
           {"containers", json::array{{{"name", "main"},
                                       {"image", "work"},
                                       {"resources", {{"requests", {{"cpu", cpu}}}}}}}}}}});
    ASSERT_TRUE(made) << made.error().message;
    const auto pod = model::decode<model::Pod>(**made);
    ASSERT_TRUE(pod);
    run_for(seconds(1));
    ledger().reserve({.group = scheduling::group_of(*pod),
                      .target = node,
                      .count = 1,
                      .sample = model::key_of(pod->meta),
                      .requests = scheduling::effective_requests(*pod),
                      .until = now() + hours(1)});
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
  start(reserving_long());
  apply_class();
  apply_pool();
  deploy({.name = "web", .cpu = "3"});
  ASSERT_TRUE(wait_running("web", 1));
  ASSERT_THAT(claims(), SizeIs(1));
  keep_room(nodes().front()->meta.name, "100m");
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
