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
  // The node that was bought for a Deployment of that name, whose pod runs there.
  std::string node_of_web() {
    apply_class();
    apply_pool();
    deploy({.name = "web"});
    EXPECT_TRUE(wait_running("web", 1));
    return nodes().front()->meta.name;
  }
  // Its first claim is there, and being launched for four seconds more.
  void start_launching(const WorkloadText& workload) {
    start();
    cloud::SimulatedSettings slow;
    slow.launch = {.least = seconds(5), .typical = seconds(5), .most = seconds(5)};
    cloud().configure(slow);
    apply_class();
    apply_pool();
    deploy(workload);
    ASSERT_TRUE(wait([&] { return claims().size() == 1; }));
    run_for(seconds(1));
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

TEST_F(WaitingForRoom, APodWhoseLaunchFailsUsesRoomThatComesFree) {
  start();
  apply_class();
  apply_pool();
  deploy({.name = "first", .cpu = "3"});
  ASSERT_TRUE(wait_running("first", 1));
  cloud::SimulatedSettings broken;
  broken.error_rate = 1;
  cloud().configure(broken);
  deploy({.name = "second", .cpu = "3"});
  ASSERT_TRUE(wait([&] { return !events("LaunchFailed").empty(); }));
  run_for(seconds(30));
  EXPECT_THAT(claims(), SizeIs(2)) << "the same demand was bought for twice";
  remove(model::kDeploymentResource, "first", "default");
  EXPECT_TRUE(wait_running("second", 1, minutes(1)));
  cloud().configure({});
  EXPECT_TRUE(wait([&] { return claims().size() == 1; }, minutes(3)))
      << "nobody needs the claim any more";
}

TEST_F(WaitingForRoom, PodsMoveIntoWhatOthersAreLeaving) {
  start();
  apply_class();
  apply_pool();
  deploy({.name = "first", .cpu = "3"});
  ASSERT_TRUE(wait_running("first", 1));
  remove(model::kDeploymentResource, "first", "default");
  deploy({.name = "second", .cpu = "3"});
  ASSERT_TRUE(wait_running("second", 1));
  EXPECT_THAT(claims(), SizeIs(1));
}

TEST_F(WaitingForRoom, PodsMoveIntoWhatIsBeingLaunchedForOthersThatWent) {
  start_launching({.name = "first", .cpu = "3"});
  remove(model::kDeploymentResource, "first", "default");
  run_for(seconds(1));
  deploy({.name = "second", .cpu = "3"});
  run_for(seconds(1));
  EXPECT_THAT(claims(), SizeIs(1)) << "no machine is bought beside the one that is coming";
  ASSERT_TRUE(wait_running("second", 1));
  EXPECT_THAT(claims(), SizeIs(1));
}

TEST_F(WaitingForRoom, PodsMoveIntoWhatIsBeingLaunchedForOthersOfWhichSomeWent) {
  start_launching({.name = "first", .replicas = 2, .cpu = "3"});
  scale("first", 1);
  run_for(seconds(1));
  deploy({.name = "second", .cpu = "1"});
  run_for(seconds(1));
  deploy({.name = "third", .cpu = "1"});
  run_for(seconds(1));
  EXPECT_THAT(claims(), SizeIs(1)) << "no machine is bought beside the one that is coming";
  ASSERT_TRUE(wait_running("second", 1));
  ASSERT_TRUE(wait_running("third", 1));
  EXPECT_THAT(claims(), SizeIs(1));
}

TEST_F(WaitingForRoom, NobodyWaitsForAPodThatOverstays) {
  start();
  apply_class();
  apply_pool();
  deploy({.name = "first", .cpu = "3", .pod_metadata = "      finalizers: [example.com/stay]\n"});
  ASSERT_TRUE(wait_running("first", 1));
  remove(model::kDeploymentResource, "first", "default");
  deploy({.name = "second", .cpu = "3"});
  run_for(seconds(1));
  EXPECT_THAT(claims(), SizeIs(1));
  EXPECT_TRUE(wait_running("second", 1, minutes(2)));
  EXPECT_THAT(claims(), SizeIs(2));
}

TEST_F(WaitingForRoom, WhatIsReservedOnANodeThatSomebodyCordonsIsVoid) {
  start(reserving_long());
  const auto node = node_of_web();
  keep_room(node, "100m");
  run_for(seconds(5));
  ASSERT_TRUE(ledger().view()->by_target.contains(node));
  change(model::kNodeResource, node,
         [](json::value& object) { object.at("spec").as_object()["unschedulable"] = true; });
  run_for(seconds(2));
  EXPECT_FALSE(ledger().view()->by_target.contains(node));
}

// All of its devices are in use, and one breaks.
TEST_F(WaitingForRoom, WhatIsReservedStaysWhereSomethingElseIsShort) {
  start(reserving_long());
  const auto node = node_of_web();
  const auto has_gpus = [&](const char* count) {
    change(
        model::kNodeResource, node,
        [count](json::value& object) {
          object.at("status").at("allocatable").as_object()["example.com/gpu"] = count;
        },
        {}, "status");
  };
  has_gpus("8");
  apply(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: trainer, namespace: default, labels: {app: "
      "trainer}}\nspec:\n  containers: [{name: work, image: work, resources: {requests: "
      "{example.com/gpu: 8}}}]\n");
  ASSERT_TRUE(wait_running("trainer", 1));
  keep_room(node, "100m");
  has_gpus("7");
  run_for(seconds(5));
  EXPECT_TRUE(ledger().view()->by_target.contains(node));
}

TEST_F(WaitingForRoom, WhatIsReservedOutlivesAShortFailureOfTheNodeAndNoLongOne) {
  start(reserving_long());
  const auto node = node_of_web();
  keep_room(node, "100m");
  const auto set_ready = [&](const char* status) {
    change(
        model::kNodeResource, node,
        [status](json::value& object) {
          for (auto& condition : object.at("status").at("conditions").as_array()) {
            if (condition.at("type") == "Ready") {
              condition.as_object()["status"] = status;
            }
          }
        },
        {}, "status");
  };
  set_ready("False");
  run_for(seconds(5));
  set_ready("True");
  run_for(seconds(30));
  EXPECT_TRUE(ledger().view()->by_target.contains(node)) << "the kubelet only started again";
  set_ready("False");
  run_for(seconds(15));
  EXPECT_FALSE(ledger().view()->by_target.contains(node));
}

TEST_F(WaitingForRoom, NothingIsReservedOnANodeThatIsNotThere) {
  start(reserving_long());
  apply_class();
  apply_pool();
  keep_room("gone", "100m");
  run_for(seconds(2));
  EXPECT_FALSE(ledger().view()->by_target.contains("gone"));
}

TEST_F(WaitingForRoom, AClaimWhoseReplyWasLostKeepsItsReservations) {
  app::EmbeddedOptions options;
  options.world.api.faults.lost_reply_rate = 0.3;
  start(std::move(options));
  apply_class();
  apply_pool();
  deploy({.name = "web", .replicas = 12, .cpu = "200"});
  ASSERT_TRUE(wait_running("web", 12, minutes(30)));
  EXPECT_THAT(recorder().claims(), SizeIs(12)) << "some were bought for twice";
}

// kube-scheduler passed the pod through the filter, and something else then stood in its way.
TEST_F(WaitingForRoom, APodThatIsReportedUnschedulableAfterItPassedIsPlannedSoon) {
  start();
  const auto node = node_of_web();
  const auto made = api().create(
      model::kPodResource,
      {{"apiVersion", "v1"},
       {"kind", "Pod"},
       {"metadata", {{"name", "unlucky"}, {"namespace", "default"}}},
       {"spec",
        {{"schedulerName", "another"},
         {"containers", json::array{{{"name", "main"},
                                     {"image", "work"},
                                     {"resources", {{"requests", {{"cpu", "100"}}}}}}}}}}});
  ASSERT_TRUE(made) << made.error().message;
  run_for(seconds(1));
  const json::value question = {{"Pod", **made}, {"NodeNames", json::array{node}}};
  ASSERT_EQ(extender().filter(json::serialize(question)).status, 200);
  change(
      model::kPodResource, "unlucky",
      [](json::value& object) {
        object.at("status").as_object()["conditions"] = json::array{{{"type", "PodScheduled"},
                                                                     {"status", "False"},
                                                                     {"reason", "Unschedulable"},
                                                                     {"message", "no"}}};
      },
      "default", "status");
  EXPECT_TRUE(wait([&] { return claims().size() == 2; }, seconds(4)));
}

TEST_F(WaitingForRoom, ANodeThatCameSmallerThanPromisedIsFoundOutBeforeItIsInitialized) {
  start();
  apply_class();
  apply_pool({.template_extra = "      startupTaints:\n"
                                "      - {key: example.com/agent, effect: NoSchedule}"});
  deploy({.cpu = "3"});
  ASSERT_TRUE(wait([&] {
    return !nodes().empty() && nodes().front()->meta.label(model::kRegisteredLabel) == "true";
  }));
  run_for(seconds(5));
  ASSERT_THAT(claims(), SizeIs(1));
  change(
      model::kNodeResource, nodes().front()->meta.name,
      [](json::value& object) { object.at("status").at("allocatable").as_object()["cpu"] = "1"; },
      {}, "status");
  run_for(seconds(5));
  EXPECT_THAT(claims(), SizeIs(2));
}

TEST_F(WaitingForRoom, NodesThatDoNotComeUpAreReplacedEverMoreSeldom) {
  start();
  apply_class();
  apply_pool({.template_extra = "      startupTaints:\n"
                                "      - {key: example.com/agent, effect: NoSchedule}"});
  deploy({});
  ASSERT_TRUE(wait([&] { return !nodes().empty(); }));
  run_for(minutes(15));
  EXPECT_THAT(claims(), SizeIs(1));
  run_for(minutes(10));
  EXPECT_THAT(claims(), SizeIs(2)) << "its pod waits for the first node";
  run_for(hours(4));
  EXPECT_THAT(claims(), testing::SizeIs(testing::AllOf(testing::Ge(4U), testing::Le(6U))));
  change(model::kNodeResource, nodes().back()->meta.name,
         [](json::value& object) { object.at("spec").as_object().erase("taints"); });
  EXPECT_TRUE(wait_running("web", 1, minutes(20)));
}

}  // namespace
}  // namespace millwright::test
