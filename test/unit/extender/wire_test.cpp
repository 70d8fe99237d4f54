// The exact texts of extender/v1: Go struct names, no omitempty.
#include "unit/extender/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::extender {
namespace {

using testing::at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::json_of;
using testing::names_request;
using testing::NodeBuilder;
using testing::passing;
using testing::PodBuilder;
using testing::preempt_request;
using testing::refusals;
using testing::World;

const model::Pod& any_pod() {
  static const model::Pod pod = PodBuilder("stray").requests(500).value();
  return pod;
}

TEST(ExtenderWire, FilterAnswersNamesWithNames) {
  World world;
  world.add_young_node("n1", 1000, 0);
  world.add_young_node("n2", 1000, 0);
  world.keep(PodBuilder("planned").requests(800), "n2", 60);
  const auto reply = world.extender().filter(names_request(any_pod(), {"n1", "n2", "n3"}));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body,
            R"({"Nodes":null,"NodeNames":["n1","n3"],"FailedNodes":{},)"
            R"("FailedAndUnresolvableNodes":{"n2":"millwright: room is reserved for other pods"},)"
            R"("Error":""})");
}

TEST(ExtenderWire, FilterEchoesFullNodesByteForByte) {
  World world;
  world.ledger.fence({"n2", "Empty", at(0)});
  const std::string n1 = R"({ "metadata":{"labels":{"a":"\u00e9"},"name":"n1"},  "x":[1e3, -0.5]})";
  const std::string n2 = R"({"metadata":{"name":"n2"}})";
  const std::string n3 = R"({"metadata":{"name":"n\u0033"},"status":{"deep":{"er":null}}})";
  const auto reply = world.extender().filter(
      R"({"Pod":)" + json_of(any_pod()) + R"(,"Nodes":{"kind":"NodeList","metadata":{},"items":[)" +
      n1 + ", " + n2 + "," + n3 + R"(]},"NodeNames":null})");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, R"({"Nodes":{"metadata":{},"items":[)" + n1 + "," + n3 +
                            R"(]},"NodeNames":null,"FailedNodes":{},)"
                            R"("FailedAndUnresolvableNodes":)"
                            R"({"n2":"millwright: node is being removed"},"Error":""})");
}

TEST(ExtenderWire, FilterReadsFieldNamesInAnyCase) {
  World world;
  world.ledger.fence({"n1", "Empty", at(0)});
  const auto reply = world.extender().filter(R"({"POD":)" + json_of(any_pod()) +
                                             R"(,"nodenames":["n1","n2"],"extra":[{}]})");
  EXPECT_THAT(passing(reply), ElementsAre("n2"));
}

TEST(ExtenderWire, TheLastOfEqualFieldsCountsAsInGo) {
  World world;
  const auto reply = world.extender().filter(R"({"NodeNames":["old"],"Pod":)" + json_of(any_pod()) +
                                             R"(,"NodeNames":["new"]})");
  EXPECT_THAT(passing(reply), ElementsAre("new"));
}

TEST(ExtenderWire, NoCandidatesAreNoError) {
  World world;
  EXPECT_THAT(passing(world.extender().filter(names_request(any_pod(), {}))), IsEmpty());
  EXPECT_EQ(world.extender().prioritize(names_request(any_pod(), {})).body, "[]");
  EXPECT_EQ(world.extender().preempt(preempt_request(any_pod(), "{}")).body,
            R"({"NodeNameToMetaVictims":{}})");
  EXPECT_EQ(world.extender().preempt(preempt_request(any_pod(), "null")).body,
            R"({"NodeNameToMetaVictims":{}})");
}

TEST(ExtenderWire, PrioritizeAnswersABareArrayOfTheNodesThatScore) {
  World world;
  world.state.upsert(NodeBuilder("n1").allocatable(1000).build());
  world.state.upsert(NodeBuilder("n\"2").allocatable(1000).build());
  const auto reply =
      world.extender().prioritize(names_request(any_pod(), {"n1", "unknown", "n\"2"}));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, R"([{"Host":"n1","Score":5},{"Host":"n\"2","Score":5}])");
}

