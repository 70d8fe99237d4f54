#include "cloud/alibaba/launch/launcher.hpp"
#include "cloud/alibaba/launch/user_data.hpp"
#include "millwright/base/base64.hpp"
#include "millwright/model/codec.hpp"
#include "unit/cloud/alibaba/fakes/fake_cloud.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::alibaba {
namespace {

using base::ErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr const char* kStatus = R"({
  "vSwitches":[{"id":"vsw-1","zoneID":"z1"},{"id":"vsw-1b","zoneID":"z1"},
               {"id":"vsw-2","zoneID":"z2"}],
  "securityGroups":[{"id":"sg-1","name":"n"},{"id":"sg-2","name":"m"}],
  "images":[{"id":"m-1","name":"n","requirements":[
    {"key":"kubernetes.io/arch","operator":"In","values":["amd64"]}]}]})";
constexpr const char* kScript =
    "#!/bin/sh\\ncurl http://x/attach_node.sh | bash -s -- --token abc.def --endpoint 10.0.0.1";

std::shared_ptr<model::NodeClass> launch_class(const std::string& spec = "{}") {
  auto made = std::make_shared<model::NodeClass>();
  made->meta.name = "main";
  made->spec = model::parse_json(spec).value();
  made->status = model::parse_json(kStatus).value();
  return made;
}

std::shared_ptr<model::NodeClaim> launch_claim(std::vector<std::string> capacity_types) {
  auto claim = std::make_shared<model::NodeClaim>();
  claim->meta.name = "pool-abc";
  claim->meta.uid = "11111111-2222-3333-4444-555555555555";
  claim->meta.labels = {{"karpenter.sh/nodepool", "pool"}};
  auto& requirement = claim->requirements.emplace_back();
  requirement.key = model::kCapacityTypeLabel;
  requirement.values = std::move(capacity_types);
  return claim;
}

TypeFacts type_of(const std::string& name, std::int64_t cpus) {
  TypeFacts type;
  type.name = name;
  type.family = "ecs.g7";
  type.arch = "amd64";
  type.cpus = cpus;
  type.memory_mib = cpus * 4096;
  type.enis = 4;
  type.addresses_per_eni = 10;
  return type;
}

class AlibabaLaunchTest : public FakeCloudTest {
 protected:
  AlibabaLaunchTest()
      : catalog("cn-hangzhou", {}),
        resolver(api),
        restock(loop, catalog.unavailable(), [this] { catalog.changed(); }),
        launcher({.api = api,
                  .catalog = catalog,
                  .restock = restock,
                  .resolver = resolver,
                  .cluster_id = "c1",
                  .log = {}}) {
    catalog.set_types({type_of("ecs.g7.large", 2), type_of("ecs.g7.xlarge", 4)});
    const StockByType stock{{"ecs.g7.large", {{"z1", true}, {"z2", true}}},
                            {"ecs.g7.xlarge", {{"z1", true}}}};
    catalog.set_stock(stock, stock);
    catalog.prices().set_on_demand({{"ecs.g7.large", 1.0}, {"ecs.g7.xlarge", 2.0}});
    catalog.prices().set_spot(
        {{"ecs.g7.large", {{"z1", 0.3}, {"z2", 0.2}}}, {"ecs.g7.xlarge", {{"z1", 0.5}}}});
    on("DescribeClusterAttachScripts", {'"' + std::string(kScript) + '"'});
    on("DescribeInstances", {R"({"Instances":{"Instance":[]}})"});
    succeed();
  }
  void succeed() {
    on("CreateAutoProvisioningGroup", {R"({"LaunchResults":{"LaunchResult":[
      {"InstanceType":"ecs.g7.large","ZoneId":"z2","SpotStrategy":"SpotAsPriceGo",
       "InstanceIds":{"InstanceId":["i-1"]}}]}})"});
  }
  base::Result<Launched> launch(const std::string& spec = "{}") {
    return wait(loop, launcher.launch(claim, launch_class(spec)));
  }
  bool is_marked(const std::string& type, const std::string& zone) {
    return catalog.unavailable().is_marked(type, zone, "spot", loop.now());
  }

  Catalog catalog;
  Resolver resolver;
  Restock restock;
  Launcher launcher;
  std::shared_ptr<model::NodeClaim> claim = launch_claim({"spot", "on-demand"});
};

