// What the adapter does, over real HTTP and with signatures that are verified.
#include "adapter_fixture.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/model/kinds.hpp"

#include <fstream>

namespace millwright::cloud {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(AlibabaAdapter, AClaimsWholeLife) {
  start();
  const auto claim = claim_named("whole-life");
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->provider_id, StartsWith("cn-hangzhou.i-"));
  EXPECT_EQ(made->labels.at("node.kubernetes.io/instance-type"), "ecs.g7.large");
  EXPECT_EQ(made->labels.at("karpenter.sh/capacity-type"), "on-demand");
  const auto again = create(claim);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->provider_id, made->provider_id);
  EXPECT_EQ(launched_for("whole-life"), 1);

  const auto tags = machine(made->provider_id).at("tags").as_object();
  EXPECT_EQ(tags.at("kubernetes.io/cluster/" + std::string(kCluster)), "owned");
  EXPECT_EQ(tags.at("karpenter.sh/nodepool"), "pool");
  EXPECT_EQ(tags.at("karpenter.sh/nodeclaim"), "whole-life");
  record(*claim, *made);
  const auto listed = list();
  ASSERT_TRUE(listed) << listed.error().message;
  const auto found = std::find_if(listed->begin(), listed->end(), [&](const auto& each) {
    return each.provider_id == made->provider_id;
  });
  ASSERT_NE(found, listed->end());
  EXPECT_EQ(found->node_claim, "whole-life");
  EXPECT_EQ(found->image_id, made->image_id);
  EXPECT_EQ(drift(claim).value(), "");

  EXPECT_TRUE(remove(claim));
  EXPECT_TRUE(is_gone(made->provider_id));
  EXPECT_EQ(remove(claim).error().kind, ErrorKind::NotFound);
  EXPECT_EQ(get(made->provider_id).error().kind, ErrorKind::NotFound);
}

TEST_F(AlibabaAdapter, TypesAndPricesComeFromEveryPage) {
  start();
  const auto types = provider->instance_types({}, *the_class);
  ASSERT_TRUE(types);
  EXPECT_EQ((*types)->size(), 5U);
  EXPECT_TRUE(wait_until([this] { return price_of("ecs.r7.large") != 0; }));
  EXPECT_TRUE(is_available("ecs.g7.large", kZoneH, model::kSpot));
  EXPECT_EQ(the_class->status.at("vSwitches").as_array().size(), 3U);
}

TEST_F(AlibabaAdapter, TerwaysTrunkInterfacesAreOfferedWhereATypeHasThem) {
  start();
  const auto types = provider->instance_types({}, *the_class).value();
  const auto members = [&](std::string_view name) -> std::int64_t {
    const auto* type = scheduling::find_type(types, name);
    return type == nullptr ? -1 : model::get(type->capacity, "aliyun/member-eni").units();
  };
  EXPECT_EQ(members("ecs.g7.large"), 3);
  EXPECT_EQ(members("ecs.g8y.large"), 0);
}

TEST_F(AlibabaAdapter, AZoneThatIsSoldOutIsMarkedAndTheNextZoneTaken) {
  start();
  sell_out("ecs.g7.large", kZoneH);
  const auto made = create(claim_named("next-zone"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at("topology.kubernetes.io/zone"), kZoneI);
  const auto only = claim_named("only-h");
  CloudAdapter::require(*only, model::kZoneLabel, {std::string(kZoneH)});
  const auto refused = create(only);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::NoCapacity);
  EXPECT_THAT(refused.error().message, HasSubstr("only-h"));
  EXPECT_FALSE(is_available("ecs.g7.large", kZoneH, model::kOnDemand));
  EXPECT_TRUE(is_available("ecs.g7.large", kZoneI, model::kOnDemand));
  EXPECT_TRUE(is_available("ecs.g7.large", kZoneH, model::kSpot));
}