TEST(ExtenderWire, PreemptAnswersUidsWhicheverFormTheVictimsHad) {
  World world;
  const std::string expected =
      R"({"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"a"},{"UID":"b"}],"NumPDBViolations":2},)"
      R"("n2":{"Pods":[],"NumPDBViolations":0},"n3":{"Pods":[],"NumPDBViolations":0}}})";
  EXPECT_EQ(world.extender()
                .preempt(preempt_request(
                    any_pod(), R"({"n1":{"Pods":[{"UID":"a"},{"UID":"b"}],"NumPDBViolations":2},)"
                               R"("n2":{"Pods":null,"NumPDBViolations":0},"n3":null})"))
                .body,
            expected);
  EXPECT_EQ(world.extender()
                .preempt(R"({"pod":)" + json_of(any_pod()) +
                         R"(,"NodeNameToMetaVictims":null,"NodeNameToVictims":{"n1":{"Pods":[)" +
                         json_of(PodBuilder("x").uid("a").value()) + "," +
                         json_of(PodBuilder("y").uid("b").value()) +
                         R"(],"NumPDBViolations":2},"n2":{},"n3":{"Pods":[]}}})")
                .body,
            expected);
}

TEST(ExtenderWire, BindTexts) {
  const auto binding =
      parse_binding(R"({"PodName":"p","PodNamespace":"ns","PodUID":"u","Node":"n1"})");
  ASSERT_TRUE(binding.has_value());
  EXPECT_EQ(binding->pod, (model::ObjectKey{"ns", "p"}));
  EXPECT_EQ(binding->pod_uid, "u");
  EXPECT_EQ(binding->node, "n1");
  EXPECT_TRUE(parse_binding(R"({"podname":"p","podnamespace":"n","poduid":"u","node":"n"})"));
  EXPECT_EQ(binding_result(""), R"({"Error":""})");
  EXPECT_EQ(binding_result("a \"b\"\n"), R"({"Error":"a \"b\"\u000a"})");
  for (const std::string text : {"", "[]", "{}", R"({"PodName":"p"})",
                                 R"({"PodName":"p","PodNamespace":"ns","PodUID":"u","Node":""})",
                                 R"({"PodName":"p","PodNamespace":"ns","PodUID":7,"Node":"n"})"}) {
    const auto refused = parse_binding(text);
    ASSERT_FALSE(refused.has_value()) << text;
    EXPECT_EQ(refused.error().kind, base::ErrorKind::Invalid);
  }
}