TEST_F(AlibabaLaunchTest, OneCallOffersTheCheapestCandidatesFirst) {
  const auto launched = launch();
  ASSERT_TRUE(launched) << launched.error().message;
  EXPECT_EQ(launched->instance_id, "i-1");
  EXPECT_EQ(launched->zone, "z2");
  EXPECT_EQ(launched->capacity_type, "spot");
  const auto requests = asked("CreateAutoProvisioningGroup");
  ASSERT_EQ(requests.size(), 1U);
  const auto value = [&](const std::string& name) { return parameter(requests[0], name); };
  EXPECT_EQ(value("SpotTargetCapacity"), "1");
  EXPECT_EQ(value("PayAsYouGoTargetCapacity"), "0");
  EXPECT_EQ(value("LaunchTemplateConfig.1.InstanceType"), "ecs.g7.large");
  EXPECT_EQ(value("LaunchTemplateConfig.1.VSwitchId"), "vsw-2");
  EXPECT_EQ(value("LaunchTemplateConfig.2.VSwitchId"), "vsw-1");
  EXPECT_EQ(value("LaunchTemplateConfig.3.InstanceType"), "ecs.g7.xlarge");
  EXPECT_EQ(value("LaunchConfiguration.SecurityGroupIds.2"), "sg-2");
  EXPECT_EQ(value("LaunchConfiguration.ImageId"), "m-1");
  EXPECT_THAT(value("ClientToken"), testing::StartsWith(claim->meta.uid + "-"));
  EXPECT_LE(value("ClientToken").size(), 64U);
  const auto script = base::decode_base64(value("LaunchConfiguration.UserData")).value();
  EXPECT_THAT(script, HasSubstr("--token abc.def --endpoint 10.0.0.1 --labels k8s.aliyun.com=true,"
                                "ack.aliyun.com=c1,karpenter.sh/nodepool=pool --taints "
                                "karpenter.sh/unregistered=:NoExecute\n"));
  EXPECT_THAT(requests[0].url, HasSubstr(net::url_encode("kubernetes.io/cluster/c1")));
}

TEST_F(AlibabaLaunchTest, OnDemandIsBoughtWhereSpotIsNotAllowed) {
  claim = launch_claim({"on-demand"});
  ASSERT_TRUE(launch());
  const auto request = asked("CreateAutoProvisioningGroup").at(0);
  EXPECT_EQ(parameter(request, "PayAsYouGoTargetCapacity"), "1");
}

TEST_F(AlibabaLaunchTest, TheSameQuestionHasTheSameTokenAfterALostReply) {
  answers["CreateAutoProvisioningGroup"] = {net::Response::text(200, "{\"Launch"),
                                            answers["CreateAutoProvisioningGroup"].front()};
  const auto lost = launch();
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().kind, ErrorKind::Unavailable);
  // What the catalog says meanwhile does not change the question.
  catalog.unavailable().mark("ecs.g7.large", "z2", "spot", loop.now());
  catalog.changed();
  ASSERT_TRUE(launch());
  const auto requests = asked("CreateAutoProvisioningGroup");
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].url, requests[1].url);
}

