// The scheduler stand-in with an extender: what it is asked, and who is woken when.
#include "unit/sandbox/world_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::sandbox {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

// An extender that refuses and scores as it is told.
class FakeExtender final : public ExtenderCaller {
 public:
  base::Task<base::Result<std::string>> call(std::string verb, std::string body) override {
    const auto request = boost::json::parse(body);
    std::string names;
    if (verb == "preempt") {
      for (const auto& [node, victims] : request.at("NodeNameToMetaVictims").as_object()) {
        names += (names.empty() ? "" : ",") + std::string(node);
      }
    } else {
      names = joined(request.at("NodeNames").as_array());
    }
    calls.push_back(verb + " " + text_at(request, "Pod.metadata.name") + " " + names);
    if (failing) {
      co_return base::fail(base::ErrorKind::Unavailable, "connection refused");
    }
    if (verb == "preempt") {
      boost::json::object answer;
      answer["NodeNameToMetaVictims"] =
          veto ? boost::json::object{} : request.at("NodeNameToMetaVictims").as_object();
      co_return boost::json::serialize(answer);
    }
    if (verb == "prioritize") {
      boost::json::array scores;
      for (const auto& name : request.at("NodeNames").as_array()) {
        boost::json::object score{{"Host", name},
                                  {"Score", name.as_string() == favourite.c_str() ? 10 : 0}};
        scores.push_back(std::move(score));
      }
      co_return boost::json::serialize(scores);
    }
    boost::json::array passed;
    boost::json::object refused_names;
    for (const auto& name : request.at("NodeNames").as_array()) {
      if (refused.contains(std::string(name.as_string()))) {
        refused_names[name.as_string()] = "millwright: room is reserved for other pods";
      } else {
        passed.push_back(name);
      }
    }
    boost::json::object result{
        {"NodeNames", passed}, {"FailedAndUnresolvableNodes", refused_names}, {"Error", ""}};
    co_return boost::json::serialize(result);
  }

  std::set<std::string> refused;
  std::string favourite;
  bool failing = false;
  bool veto = false;  // of every preemption
  std::vector<std::string> calls;

 private:
  static std::string joined(const boost::json::array& names) {
    std::string all;
    for (const auto& name : names) {
      all += (all.empty() ? "" : ",") + std::string(name.as_string());
    }
    return all;
  }
};

class SchedulerWithExtender : public WorldFixture {
 protected:
  void SetUp() override {
    extender = fake;
    launch("n1");
    launch("n2");
    loop.run_for(seconds(20));
    fake->calls.clear();
  }
  std::shared_ptr<FakeExtender> fake = std::make_shared<FakeExtender>();
};

TEST_F(SchedulerWithExtender, AsksFilterThenPrioritizeAboutFeasibleNodes) {
  fake->favourite = "n2";
  apply(one_pod("web"));
  loop.run_for(seconds(1));
  EXPECT_THAT(fake->calls, ElementsAre("filter web n1,n2", "prioritize web n1,n2"));
  EXPECT_EQ(node_of("web"), "n2");
}

TEST_F(SchedulerWithExtender, IsNotAskedAboutAPodThatFitsNowhere) {
  apply(one_pod("web", "64"));
  loop.run_for(seconds(1));
  EXPECT_THAT(fake->calls, IsEmpty());
}

TEST_F(SchedulerWithExtender, DoesNotPrioritizeASingleNode) {
  fake->refused = {"n1"};
  apply(one_pod("web"));
  loop.run_for(seconds(1));
  EXPECT_THAT(fake->calls, ElementsAre("filter web n1,n2"));
  EXPECT_EQ(node_of("web"), "n2");
}

TEST_F(SchedulerWithExtender, GivesTheExtendersReason) {
  fake->refused = {"n1", "n2"};
  apply(one_pod("web"));
  loop.run_for(seconds(1));
  EXPECT_EQ(why_pending("web"),
            "0/2 nodes are available: 2 millwright: room is reserved for other pods.");
}