TEST_F(AlibabaAdapter, WithoutGroupsItLaunchesOneAfterTheOther) {
  start();
  refuse("CreateAutoProvisioningGroup", "Forbidden.RAM");
  sell_out("ecs.g7.large", kZoneH);
  const auto claim = claim_named("one-by-one");
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at("topology.kubernetes.io/zone"), kZoneI);
  EXPECT_FALSE(is_available("ecs.g7.large", kZoneH, model::kOnDemand));
  EXPECT_EQ(create(claim)->provider_id, made->provider_id);
  EXPECT_EQ(launched_for("one-by-one"), 1);
}

TEST_F(AlibabaAdapter, ThrottlingIsWaitedOut) {
  start();
  order("throttle", "DescribeInstances", 2);
  const auto before = counted("calls", "DescribeInstances");
  EXPECT_TRUE(list());
  EXPECT_GE(counted("calls", "DescribeInstances"), before + 3);
  order("throttle", "CreateAutoProvisioningGroup", 2);
  const auto made = create(claim_named("throttled"));
  EXPECT_TRUE(made) << made.error().message;
  EXPECT_EQ(launched_for("throttled"), 1);
}

TEST_F(AlibabaAdapter, LongThrottlingIsSaidToBeThat) {
  start();
  order("throttle", "CreateAutoProvisioningGroup", 3);
  const auto made = create(claim_named("throttled-long"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::Throttled);
  EXPECT_EQ(launched_for("throttled-long"), 0);
}

TEST_F(AlibabaAdapter, ALostAnswerMakesNoSecondInstance) {
  start();
  order("lose", "CreateAutoProvisioningGroup", 1);
  EXPECT_TRUE(create(claim_named("lost-once")));
  EXPECT_EQ(launched_for("lost-once"), 1);
  order("lose", "CreateAutoProvisioningGroup", 3);
  const auto claim = claim_named("lost-thrice");
  EXPECT_FALSE(create(claim));
  const auto made = insist(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(launched_for("lost-thrice"), 1);
}

TEST_F(AlibabaAdapter, AnotherProcessAdoptsWhatWasLaunched) {
  start();
  order("lose", "CreateAutoProvisioningGroup", 3);
  const auto claim = claim_named("adopted");
  lose_process_with(claim);
  const auto made = insist(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(machine(made->provider_id).at("tags").at("karpenter.sh/nodeclaim"), "adopted");
  EXPECT_EQ(launched_for("adopted"), 1);
}

TEST_F(AlibabaAdapter, AnotherProcessWaitsForAnInstanceThatShowsLate) {
  start();
  wait_out("late", 4);
  order("lose", "CreateAutoProvisioningGroup", 3);
  const auto claim = claim_named("adopted-late");
  lose_process_with(claim);
  const auto made = insist(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(launched_for("adopted-late"), 1);
}

TEST_F(AlibabaAdapter, AnOldListMakesNoSecondInstance) {
  start();
  wait_out("stale", 3'600);
  const auto claim = claim_named("unlisted");
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  // Its status could not be written, and by now another question would be asked.
  const auto zone = made->labels.at("topology.kubernetes.io/zone");
  sell_out("ecs.g7.large", zone);
  const auto marks = claim_named("marks-its-offering");
  CloudAdapter::require(*marks, model::kZoneLabel, {zone});
  EXPECT_EQ(create(marks).error().kind, ErrorKind::NoCapacity);
  const auto again = create(claim);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->provider_id, made->provider_id);
  EXPECT_EQ(launched_for("unlisted"), 1);
}

TEST_F(AlibabaAdapter, WhatAnOldListStillShowsIsEndedAlready) {
  start();
  const auto claim = claim_named("still-listed");
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  record(*claim, *made);
  wait_out("stale", 3'600);
  EXPECT_TRUE(remove(claim));
  EXPECT_TRUE(is_gone(made->provider_id));
  const auto listed = list();
  ASSERT_TRUE(listed);
  for (const auto& each : *listed) {
    EXPECT_EQ(each.terminating, each.provider_id == made->provider_id) << each.provider_id;
  }
  EXPECT_EQ(remove(claim).error().kind, ErrorKind::NotFound) << "ECS knows better than its list";
}

TEST_F(AlibabaAdapter, ASpotInstanceThatIsTakenBackIsTold) {
  start();
  const auto claim = CloudAdapter::claim_named("spot", {"ecs.g7.xlarge"});
  CloudAdapter::require(*claim, model::kZoneLabel, {std::string(kZoneH)});
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at("karpenter.sh/capacity-type"), "spot");
  control("/_facade/recycle",
          json::serialize(json::object{{"instance", id_of(made->provider_id)}}));
  stop();
  start();  // a leader looks at once, then every minute
  EXPECT_TRUE(wait_until([this] { return !told().empty(); })) << records->tail();
  EXPECT_THAT(told(), testing::Contains("spot_interrupted " + made->provider_id));
  EXPECT_FALSE(is_available("ecs.g7.xlarge", kZoneH, model::kSpot));
  EXPECT_TRUE(is_available("ecs.g7.xlarge", kZoneH, model::kOnDemand));
  record(*claim, *made);
  EXPECT_TRUE(remove(claim));
}

TEST_F(AlibabaAdapter, EveryKindOfDriftIsFound) {
  start();
  const auto claim = claim_named("drifts");
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  record(*claim, *made);
  const auto& id = made->provider_id;
  const auto kept = machine(id);
  EXPECT_EQ(drift(claim).value(), "");
  change(id, {{"image", "another.vhd"}});
  EXPECT_EQ(drift(claim).value(), "ImageDrift");
  change(id, {{"image", kept.at("image")}, {"groups", json::array{"sg-1", "sg-2"}}});
  EXPECT_EQ(drift(claim).value(), "SecurityGroupDrift");
  change(id, {{"groups", kept.at("groups")}, {"vswitch", "vsw-9"}});
  EXPECT_EQ(drift(claim).value(), "VSwitchDrift");
  change(id, {{"vswitch", kept.at("vswitch")}});
  EXPECT_EQ(drift(claim).value(), "");
  auto other = std::make_shared<model::NodeClass>(*the_class);
  other->spec.as_object()["tags"] = json::object{{"team", "a"}};
  the_class = other;
  EXPECT_EQ(drift(claim).value(), "NodeClassDrift");
  EXPECT_TRUE(remove(claim));
}

TEST_F(AlibabaAdapter, ImagesOfAFamilyAreRunAndANodeOfAnotherFamilyDrifts) {
  start();
  const auto official_class = [](const std::string& account, const std::string& family) {
    auto of = std::make_shared<model::NodeClass>();
    of->api_version = model::kOfficialEcsNodeClassResource.api_version();
    of->kind = "ECSNodeClass";
    of->meta.name = "official";
    of->spec = model::parse_json(R"({"vSwitchSelectorTerms":[{"tags":{"a":"b"}}],
      "securityGroupSelectorTerms":[{"tags":{"a":"b"}}],
      "imageSelectorTerms":[{"imageFamily":")" +
                                 family + R"(","imageOwnerID":")" + account + "\"}]}")
                   .value();
    return of;
  };
  constexpr const char* kAccount = "1000000000000001";
  constexpr const char* kNeighbour = "1000000000000002";
  resolve(official_class(kAccount, "web"));
  const auto& images = the_class->status.at("images").as_array();
  ASSERT_EQ(images.size(), 2U) << "not what the neighbour shares, though ECS answers it, too";
  const auto claim = claim_named("of-a-family");
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(machine(made->provider_id).at("image"), "m-web-2") << "the newest";
  record(*claim, *made);
  EXPECT_EQ(drift(claim).value(), "");
  resolve(official_class(kNeighbour, "web"));
  EXPECT_EQ(drift(claim).value(), "ImageDrift") << "what selects images is not hashed";
  EXPECT_TRUE(remove(claim));
}

TEST_F(AlibabaAdapter, DeletionWaitsOutTheStartAndTheEnd) {
  start();
  wait_out("starting", 2);
  wait_out("releasing", 2);
  const auto claim = claim_named("ends");
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  record(*claim, *made);
  EXPECT_TRUE(remove(claim)) << "it is asked again";
  EXPECT_FALSE(get(made->provider_id)->terminating);
  EXPECT_TRUE(wait_until([&] {
    EXPECT_TRUE(remove(claim));
    return get(made->provider_id)->terminating;
  }));
  EXPECT_TRUE(remove(claim)) << "its end is under way";
  EXPECT_TRUE(wait_until([&] { return !remove(claim); }));
  EXPECT_EQ(remove(claim).error().kind, ErrorKind::NotFound);
  EXPECT_TRUE(is_gone(made->provider_id));
}

TEST_F(AlibabaAdapter, GarbageIsSeenFromBothSides) {
  start();
  const auto claim = claim_named("without-a-claim");
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  // ACK tags its own machines alike, and they are none of ours.
  const json::object tags{{"kubernetes.io/cluster/" + std::string(kCluster), "owned"}};
  const auto stranger = control("/_facade/stranger", json::serialize(json::object{{"tags", tags}}));
  const auto listed = list();
  ASSERT_TRUE(listed);
  const auto has = [&](const std::string& id) {
    return std::any_of(listed->begin(), listed->end(),
                       [&](const auto& each) { return id_of(each.provider_id) == id; });
  };
  EXPECT_TRUE(has(id_of(made->provider_id)));
  EXPECT_FALSE(has(std::string(stranger.at("instance").as_string())));
  EXPECT_TRUE(remove_leaked(made->provider_id));
  EXPECT_TRUE(is_gone(made->provider_id));
  EXPECT_EQ(remove_leaked(made->provider_id).error().kind, ErrorKind::NotFound);
  // And a claim whose instance somebody else ended.
  EXPECT_EQ(get(made->provider_id).error().kind, ErrorKind::NotFound);
  record(*claim, *made);
  EXPECT_EQ(drift(claim).value(), "");
  EXPECT_EQ(remove(claim).error().kind, ErrorKind::NotFound);
}

TEST_F(AlibabaAdapter, AWrongSecretIsADenialThatSaysWhatToDo) {
  environment["ALIBABA_CLOUD_ACCESS_KEY_SECRET"] = "another";
  begin();
  const auto listed = list();
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().kind, ErrorKind::Denied);
  EXPECT_THAT(listed.error().message, HasSubstr("SignatureDoesNotMatch"));
  EXPECT_THAT(listed.error().message, HasSubstr("check the credentials"));
  EXPECT_THAT(listed.error().message, Not(HasSubstr("another")));
  signs_wrongly = true;
}

TEST_F(AlibabaAdapter, TheOlderSignatureIsAcceptedToo) {
  environment["ALIBABA_CLOUD_RPC_SIGNATURE"] = "v1";
  start();
  EXPECT_TRUE(create(claim_named("older-signature")));
}

TEST_F(AlibabaAdapter, AServiceAccountsRoleGetsKeysThatWork) {
  const std::string file = testing::TempDir() + "millwright-oidc-token";
  std::ofstream(file) << "oidc.token.of-the-pod";
  environment.erase("ALIBABA_CLOUD_ACCESS_KEY_ID");
  environment.erase("ALIBABA_CLOUD_ACCESS_KEY_SECRET");
  environment["ALIBABA_CLOUD_ROLE_ARN"] = "acs:ram::1:role/millwright";
  environment["ALIBABA_CLOUD_OIDC_PROVIDER_ARN"] = "acs:ram::1:oidc-provider/ack";
  environment["ALIBABA_CLOUD_OIDC_TOKEN_FILE"] = file;
  begin();
  const auto listed = list();
  EXPECT_TRUE(listed) << listed.error().message;
  EXPECT_GE(counted("calls", "AssumeRoleWithOIDC"), 1);
}

}  // namespace
}  // namespace millwright::cloud
