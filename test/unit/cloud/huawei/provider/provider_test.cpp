// The provider as its callers see it, against a Huawei Cloud that remembers.
#include "cloud/huawei/node_class/node_class_hash.hpp"
#include "millwright/cloud/simulated.hpp"
#include "unit/cloud/fakes/burst.hpp"
#include "unit/cloud/huawei/provider/provider_fixture.hpp"

#include <rapidcheck/gtest.h>

namespace millwright::cloud::huawei {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(HuaweiProvider, AClaimBecomesTheCheapestNode) {
  const auto made = create(claim("a"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->provider_id, "u1");
  EXPECT_EQ(made->labels.at("node.kubernetes.io/instance-type"), "c9.large.4");
  EXPECT_EQ(made->labels.at("topology.kubernetes.io/zone"), "az-a");
  EXPECT_EQ(made->labels.at("karpenter.sh/capacity-type"), "on-demand");
  EXPECT_EQ(made->labels.at("karpenter.k8s.huawei/instance-memory"), "8192");
  EXPECT_EQ(made->image_id, "Huawei Cloud EulerOS 2.0");
  EXPECT_EQ(made->annotations.at("karpenter.k8s.huawei/ecs-server-id"), "server-u1");
  EXPECT_EQ(made->annotations.at(std::string(kHashAnnotation)), hash_stamp(*the_class).hash);
  EXPECT_EQ(made->capacity.at("cpu").units(), 2);
  EXPECT_LT(made->allocatable.at("memory"), made->capacity.at("memory"));
}

TEST_F(HuaweiProvider, ANodeIsAskedForWithItsDisksLoginTaintsAndTags) {
  auto of = claim("a");
  of->taints = {{.key = "team", .value = "a", .effect = "NoSchedule", .time_added = {}}};
  of->startup_taints = {{.key = "team", .value = "b", .effect = "NoSchedule", .time_added = {}},
                        {.key = "node.kubernetes.io/network-unavailable",
                         .value = {},
                         .effect = "NoSchedule",
                         .time_added = {}}};
  ASSERT_TRUE(create(of));
  const auto& body = cce.nodes.at("u1").body;
  EXPECT_EQ(model::text_at(body, "spec.nodeNicSpec.primaryNic.subnetId"), "subnet-1");
  EXPECT_EQ(model::text_at(body, "spec.login.userPassword.password"), kPassword);
  const auto text = boost::json::serialize(body);
  EXPECT_THAT(text, HasSubstr(R"("rootVolume":{"size":40,"volumetype":"SSD"})"));
  EXPECT_THAT(text, HasSubstr(R"("dataVolumes":[{"size":100,"volumetype":"SSD"}])"));
  EXPECT_THAT(text, HasSubstr(R"("matchLabels":{"size":"100","volumeType":"SSD","count":"1"})"));
  EXPECT_THAT(text, HasSubstr(R"("taints":[{"key":"karpenter.sh/unregistered","value":"",)"
                              R"("effect":"NoExecute"},{"key":"team","value":"b",)"
                              R"("effect":"NoSchedule"}])"));
  EXPECT_THAT(text, HasSubstr(R"("karpenter.k8s.huawei/nodeclaim-uid":"uid-a")"));
  EXPECT_THAT(text, Not(HasSubstr("extendParam")));
}

TEST_F(HuaweiProvider, ASecondCallGivesTheFirstCallsNode) {
  const auto of = claim("a");
  const auto first = create(of);
  const auto second = create(of);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->provider_id, second->provider_id);
  EXPECT_EQ(cce.living(), 1);
}

TEST_F(HuaweiProvider, ALostAnswerMakesNoSecondNode) {
  cce.lost_answers = 1;
  const auto of = claim("a");
  EXPECT_EQ(create(of).error().kind, ErrorKind::Timeout);
  // The claim's status could not be written the first time.
  for (int time = 0; time < 2; ++time) {
    const auto again = create(of);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(cce.living(), 1);
    EXPECT_EQ(cce.orders, 1);
  }
}

TEST_F(HuaweiProvider, ANodeThatShowsLateIsWaitedFor) {
  cce.late_answers = 1;
  const auto of = claim("a");
  EXPECT_EQ(create(of).error().kind, ErrorKind::Timeout);
  loop.run_for(10s);
  const auto waiting = create(of);
  ASSERT_FALSE(waiting);
  EXPECT_EQ(waiting.error().kind, ErrorKind::Unavailable);
  cce.show_late();
  ASSERT_TRUE(create(of));
  EXPECT_EQ(cce.living(), 1);
}

TEST_F(HuaweiProvider, ACrashedLaunchIsAdopted) {
  const auto of = claim("a");
  background->spawn([](HuaweiCloud& in, std::shared_ptr<const model::NodeClaim> c,
                       std::shared_ptr<const model::NodeClass> n) -> base::Task<void> {
    co_await in.create(std::move(c), std::move(n));
  }(*cloud, of, the_class));
  loop.run_for(7ms);  // the order has arrived, its answer has not
  crash();
  loop.run_for(2s);
  EXPECT_EQ(cce.living(), 1);
  start();
  loop.run_for(1min);
  const auto adopted = insist(of);
  ASSERT_TRUE(adopted) << adopted.error().message;
  EXPECT_EQ(cce.living(), 1);
}

// By its own clock this process began before the claim was created.
TEST_F(HuaweiProvider, ALaunchOfAnotherProcessIsWaitedForThoughOurClockIsBehind) {
  const auto of = claim("a");
  of->meta.creation_timestamp = loop.now() + 87s;
  cloud->inherit(*of->meta.creation_timestamp);
  EXPECT_EQ(create(of).error().kind, ErrorKind::Unavailable);
  loop.run_for(1min);
  ASSERT_TRUE(create(of));
  const auto later = claim("b");
  later->meta.creation_timestamp = *of->meta.creation_timestamp + 1s;
  EXPECT_TRUE(create(later));
}

// Our own request never arrived. Another replica led since then, and may have launched the node.
TEST_F(HuaweiProvider, ALaunchOfAnotherProcessIsWaitedForThoughOursWasInDoubtBefore) {
  const auto of = claim("a");
  cce.next_order = refusal(504, "APIGW.0201", "Backend timeout.");
  EXPECT_FALSE(create(of));
  loop.run_for(1min);
  cloud->inherit(*of->meta.creation_timestamp);
  EXPECT_EQ(create(of).error().kind, ErrorKind::Unavailable);
  EXPECT_EQ(cce.living(), 0);
  loop.run_for(1min);
  ASSERT_TRUE(create(of));
  EXPECT_EQ(cce.living(), 1);
}

// Random ends of the process and random losses: never two nodes for a claim.
RC_GTEST_FIXTURE_PROP(HuaweiProvider, NoClaimEverHasTwoNodes, ()) {
  for (int i = 0; i < 4; ++i) {
    cce.lost_answers = *rc::gen::inRange(0, 2);
    const auto of = claim("claim-" + std::to_string(i));
    auto made = create(of);
    if (*rc::gen::arbitrary<bool>()) {
      crash();
      loop.run_for(2s);
      start();
      loop.run_for(std::chrono::seconds(*rc::gen::inRange(1, 60)));
    }
    made = insist(of);
    RC_ASSERT(made.has_value());
    RC_ASSERT(cce.living() == i + 1);
  }
}

TEST_F(HuaweiProvider, SoldOutOfferingsAreMarkedAndTheNextIsTried) {
  cce.sold_out = {{"c9.large.4", "az-a"}, {"c9.large.4", "az-b"}};
  const auto made = create(claim("a"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at("node.kubernetes.io/instance-type"), "c9.xlarge.4");
  EXPECT_EQ(cce.orders, 3);
  ASSERT_TRUE(create(claim("b")));
  EXPECT_EQ(cce.orders, 4) << "the marks hold";
  cce.sold_out.clear();
  loop.run_for(6min);
  const auto later = create(claim("c"));
  ASSERT_TRUE(later);
  EXPECT_EQ(later->labels.at("node.kubernetes.io/instance-type"), "c9.large.4");
}

// The next leader finds no node of such an order, and makes its own.
TEST_F(HuaweiProvider, NothingMoreIsOrderedAfterTheTerm) {
  cloud->set_may_buy([this] { return cce.orders == 0; });
  cce.sold_out = {{"c9.large.4", "az-a"}};
  const auto of = claim("a");
  const auto made = create(of);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::Unavailable) << "another kind may give the claim up";
  EXPECT_EQ(made.error().message, "NodeClaim a: cce create node: not asked, the term is over");
  EXPECT_EQ(cce.orders, 1);
  cloud->set_may_buy([] { return true; });
  EXPECT_TRUE(create(of)) << "what was not asked for leaves no doubt";
  EXPECT_EQ(cce.living(), 1);
}

TEST_F(HuaweiProvider, WhenAllIsSoldOutItSaysSo) {
  cce.sold_out = {{"c9.large.4", "az-a"},
                  {"c9.large.4", "az-b"},
                  {"c9.xlarge.4", "az-a"},
                  {"c9.xlarge.4", "az-b"}};
  const auto made = create(claim("a"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::NoCapacity);
  EXPECT_THAT(made.error().message, HasSubstr("CCE_CM.0021"));
}

TEST_F(HuaweiProvider, AFlavorThatTheNetworkCannotHaveIsMarkedInEveryZone) {
  cce.next_order = refusal(400, "CCE.01400025", "no");
  const auto made = create(claim("a"));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->labels.at("node.kubernetes.io/instance-type"), "c9.xlarge.4");
  EXPECT_EQ(cce.orders, 2);
}

TEST_F(HuaweiProvider, QuotasEndTheAttemptAndSecretsAreHidden) {
  cce.next_order = refusal(403, "CCE.03403001", std::string("quota exceeded for ") + kPassword);
  const auto made = create(claim("a"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::Denied);
  EXPECT_THAT(made.error().message, HasSubstr("higher quota"));
  EXPECT_THAT(made.error().message, Not(HasSubstr(kPassword)));
  EXPECT_EQ(cce.orders, 1);
  EXPECT_TRUE(create(claim("a"))) << "a refusal leaves no doubt";
}

TEST_F(HuaweiProvider, NodesAreReadListedAndEnded) {
  const auto of = claim("a");
  const auto made = create(of);
  ASSERT_TRUE(made);
  cce.nodes["by-hand"] = {model::parse_json(R"({"spec":{"flavor":"s7.large.2"}})").value()};
  const auto listed = wait(loop, cloud->list());
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 1U) << "nodes of others are left alone";
  EXPECT_EQ(listed->front().node_claim, "a");
  EXPECT_EQ(listed->front().node_pool, "pool");
  auto ended = std::make_shared<model::NodeClaim>(*of);
  ended->provider_id = made->provider_id;
  EXPECT_TRUE(wait(loop, cloud->remove(ended)));
  EXPECT_TRUE(wait(loop, cloud->get("u1"))->terminating);
  EXPECT_TRUE(wait(loop, cloud->remove(ended))) << "under way";
  cce.finish_deletions();
  EXPECT_EQ(wait(loop, cloud->remove(ended)).error().kind, ErrorKind::NotFound);
  EXPECT_EQ(wait(loop, cloud->get("u1")).error().kind, ErrorKind::NotFound);
}

TEST_F(HuaweiProvider, AClaimWithoutAnIdIsEndedByItsTag) {
  const auto of = claim("a");
  EXPECT_EQ(wait(loop, cloud->remove(of)).error().kind, ErrorKind::NotFound);
  ASSERT_TRUE(create(of));
  EXPECT_TRUE(wait(loop, cloud->remove(of)));
  EXPECT_EQ(cce.living(), 0);
}

TEST_F(HuaweiProvider, DriftIsTheClassesOrTheSubnets) {
  const auto of = claim("a");
  const auto made = create(of);
  ASSERT_TRUE(made);
  auto running = std::make_shared<model::NodeClaim>(*of);
  running->provider_id = made->provider_id;
  running->meta.annotations = made->annotations;
  EXPECT_EQ(*wait(loop, cloud->drift(running, the_class)), "");
  auto elsewhere = std::make_shared<model::NodeClass>(*the_class);
  elsewhere->status = model::parse_json(R"({"subnets":[{"id":"subnet-2"}]})").value();
  EXPECT_EQ(*wait(loop, cloud->drift(running, elsewhere)), "SubnetDrift");
  auto other = std::make_shared<model::NodeClass>(*the_class);
  other->spec.as_object()["runtimeConfiguration"] = {{"type", "docker"}};
  EXPECT_EQ(*wait(loop, cloud->drift(running, other)), "NodeClassDrift");
  running->meta.annotations[std::string(kHashVersionAnnotation)] = "v3";
  EXPECT_EQ(*wait(loop, cloud->drift(running, other)), "") << "another version cannot be compared";
}

TEST_F(HuaweiProvider, DefaultsThatAreWrittenOutDoNotDrift) {
  auto written = std::make_shared<model::NodeClass>(*the_class);
  written->spec.as_object()["runtimeConfiguration"] = {{"type", "containerd"}};
  written->spec.at("blockDeviceMappings").as_object()["k8s"] = {{"volumeSize", 100},
                                                                {"volumeType", "SSD"}};
  written->spec.as_object()["subnetSelectorTerms"] = boost::json::array{};
  EXPECT_EQ(hash_stamp(*written), hash_stamp(*the_class));
  EXPECT_THAT(hash_stamp(*written).hash, Not(HasSubstr("JDYk")));
}

TEST_F(HuaweiProvider, AClassIsReadyWhenItsSubnetsAreThere) {
  auto state = wait(loop, cloud->resolve(the_class));
  ASSERT_TRUE(state);
  EXPECT_TRUE(state->ready) << state->message;
  EXPECT_EQ(boost::json::serialize(state->status), R"({"subnets":[{"id":"subnet-1"}]})");
  auto wrong = std::make_shared<model::NodeClass>(*the_class);
  wrong->spec.as_object()["subnetSelectorTerms"] =
      boost::json::array{{{"name", "nodes"}, {"id", "subnet-2"}}};
  state = wait(loop, cloud->resolve(wrong));
  ASSERT_TRUE(state);
  EXPECT_FALSE(state->ready);
  EXPECT_EQ(state->reason, "SubnetsNotFound");
  auto clear = std::make_shared<model::NodeClass>(*the_class);
  clear->spec.as_object()["login"] = {{"userPassword", {{"password", "Hush-1234"}}}};
  state = wait(loop, cloud->resolve(clear));
  EXPECT_EQ(state->reason, "InvalidSpec");
  EXPECT_THAT(state->message, HasSubstr("spec.login.userPassword.password"));
  EXPECT_THAT(state->message, Not(HasSubstr("Hush")));
}

// An order each, because CCE makes a request's nodes with equal tags; and nothing else.
TEST_F(HuaweiProvider, TwoHundredClaimsAreTwoHundredCalls) {
  loop.run_for(40s);  // past what is asked again every half minute
  http.requests.clear();
  Burst burst(loop, *cloud, the_class);
  const auto took = burst.launch(200);
  EXPECT_EQ(burst.different().size(), 200U);
  EXPECT_EQ(cce.living(), 200);
  EXPECT_EQ(cce.calls["POST nodes"], 200);
  EXPECT_EQ(http.requests.size(), 200U);
  EXPECT_LT(took, 16s);
}

TEST_F(HuaweiProvider, BrokenNodesAreThoseOfTheSimulatedCloud) {
  const auto simulated = SimulatedCloud::make(loop, Profile::Huawei, {});
  ASSERT_TRUE(simulated);
  EXPECT_EQ(cloud->repair_policies().data(), (*simulated)->repair_policies().data());
}

TEST_F(HuaweiProvider, ACatalogThatCannotBeReadKeepsTheLastGoodOne) {
  http.handler = [](const net::ClientRequest&) { return net::Response::text(503, "<html>"); };
  loop.run_for(13h);
  const auto types = cloud->instance_types({}, *the_class);
  ASSERT_TRUE(types);
  EXPECT_EQ((*types)->size(), 2U);
}

TEST_F(HuaweiProvider, SettingsThatAreMissingAreNamed) {
  const auto make = [&](std::map<std::string, std::string> variables) {
    return make_huawei_cloud(loop, http, {},
                             [variables](const std::string& name) -> std::optional<std::string> {
                               const auto found = variables.find(name);
                               return found == variables.end() ? std::nullopt
                                                               : std::optional(found->second);
                             },
                             metrics, {});
  };
  EXPECT_THAT(make({}).error().message, HasSubstr("HUAWEICLOUD_SDK_REGION_ID"));
  EXPECT_THAT(make({{"HUAWEICLOUD_SDK_REGION_ID", "r"}}).error().message,
              HasSubstr("HUAWEICLOUD_SDK_CCE_CLUSTER_ID"));
  EXPECT_TRUE(make({{"HUAWEICLOUD_SDK_REGION_ID", "r"}, {"HUAWEICLOUD_SDK_CCE_CLUSTER_ID", "c"}}));
}

}  // namespace
}  // namespace millwright::cloud::huawei