TEST_F(SchedulerWithExtender, AnAnnotationOfThePodWakesItAtOnce) {
  fake->refused = {"n1", "n2"};
  apply(one_pod("web"));
  loop.run_for(seconds(30));
  fake->calls.clear();
  fake->refused.clear();
  loop.run_for(seconds(30));
  EXPECT_THAT(fake->calls, IsEmpty());
  ASSERT_TRUE(api()
                  .update(model::kPodResource, {"default", "web"},
                          [](boost::json::value& pod) {
                            pod.at("metadata").as_object()["annotations"] =
                                boost::json::parse(R"({"millwright.io/kick":"1"})");
                          })
                  .has_value());
  loop.run_for(milliseconds(50));
  EXPECT_NE(node_of("web"), "");
}

TEST_F(SchedulerWithExtender, AnAnnotationOfANodeWakesEveryRefusedPod) {
  fake->refused = {"n1", "n2"};
  apply(one_pod("web"));
  apply(one_pod("app"));
  apply(one_pod("big", "64"));
  loop.run_for(seconds(30));
  fake->calls.clear();
  set_node("n1", [](boost::json::value& node) {
    node.at("metadata").as_object()["annotations"] = boost::json::parse(R"({"a":"b"})");
  });
  loop.run_for(milliseconds(50));
  EXPECT_THAT(fake->calls, testing::UnorderedElementsAre("filter web n1,n2", "filter app n1,n2"));
}

TEST_F(SchedulerWithExtender, TriesTheNominatedNodeFirstAndAlone) {
  fake->favourite = "n1";
  apply(one_pod("web", "1", R"("schedulingGates":[{"name":"example.com/wait"}])"));
  ASSERT_TRUE(api()
                  .update(
                      model::kPodResource, {"default", "web"},
                      [](boost::json::value& pod) {
                        pod.at("status").as_object()["nominatedNodeName"] = "n2";
                      },
                      "status")
                  .has_value());
  ASSERT_TRUE(api()
                  .update(model::kPodResource, {"default", "web"},
                          [](boost::json::value& pod) {
                            pod.at("spec").as_object().erase("schedulingGates");
                          })
                  .has_value());
  loop.run_for(seconds(1));
  EXPECT_THAT(fake->calls, ElementsAre("filter web n2"));
  EXPECT_EQ(node_of("web"), "n2");
}

TEST_F(SchedulerWithExtender, AFailingExtenderStopsNothing) {
  fake->failing = true;
  apply(one_pod("web"));
  loop.run_for(seconds(1));
  EXPECT_NE(node_of("web"), "");
}

TEST_F(SchedulerWithExtender, MayVetoAPreemption) {
  apply(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",
      "metadata":{"name":"high"},"value":1000})");
  make_deployment("web", 8);
  loop.run_for(seconds(10));
  ASSERT_EQ(count("Running"), 8U);
  fake->calls.clear();
  fake->veto = true;
  apply(one_pod("urgent", "1", R"("priorityClassName":"high")"));
  loop.run_for(seconds(5));
  EXPECT_THAT(fake->calls, ElementsAre("preempt urgent n1,n2"));
  EXPECT_EQ(count("Running"), 8U);
  EXPECT_EQ(node_of("urgent"), "");
}

TEST_F(SchedulerWithExtender, ItsUnresolvableNodesAreNotPreempted) {
  apply(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",
      "metadata":{"name":"high"},"value":1000})");
  make_deployment("web", 6);
  loop.run_for(seconds(10));
  fake->refused = {"n1", "n2"};
  apply(one_pod("urgent", "1", R"("priorityClassName":"high")"));
  loop.run_for(seconds(5));
  EXPECT_EQ(count("Running"), 6U);
  EXPECT_EQ(node_of("urgent"), "");
}

TEST_F(SchedulerWithExtender, CountsAPodAsPlacedWhileItIsBeingBound) {
  make_deployment("web", 12, "1");
  loop.run_for(seconds(20));
  EXPECT_EQ(count("Running@n1"), 4U);
  EXPECT_EQ(count("Running@n2"), 4U);
  EXPECT_EQ(count("Pending"), 4U);
}

}  // namespace
}  // namespace millwright::sandbox