// Neither within a call, whose attempts these are, nor in the next call.
TEST_F(AlibabaLaunchTest, ARefusalSaysNothingOfAnAttemptWhoseAnswerWasLost) {
  const std::string action = "CreateAutoProvisioningGroup";
  const auto throttled = rpc_error("Throttling.User", 400);
  const auto made = answers[action].front();
  answers[action] = {net::Response::text(500, "<html>"),
                     throttled,
                     throttled,
                     throttled,
                     throttled,
                     throttled,
                     made};
  for (int call = 0; call < 2; ++call) {
    ASSERT_EQ(launch().error().kind, ErrorKind::Throttled);
    catalog.unavailable().mark("ecs.g7.large", call == 0 ? "z2" : "z1", "spot", loop.now());
    catalog.changed();
  }
  ASSERT_TRUE(launch());
  std::set<std::string> tokens;
  for (const auto& request : asked(action)) {
    tokens.insert(parameter(request, "ClientToken"));
  }
  EXPECT_EQ(asked(action).size(), 7U);
  EXPECT_EQ(tokens.size(), 1U);
}

// Another process has another script, and so another token: it would get a second instance.
TEST_F(AlibabaLaunchTest, NothingMoreIsAskedForAfterTheTerm) {
  const std::string action = "CreateAutoProvisioningGroup";
  api.set_may_buy([this, action] { return asked(action).empty(); });
  answers[action].push_front(rpc_error("Throttling.User", 400));
  const auto refused = launch();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::Unavailable) << "another kind may give the claim up";
  EXPECT_THAT(refused.error().message, HasSubstr("not asked, the term is over"));
  EXPECT_EQ(asked(action).size(), 1U);
}

TEST_F(AlibabaLaunchTest, NoFurtherCandidateIsAskedForAfterTheTerm) {
  refuse("CreateAutoProvisioningGroup", "Forbidden.RAM", 403);
  refuse("RunInstances", "OperationDenied.NoStock", 403);
  api.set_may_buy([this] { return asked("RunInstances").empty(); });
  EXPECT_EQ(launch().error().kind, ErrorKind::Unavailable);
  EXPECT_EQ(asked("RunInstances").size(), 1U);
}

TEST_F(AlibabaLaunchTest, WhatIsSoldOutIsMarkedAndAskedForNoMore) {
  on("CreateAutoProvisioningGroup", {R"({"LaunchResults":{"LaunchResult":[
    {"InstanceType":"ecs.g7.large","ZoneId":"z2","ErrorCode":"NoInstanceStock","ErrorMsg":"no"},
    {"InstanceType":"ecs.g7.large","ZoneId":"z1","ErrorCode":"OperationDenied.NoStock"}]}})"});
  const auto refused = launch();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::NoCapacity);
  EXPECT_THAT(refused.error().message, HasSubstr("ecs.g7.large in z2: NoInstanceStock"));
  EXPECT_TRUE(is_marked("ecs.g7.large", "z1"));
  EXPECT_TRUE(is_marked("ecs.g7.large", "z2"));
  EXPECT_FALSE(is_marked("ecs.g7.xlarge", "z1"));
  succeed();
  ASSERT_TRUE(launch());
  const auto requests = asked("CreateAutoProvisioningGroup");
  EXPECT_EQ(parameter(requests[1], "LaunchTemplateConfig.1.InstanceType"), "ecs.g7.xlarge");
  EXPECT_NE(parameter(requests[0], "ClientToken"), parameter(requests[1], "ClientToken"));
}

TEST_F(AlibabaLaunchTest, AnAccountInTroubleBlamesNoOffering) {
  on("CreateAutoProvisioningGroup", {R"({"LaunchResults":{"LaunchResult":[
    {"InstanceType":"ecs.g7.large","ZoneId":"z2",
     "ErrorCode":"InvalidAccountStatus.NotEnoughBalance"}]}})"});
  const auto refused = launch();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::Denied);
  EXPECT_THAT(refused.error().message, HasSubstr("nothing can be bought until"));
  EXPECT_FALSE(is_marked("ecs.g7.large", "z2"));
}

TEST_F(AlibabaLaunchTest, AQuotaIsOfAllZones) {
  on("CreateAutoProvisioningGroup", {R"({"LaunchResults":{"LaunchResult":[
    {"InstanceType":"ecs.g7.large","ZoneId":"z2","ErrorCode":"QuotaExceed.Spot"}]}})"});
  EXPECT_EQ(launch().error().kind, ErrorKind::NoCapacity);
  EXPECT_TRUE(is_marked("ecs.g7.large", "z1"));
}