TEST(ExtenderWire, MalformedRequestsGet400AndAReason) {
  World world;
  const auto extender = world.extender();
  const std::string pod = json_of(any_pod());
  const auto with = [&](const std::string& rest) { return R"({"Pod":)" + pod + rest; };
  std::string deep = "{\"Pod\":" + pod + ",\"NodeNames\":";
  deep.append(100, '[').append(100, ']').append("}");
  const std::pair<std::string, std::string> cases[] = {
      {"", "an object is expected"},
      {"null", "an object is expected"},
      {"[]", "an object is expected"},
      {"{", "a text is expected"},
      {"{}", "Pod is missing"},
      {R"({"Pod":null,"NodeNames":[]})", "Pod is missing"},
      {R"({"Pod":"p","NodeNames":[]})", "Pod is missing"},
      {with("}"), "both Nodes and NodeNames are missing"},
      {with(R"(,"Nodes":null,"NodeNames":null})"), "both Nodes and NodeNames are missing"},
      {with(R"(,"NodeNames":{}})"), "an array is expected"},
      {with(R"(,"NodeNames":[1]})"), "a text is expected"},
      {with(R"(,"NodeNames":["a" "b"]})"), "',' or ']' is expected"},
      {with(R"(,"NodeNames":["a",]})"), "a text is expected"},
      {with(R"(,"NodeNames":["a)"), "a text that does not end"},
      {with(R"(,"NodeNames":["a\x"]})"), "an unknown escape"},
      {with(R"(,"NodeNames":["\u12"]})"), "an incomplete \\u escape"},
      {with(",\"NodeNames\":[\"a\nb\"]}"), "a control character"},
      {with(R"(,"NodeNames":[]} x)"), "nothing more is expected"},
      {with(R"(,"NodeNames":[],"n":01})"), "',' or '}' is expected"},
      {with(R"(,"NodeNames":[],"n":-})"), "a value is expected"},
      {with(R"(,"NodeNames":[],"n":1.})"), "digits are expected"},
      {with(R"(,"NodeNames":[],"n":1e})"), "digits are expected"},
      {with(R"(,"NodeNames":[],"n":nul})"), "a value is expected"},
      {with(R"(,"NodeNames":[],"n" 1})"), "':' is expected"},
      {with(R"(,"Nodes":[]})"), "an object is expected"},
      {with(R"(,"Nodes":{"items":{}}})"), "an array is expected"},
      {with(R"(,"Nodes":{"items":[{}]}})"), "a Node without metadata.name"},
      {with(R"(,"Nodes":{"items":[{"metadata":{"name":3}}]}})"), "a text is expected"},
      {deep, "a text is expected"},
      {R"({"Pod":{"a":)" + std::string(100, '[') + std::string(100, ']') + R"(},"NodeNames":[]})",
       "nested too deep"},
      {R"({"Pod":{"metadata":{"name":"p"}},"NodeNames":[]})", "no metadata.uid"},
      {R"({"Pod":{"metadata":{"uid":"p"}},"NodeNames":[]})", "no metadata.name"},
      {R"({"Pod":{"metadata":{"name":"p","uid":"u"},"spec":{"containers":[{"name":"c",)"
       R"("resources":{"requests":{"cpu":"lots"}}}]}},"NodeNames":[]})",
       "Pod"},
  };
  for (const auto& [body, reason] : cases) {
    const auto reply = extender.filter(body);
    EXPECT_EQ(reply.status, 400) << body;
    EXPECT_THAT(reply.body, HasSubstr("malformed extender request: ")) << body;
    EXPECT_THAT(reply.body, HasSubstr(reason)) << body;
    EXPECT_EQ(extender.prioritize(body).status, 400) << body;
  }
  EXPECT_TRUE(world.ledger.passes(world.now).empty());
  EXPECT_EQ(extender.filter(names_request(any_pod(), {"n"})).status, 200);
}

std::string repeated(const std::string& first, const std::string& more, std::size_t count) {
  std::string text = first;
  text.reserve(first.size() + count * more.size());
  for (std::size_t i = 1; i < count; ++i) {
    text += more;
  }
  return text;
}

// Each was answered once, with memory of many times its size, or noted for as long as the pod was
// in flight.
TEST(ExtenderWire, RequestsThatAreOutOfAllProportionGet400) {
  World world;
  const auto extender = world.extender();
  const auto pod_with = [](const std::string& meta, const std::string& spec = "{}") {
    return R"({"Pod":{"metadata":{"name":"p","namespace":"ns",)" + meta + R"(},"spec":)" + spec +
           R"(},"NodeNames":["n"]})";
  };
  const std::string with_pod = R"({"Pod":)" + json_of(any_pod());
  const std::string long_text(254, 'u');
  std::string requests = R"("r0":"1")";
  for (int i = 1; i < 65; ++i) {
    requests += ",\"r" + std::to_string(i) + "\":\"1\"";
  }
  const std::pair<std::string, std::string> cases[] = {
      {with_pod + R"(,"NodeNames":[)" + repeated(R"("")", R"(,"")", 50'001) + "]}",
       "more than 50,000 nodes"},
      {with_pod + R"(,"Nodes":{"items":[)" +
           repeated(R"({"metadata":{"name":"n"}})", R"(,{"metadata":{"name":"n"}})", 50'001) +
           "]}}",
       "more than 50,000 nodes"},
      {R"({"Pod":{"a":[)" + repeated("0", ",0", 600'000) + R"(]},"NodeNames":["n"]})",
       "more than 500,000 JSON values"},
      {pod_with(R"("uid":")" + long_text + "\""), "metadata.uid"},
      {pod_with(R"("uid":"u","resourceVersion":")" + long_text + "\""), "resourceVersion"},
      {pod_with(R"("uid":"u","ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet",)"
                R"("name":"r","controller":true,"uid":")" +
                long_text + "\"}]"),
       "ownerReferences"},
      {pod_with(R"("uid":"u")",
                R"({"containers":[{"name":"c","resources":{"requests":{)" + requests + "}}}]}"),
       "more than 64 resources"},
  };
  for (const auto& [body, reason] : cases) {
    const auto reply = extender.filter(body);
    EXPECT_EQ(reply.status, 400) << reason;
    EXPECT_THAT(reply.body, HasSubstr(reason));
    EXPECT_LT(reply.body.size(), 1000U);
  }
  EXPECT_TRUE(world.ledger.passes(world.now).empty());
  const auto victims = extender.preempt(with_pod + R"(,"NodeNameToMetaVictims":{"n":{"Pods":[)" +
                                        repeated("{}", ",{}", 600'000) + "]}}}");
  EXPECT_EQ(victims.status, 400);
  EXPECT_THAT(victims.body, HasSubstr("more than 500,000 JSON values"));
  EXPECT_EQ(
      extender.filter(with_pod + R"(,"NodeNames":[)" + repeated(R"("")", R"(,"")", 50'000) + "]}")
          .status,
      200);
}

TEST(ExtenderWire, MalformedPreemptionsGet400AndAReason) {
  World world;
  const auto extender = world.extender();
  const std::string pod = json_of(any_pod());
  const std::pair<std::string, std::string> cases[] = {
      {"", "not JSON"},
      {"[]", "an object is expected"},
      {R"({"NodeNameToMetaVictims":{}})", "Pod is missing"},
      {R"({"Pod":[]})", "Pod is missing"},
      {R"({"Pod":{}})", "no metadata.uid"},
      {R"({"Pod":)" + pod + R"(,"NodeNameToMetaVictims":[]})", "must be an object"},
      {R"({"Pod":)" + pod + R"(,"NodeNameToMetaVictims":{"n":[]}})", "victims of n"},
      {R"({"Pod":)" + pod + R"(,"NodeNameToMetaVictims":{"n":{"Pods":{}}}})", "Pods must be"},
      {R"({"Pod":)" + pod + R"(,"NodeNameToMetaVictims":{"n":{"Pods":[{}]}}})", "no UID"},
      {R"({"Pod":)" + pod + R"(,"NodeNameToMetaVictims":{"n":{"Pods":["a"]}}})", "no UID"},
      {R"({"Pod":)" + pod + R"(,"NodeNameToVictims":{"n":{"Pods":[{"UID":"a"}]}}})", "no UID"},
      {R"({"Pod":)" + pod + R"(,"NodeNameToMetaVictims":{"n":{"NumPDBViolations":"1"}}})",
       "NumPDBViolations"},
  };
  for (const auto& [body, reason] : cases) {
    const auto reply = extender.preempt(body);
    EXPECT_EQ(reply.status, 400) << body;
    EXPECT_THAT(reply.body, HasSubstr(reason)) << body;
  }
}

TEST(ExtenderWire, APodOfTheSnapshotIsNotDecodedAgain) {
  World world;
  world.add_young_node("n", 1000, 0);
  world.keep(PodBuilder("planned").requests(500), "n", 60);
  world.state.upsert(PodBuilder("known").requests(600).build());
  // The text says less than the snapshot does.
  const std::string thin = R"({"Pod":{"metadata":{"name":"known","namespace":"default","uid":")";
  const std::string rest = R"("}},"NodeNames":["n"]})";
  EXPECT_EQ(refusals(world.extender().filter(thin + "uid-known" + rest)).size(), 1U);
  EXPECT_EQ(refusals(world.extender().filter(thin + "another" + rest)).size(), 0U);
}

TEST(ExtenderMetrics, CountCallsAndRefusals) {
  World world;
  world.ledger.fence({"n1", "Empty", at(0)});
  const auto extender = world.extender();
  extender.filter(names_request(any_pod(), {"n1", "n2"}));
  extender.filter("{");
  extender.prioritize(names_request(any_pod(), {"n1"}));
  EXPECT_EQ(world.metrics.value("millwright_extender_requests_total",
                                {{"verb", "filter"}, {"outcome", "ok"}}),
            1);
  EXPECT_EQ(world.metrics.value("millwright_extender_requests_total",
                                {{"verb", "filter"}, {"outcome", "malformed"}}),
            1);
  EXPECT_EQ(world.metrics.value("millwright_extender_refused_nodes_total",
                                {{"reason", "node is being removed"}}),
            1);
  EXPECT_THAT(world.metrics.render(),
              HasSubstr("millwright_extender_duration_seconds_count{verb=\"prioritize\"} 1"));
}

}  // namespace
}  // namespace millwright::extender