TEST_F(AlibabaLaunchTest, WithoutPermissionForGroupsCandidatesAreTriedOneByOne) {
  refuse("CreateAutoProvisioningGroup", "Forbidden.RAM", 403);
  answers["RunInstances"] = {
      rpc_error("OperationDenied.NoStock", 403),
      net::Response::json(200, R"({"InstanceIdSets":{"InstanceIdSet":["i-7"]}})")};
  const auto launched = launch();
  ASSERT_TRUE(launched) << launched.error().message;
  EXPECT_EQ(launched->instance_id, "i-7");
  EXPECT_EQ(launched->zone, "z1");
  EXPECT_TRUE(is_marked("ecs.g7.large", "z2"));
  EXPECT_EQ(parameter(asked("RunInstances")[1], "SpotStrategy"), "SpotAsPriceGo");
  EXPECT_TRUE(launch());
  EXPECT_EQ(asked("CreateAutoProvisioningGroup").size(), 1U);
}

// What a call before may have launched shows within 30 seconds.
TEST_F(AlibabaLaunchTest, WithoutPermissionALostAnswerHoldsUpAClaimForHalfAMinute) {
  answers["CreateAutoProvisioningGroup"] = {net::Response::text(500, "<html>"),
                                            rpc_error("Forbidden.RAM", 403)};
  on("RunInstances", {R"({"InstanceIdSets":{"InstanceIdSet":["i-7"]}})"});
  ASSERT_FALSE(launch());
  EXPECT_TRUE(asked("RunInstances").empty());
  loop.run_for(std::chrono::seconds(30));
  const auto launched = launch();
  ASSERT_TRUE(launched) << launched.error().message;
  EXPECT_EQ(launched->instance_id, "i-7");
}

// It may still launch what it asked for.
TEST_F(AlibabaLaunchTest, NoOtherCandidateIsAskedForWhileACallMayStillArrive) {
  refuse("CreateAutoProvisioningGroup", "Forbidden.RAM", 403);
  answers["RunInstances"] = {net::Response::text(500, "<html>"), net::Response::text(500, "<html>"),
                             net::Response::text(500, "<html>"),
                             rpc_error("OperationDenied.NoStock", 403),
                             net::Response::json(200, R"({"InstanceIdSets":{}})")};
  for (int call = 0; call < 3 && asked("RunInstances").size() < 4; ++call) {
    EXPECT_FALSE(launch());
  }
  std::set<std::string> tokens;
  for (const auto& request : asked("RunInstances")) {
    tokens.insert(parameter(request, "ClientToken"));
  }
  EXPECT_EQ(asked("RunInstances").size(), 4U);
  EXPECT_EQ(tokens.size(), 1U);
}

TEST_F(AlibabaLaunchTest, WhatAGroupCannotCarryIsLaunchedOneByOne) {
  on("RunInstances", {R"({"InstanceIdSets":{"InstanceIdSet":["i-7"]}})"});
  ASSERT_TRUE(launch(R"({"metadataOptions":{"httpTokens":"required"},
                         "systemDisk":{"categories":["cloud_essd"],"encrypted":true}})"));
  const auto request = asked("RunInstances").at(0);
  EXPECT_EQ(parameter(request, "HttpTokens"), "required");
  EXPECT_EQ(parameter(request, "SystemDisk.Encrypted"), "true");
  EXPECT_TRUE(asked("CreateAutoProvisioningGroup").empty());
}

// Its role may be what RAM refuses, and a policy is mended some day.
TEST_F(AlibabaLaunchTest, GroupsAreAskedForAgainByOtherClassesAndAfterAnHour) {
  const std::string group = "CreateAutoProvisioningGroup";
  on("RunInstances", {R"({"InstanceIdSets":{"InstanceIdSet":["i-7"]}})"});
  refuse(group, "Forbidden.RAM", 403);
  ASSERT_TRUE(launch());
  succeed();
  auto other = launch_class();
  other->meta.name = "other";
  ASSERT_TRUE(wait(loop, launcher.launch(claim, other)));
  EXPECT_EQ(asked(group).size(), 2U);
  ASSERT_TRUE(launch());
  EXPECT_EQ(asked(group).size(), 2U) << "of the class that was refused";
  loop.run_for(1h);
  ASSERT_TRUE(launch());
  EXPECT_EQ(asked(group).size(), 3U);
}

constexpr const char* kTwoDisks = R"({"metadataOptions":{"httpTokens":"required"},
                                      "systemDisk":{"categories":["cloud","cloud_essd"]}})";

class AlibabaDisksTest : public AlibabaLaunchTest {
 protected:
  std::vector<std::string> asked_disks() const {
    std::vector<std::string> result;
    for (const auto& request : asked("RunInstances")) {
      result.push_back(parameter(request, "InstanceType") + " " +
                       parameter(request, "SystemDisk.Category"));
    }
    return result;
  }
  bool is_offered(const std::string& spec, const std::string& name, const std::string& zone) {
    const auto node_class = launch_class(spec);
    node_class->meta.name = name;
    const auto types = catalog.types(*node_class, {}, loop.now());
    const auto& offerings = scheduling::find_type(types, "ecs.g7.large")->offerings;
    return std::any_of(offerings.begin(), offerings.end(), [&](const auto& each) {
      return each.zone() == zone && each.capacity_type() == model::kSpot && each.available;
    });
  }
  const net::Response refusal = rpc_error("InvalidSystemDiskCategory.ValueNotSupported", 403);
  const net::Response made =
      net::Response::json(200, R"({"InstanceIdSets":{"InstanceIdSet":["i-7"]}})");
};

TEST_F(AlibabaDisksTest, ThatATypeDoesNotTakeLeadToTheNextOfTheList) {
  answers["RunInstances"] = {refusal, made};
  const auto launched = launch(kTwoDisks);
  ASSERT_TRUE(launched) << launched.error().message;
  EXPECT_THAT(asked_disks(), ElementsAre("ecs.g7.large cloud", "ecs.g7.large cloud_essd"));
  const auto requests = asked("RunInstances");
  EXPECT_NE(parameter(requests[0], "ClientToken"), parameter(requests[1], "ClientToken"));
  EXPECT_FALSE(is_marked("ecs.g7.large", "z2"));
  ASSERT_TRUE(launch(kTwoDisks));
  EXPECT_EQ(asked_disks().back(), "ecs.g7.large cloud_essd");
  EXPECT_EQ(asked_disks().size(), 3U) << "what was refused is remembered";
  loop.run_for(1h);
  answers["RunInstances"] = {made};
  ASSERT_TRUE(launch(kTwoDisks));
  EXPECT_EQ(asked_disks().back(), "ecs.g7.large cloud");
}

TEST_F(AlibabaDisksTest, OfNoKindLeadToTheNextCandidate) {
  answers["RunInstances"] = {refusal, refusal, made};
  const auto launched = launch(kTwoDisks);
  ASSERT_TRUE(launched) << launched.error().message;
  EXPECT_EQ(launched->zone, "z1");
  EXPECT_FALSE(is_offered(kTwoDisks, "main", "z2"));
  EXPECT_TRUE(is_offered(kTwoDisks, "main", "z1"));
  EXPECT_TRUE(is_offered("{}", "other", "z2")) << "whose disks are other ones";
  answers["RunInstances"] = {refusal};
  loop.run_for(4min);
  const auto refused = launch(kTwoDisks);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::NoCapacity) << "others are planned";
  EXPECT_THAT(refused.error().message, HasSubstr("spec.systemDisk.categories"));
}

// The same request has the same token.
TEST_F(AlibabaDisksTest, AreTheSameInACallThatIsRepeated) {
  answers["RunInstances"] = {refusal, net::Response::text(200, "{\"Instance"), refusal, made};
  EXPECT_EQ(launch(kTwoDisks).error().kind, ErrorKind::Unavailable);
  EXPECT_FALSE(launch(kTwoDisks)) << "the call before may have bought a machine all the same";
  const auto launched = launch(kTwoDisks);
  ASSERT_TRUE(launched) << launched.error().message;
  const auto requests = asked("RunInstances");
  ASSERT_EQ(requests.size(), 4U);
  const auto token = [&](std::size_t number) { return parameter(requests[number], "ClientToken"); };
  EXPECT_EQ(token(1), token(2));
  EXPECT_EQ(token(2), token(3));
}

TEST_F(AlibabaLaunchTest, AnInstanceOfTheClaimIsAdopted) {
  claim->meta.creation_timestamp = kStart - 1min;  // in another process' time
  const auto waiting = wait(loop, launcher.adopt(claim));
  EXPECT_EQ(waiting.error().kind, ErrorKind::Unavailable);
  EXPECT_THAT(waiting.error().message, HasSubstr("waiting for it to show"));
  loop.run_for(30s);
  EXPECT_EQ(wait(loop, launcher.adopt(claim)).error().kind, ErrorKind::NotFound);
  on("DescribeInstances", {R"({"Instances":{"Instance":[
    {"InstanceId":"i-5","InstanceType":"ecs.g7.large","ZoneId":"z1","ImageId":"m-1",
     "Tags":{"Tag":[{"TagKey":"millwright.io/nodeclaim-uid","TagValue":"another"}]}},
    {"InstanceId":"i-6","InstanceType":"ecs.g7.large","ZoneId":"z1","ImageId":"m-1",
     "Tags":{"Tag":[{"TagKey":"millwright.io/nodeclaim-uid",
                     "TagValue":"11111111-2222-3333-4444-555555555555"}]}}]}})"});
  EXPECT_EQ(wait(loop, launcher.adopt(claim))->instance_id, "i-6");
}

// Our own request is in doubt. Another replica led since then, and may have launched the instance.
TEST_F(AlibabaLaunchTest, AnInstanceOfAnotherProcessIsWaitedForThoughOursIsInDoubt) {
  claim->meta.creation_timestamp = kStart;
  answers["CreateAutoProvisioningGroup"] = {net::Response::text(200, "{\"Launch")};
  ASSERT_FALSE(launch());
  EXPECT_EQ(wait(loop, launcher.adopt(claim)).error().kind, ErrorKind::NotFound);
  loop.run_for(1min);
  launcher.inherit(loop.now(), *claim->meta.creation_timestamp);
  EXPECT_EQ(wait(loop, launcher.adopt(claim)).error().kind, ErrorKind::Unavailable);
  loop.run_for(30s);
  EXPECT_EQ(wait(loop, launcher.adopt(claim)).error().kind, ErrorKind::NotFound);
}

// The claim's status could not be written after the instance was found.
TEST_F(AlibabaLaunchTest, WhatWasFoundAfterALostReplyIsRemembered) {
  answers["CreateAutoProvisioningGroup"] = {net::Response::text(200, "{\"Launch")};
  ASSERT_FALSE(launch());
  on("DescribeInstances", {R"({"Instances":{"Instance":[
    {"InstanceId":"i-6","InstanceType":"ecs.g7.large","ZoneId":"z1","ImageId":"m-1",
     "Tags":{"Tag":[{"TagKey":"millwright.io/nodeclaim-uid",
                     "TagValue":"11111111-2222-3333-4444-555555555555"}]}}]}})"});
  for (int time = 0; time < 2; ++time) {
    const auto adopted = wait(loop, launcher.adopt(claim));
    ASSERT_TRUE(adopted) << adopted.error().message;
    EXPECT_EQ(adopted->instance_id, "i-6");
  }
}

TEST_F(AlibabaLaunchTest, WhatWasLaunchedLatelyIsRemembered) {
  ASSERT_TRUE(launch());
  // ECS lists nothing of it yet, and would launch another: something else is cheapest by now.
  EXPECT_EQ(wait(loop, launcher.adopt(claim))->instance_id, "i-1");
  launcher.forget(claim->meta.uid);
  EXPECT_EQ(wait(loop, launcher.adopt(claim)).error().kind, ErrorKind::NotFound);
  EXPECT_TRUE(asked("DescribeInstances").empty()) << "a new claim has nothing to be found";
}

TEST_F(AlibabaLaunchTest, ABalancedClassGoesWhereMostAddressesAreFree) {
  on("DescribeVSwitches", {R"({"VSwitches":{"VSwitch":[
    {"VSwitchId":"vsw-1","ZoneId":"z1","AvailableIpAddressCount":3},
    {"VSwitchId":"vsw-1b","ZoneId":"z1","AvailableIpAddressCount":90},
    {"VSwitchId":"vsw-2","ZoneId":"z2","AvailableIpAddressCount":5}]},"TotalCount":3})"});
  auto selecting = launch_class(R"({"vSwitchSelectorTerms":[{"tags":{"a":"b"}}]})");
  ASSERT_TRUE(wait(loop, resolver.resolve(selecting, "1.31")));
  ASSERT_TRUE(launch(R"({"vSwitchSelectionPolicy":"balanced"})"));
  const auto request = asked("CreateAutoProvisioningGroup").at(0);
  EXPECT_EQ(parameter(request, "LaunchTemplateConfig.1.VSwitchId"), "vsw-1b");
  EXPECT_EQ(parameter(request, "LaunchTemplateConfig.2.VSwitchId"), "vsw-1b");
}

TEST_F(AlibabaLaunchTest, APageInPlaceOfAScriptLaunchesNothing) {
  answers["DescribeClusterAttachScripts"] = {net::Response::text(200, "<html>secret</html>")};
  const auto refused = launch();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, Not(HasSubstr("secret")));
  EXPECT_TRUE(asked("CreateAutoProvisioningGroup").empty());
}

TEST(AlibabaUserData, OwnDataFollowsAsAPartOfItsOwn) {
  const auto claim = launch_claim({"spot"});
  const auto spec =
      read_spec(*launch_class(R"({"userData":"echo hi","kubeletConfiguration":{"maxPods":20}})"));
  const UserDataInput input{.claim = *claim,
                            .spec = spec,
                            .cluster_id = "c1",
                            .attach_script = "curl x | bash -s -- --token t\r\n"};
  const auto text = make_user_data(input).value();
  EXPECT_THAT(text, HasSubstr("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="));
  EXPECT_THAT(text, HasSubstr("#!/bin/sh\ncurl x | bash -s -- --token t --labels "));
  EXPECT_THAT(text, HasSubstr("--node-config " +
                              base::encode_base64(R"({"kubelet_config":{"maxPods":20}})")));
  EXPECT_THAT(text, HasSubstr("\n\n#!/bin/sh\necho hi\n--"));
}

TEST(AlibabaUserData, NothingBecomesACommandOfAShell) {
  const auto claim = launch_claim({"spot"});
  const auto spec = read_spec(*launch_class());
  const UserDataInput input{
      .claim = *claim, .spec = spec, .cluster_id = "c1", .attach_script = "curl x --token t"};
  claim->meta.labels["a"] = "b;reboot";
  EXPECT_THAT(make_user_data(input).error().message, HasSubstr("label \"a\""));
  claim->meta.labels.erase("a");
  claim->taints.push_back({.key = "$(reboot)", .value = "", .effect = "NoSchedule"});
  EXPECT_THAT(make_user_data(input).error().message, HasSubstr("taint \"$(reboot)\""));
}

}  // namespace
}  // namespace millwright::cloud::alibaba
