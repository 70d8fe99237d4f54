// What an EC2NodeClass selects.
#include "cloud/aws/node_class/resolver.hpp"

#include "cloud/aws/calls/services.hpp"
#include "cloud/aws/catalog/type_labels.hpp"
#include "cloud/aws/node_class/node_class_hash.hpp"
#include "unit/cloud/aws/fakes/fake_aws.hpp"

#include <map>
#include <set>

namespace millwright::cloud::aws {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

std::string subnet(const std::string& id, const std::string& zone, int free = 100) {
  return "<item><subnetId>" + id + "</subnetId><availabilityZone>" + zone +
         "</availabilityZone><availabilityZoneId>id-" + zone +
         "</availabilityZoneId><availableIpAddressCount>" + std::to_string(free) +
         "</availableIpAddressCount></item>";
}
std::string image(const std::string& id, const std::string& arch, const std::string& created,
                  const std::string& more = "") {
  return "<item><imageId>" + id + "</imageId><name>name-" + id + "</name><architecture>" + arch +
         "</architecture><creationDate>" + created + "</creationDate>" + more + "</item>";
}
std::string set_of(const std::string& set, const std::string& items) {
  return "<R><" + set + ">" + items + "</" + set + "></R>";
}

class ResolverTest : public testing::Test {
 protected:
  ResolverTest()
      : loop(kStart),
        http(loop),
        aws(http),
        endpoints(Endpoints::make("us-west-2", machine.environment()).value()),
        api({.loop = loop, .client = http, .endpoints = endpoints, .log = {}, .seed = 1}),
        resolver(api, {.cluster_name = "demo", .ca_bundle = "Q0E="}) {
    register_labels();
    aws.on("DescribeSubnets", set_of("subnetSet", subnet("subnet-b", "us-west-2b", 7) +
                                                      subnet("subnet-a", "us-west-2a")));
    aws.on("DescribeSecurityGroups",
           set_of("securityGroupInfo",
                  "<item><groupId>sg-1</groupId><groupName>nodes</groupName></item>"));
    aws.on("DescribeImages", [](const Asked& asked) {
      std::string items;
      for (const std::string id : {"ami-x86", "ami-arm", "ami-gpu"}) {
        if (asked.filter("image-id").find(id) != std::string::npos) {
          items += image(id, id == "ami-arm" ? "arm64" : "x86_64", "2026-01-01T00:00:00.000Z");
        }
      }
      return xml(set_of("imagesSet", items));
    });
    aws.on("GetInstanceProfile",
           "<R><GetInstanceProfileResult><InstanceProfile><Roles><member><RoleName>node-role"
           "</RoleName></member></Roles></InstanceProfile></GetInstanceProfileResult></R>");
    spec = {{"subnetSelectorTerms", boost::json::array{{{"tags", {{"discovery", "demo"}}}}}},
            {"securityGroupSelectorTerms", boost::json::array{{{"name", "nodes"}}}},
            {"amiSelectorTerms", boost::json::array{{{"id", "ami-x86"}}}},
            {"amiFamily", "AL2023"},
            {"role", "node-role"}};
  }

  NodeClassState resolve() {
    auto state = wait(loop, resolver.resolve(node_class(spec, nullptr), "1.31"));
    EXPECT_TRUE(state) << state.error().message;
    return state ? *std::move(state) : NodeClassState{};
  }
  std::vector<std::string> image_ids() {
    std::vector<std::string> ids;
    const auto state = resolve();
    for (const auto& each : state.status.at("amis").as_array()) {
      ids.emplace_back(each.at("id").as_string());
    }
    return ids;
  }
  std::string condition(const NodeClassState& state, std::string_view type) {
    for (const auto& each : state.conditions) {
      if (each.type == type) {
        return each.good ? "True" : each.reason + ": " + each.message;
      }
    }
    return "absent";
  }

  FakeMachine machine;
  base::VirtualLoop loop;
  FakeHttp http;
  FakeAws aws;
  Endpoints endpoints;
  Api api;
  Resolver resolver;
  boost::json::object spec;
};

TEST_F(ResolverTest, EverythingFoundMakesAReadyClass) {
  const auto state = resolve();
  EXPECT_TRUE(state.ready) << state.message;
  EXPECT_EQ(boost::json::serialize(state.status),
            R"({"subnets":[{"id":"subnet-a","zone":"us-west-2a","zoneID":"id-us-west-2a"},)"
            R"({"id":"subnet-b","zone":"us-west-2b","zoneID":"id-us-west-2b"}],)"
            R"("securityGroups":[{"id":"sg-1","name":"nodes"}],)"
            R"("amis":[{"id":"ami-x86","name":"name-ami-x86","requirements":)"
            R"([{"key":"kubernetes.io/arch","operator":"In","values":["amd64"]}]}],)"
            R"("capacityReservations":null,"instanceProfile":")" +
                std::string(state.status.at("instanceProfile").as_string()) + R"("})");
  for (const auto* type :
       {"SubnetsReady", "SecurityGroupsReady", "AMIsReady", "InstanceProfileReady"}) {
    EXPECT_EQ(condition(state, type), "True");
  }
  auto stamp = hash_stamp(*node_class(spec), "Q0E=");
  stamp.earlier = {{"v5", node_class_hash(*node_class(spec), "Q0E=", HashVersion::V5)}};
  EXPECT_EQ(state.stamp, stamp);
  EXPECT_EQ(resolver.free_addresses("subnet-b"), 7);
}

TEST_F(ResolverTest, TermsBecomeFilters) {
  spec["subnetSelectorTerms"] = boost::json::array{
      {{"id", "subnet-1"}}, {{"tags", {{"a", "*"}, {"b", "c"}}}}, {{"id", "subnet-2"}}};
  spec["securityGroupSelectorTerms"] =
      boost::json::array{{{"id", "sg-9"}}, {{"name", "x"}}, {{"name", "y"}}};
  resolve();
  const auto subnets = aws.calls("DescribeSubnets");
  ASSERT_EQ(subnets.size(), 2U);
  EXPECT_EQ(subnets[0].filter("tag-key"), "a");
  EXPECT_EQ(subnets[0].filter("tag:b"), "c");
  EXPECT_EQ(subnets[0].field("MaxResults"), "500");
  EXPECT_EQ(subnets[1].filter("subnet-id"), "subnet-1,subnet-2");
  const auto groups = aws.calls("DescribeSecurityGroups");
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].filter("group-id"), "sg-9");
  EXPECT_EQ(groups[1].filter("group-name"), "x,y");
}

TEST_F(ResolverTest, WhatIsMissingIsSaid) {
  aws.on("DescribeSubnets", set_of("subnetSet", ""));
  auto state = resolve();
  EXPECT_FALSE(state.ready);
  EXPECT_EQ(state.reason, "SubnetsNotFound");
  EXPECT_THAT(state.message, HasSubstr("spec.subnetSelectorTerms selects no subnet"));
  EXPECT_THAT(condition(state, "SubnetsReady"), HasSubstr("SubnetsNotFound"));
  EXPECT_EQ(condition(state, "AMIsReady"), "True");
  aws.on("DescribeSecurityGroups", set_of("securityGroupInfo", ""));
  aws.on("DescribeImages", set_of("imagesSet", ""));
  state = resolve();
  EXPECT_THAT(condition(state, "SecurityGroupsReady"), HasSubstr("SecurityGroupsNotFound"));
  EXPECT_THAT(condition(state, "AMIsReady"), HasSubstr("AMINotFound"));
}

TEST_F(ResolverTest, SubnetsAndImagesAreAskedForAgainAfterTheirIntervals) {
  Resolver patient(api, {.cluster_name = "demo", .image_refresh = 10min, .subnet_refresh = 2min});
  const auto look = [&] {
    ASSERT_TRUE(wait(loop, patient.resolve(node_class(spec, nullptr), "1.31")));
  };
  const auto asked = [&] {
    return std::make_pair(aws.calls("DescribeSubnets").size(), aws.calls("DescribeImages").size());
  };
  look();
  look();
  EXPECT_EQ(asked(), std::make_pair(std::size_t{1}, std::size_t{1}));
  loop.run_for(2min);
  look();
  EXPECT_EQ(asked(), std::make_pair(std::size_t{2}, std::size_t{1}));
  loop.run_for(8min);
  look();
  EXPECT_EQ(asked(), std::make_pair(std::size_t{3}, std::size_t{2}));
  spec["amiSelectorTerms"] = boost::json::array{{{"id", "ami-arm"}}};
  look();
  EXPECT_EQ(asked(), std::make_pair(std::size_t{3}, std::size_t{3})) << "other terms at once";
}

TEST_F(ResolverTest, WhatWasNotFoundIsLookedForAtOnce) {
  Resolver patient(api, {.cluster_name = "demo", .image_refresh = 10min, .subnet_refresh = 10min});
  aws.on("DescribeSubnets", set_of("subnetSet", ""));
  EXPECT_FALSE(wait(loop, patient.resolve(node_class(spec, nullptr), "1.31"))->ready);
  aws.on("DescribeSubnets", set_of("subnetSet", subnet("subnet-a", "us-west-2a")));
  EXPECT_TRUE(wait(loop, patient.resolve(node_class(spec, nullptr), "1.31"))->ready);
}

TEST_F(ResolverTest, AFailedCallIsAnErrorAndNoCondition) {
  aws.on("DescribeSubnets", [](const Asked&) { return ec2_error("UnauthorizedOperation", 403); });
  const auto state = wait(loop, resolver.resolve(node_class(spec, nullptr), "1.31"));
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().kind, base::ErrorKind::Denied);
}

TEST_F(ResolverTest, TheNewestImageOfEachKindWinsUnlessDeprecated) {
  spec["amiSelectorTerms"] = boost::json::array{{{"name", "mine-*"}}};
  aws.on("DescribeImages",
         set_of("imagesSet",
                image("ami-old", "x86_64", "2024-01-01T00:00:00.000Z") +
                    image("ami-new", "x86_64", "2025-01-01T00:00:00.000Z") +
                    image("ami-newest", "x86_64", "2025-06-01T00:00:00.000Z",
                          "<deprecationTime>2025-12-01T00:00:00.000Z</deprecationTime>") +
                    image("ami-arm", "arm64", "2023-01-01T00:00:00.000Z",
                          "<deprecationTime>2024-12-01T00:00:00.000Z</deprecationTime>") +
                    image("ami-special", "x86_64", "2020-01-01T00:00:00.000Z",
                          "<tagSet><item><key>karpenter.k8s.aws/instance-family</key>"
                          "<value>m5</value></item><item><key>other</key><value>x</value></item>"
                          "</tagSet>")));
  EXPECT_THAT(image_ids(), ElementsAre("ami-new", "ami-special", "ami-arm"));
  const auto asked = aws.only("DescribeImages");
  EXPECT_EQ(asked.filter("name"), "mine-*");
  EXPECT_EQ(asked.filter("state"), "available");
  EXPECT_EQ(asked.field("Owner.1"), "self");
  EXPECT_EQ(asked.field("Owner.2"), "amazon");
  EXPECT_EQ(asked.field("IncludeDeprecated"), "true");
}

TEST_F(ResolverTest, AnOwnerIsAskedForAlone) {
  spec["amiSelectorTerms"] =
      boost::json::array{{{"tags", {{"team", "x"}}}, {"owner", "123456789012"}}};
  resolve();
  const auto asked = aws.only("DescribeImages");
  EXPECT_EQ(asked.filter("tag:team"), "x");
  EXPECT_EQ(asked.field("Owner.1"), "123456789012");
  EXPECT_EQ(asked.field("Owner.2"), "");
}

TEST_F(ResolverTest, AliasesGoThroughSsmAndAreRemembered) {
  spec.erase("amiFamily");
  spec["amiSelectorTerms"] = boost::json::array{{{"alias", "al2023@latest"}}};
  aws.on("GetParameter", [](const Asked& asked) {
    const auto answer = [](const std::string& id) {
      return net::Response::json(200, R"({"Parameter":{"Value":")" + id + "\"}}");
    };
    if (asked.body.find("x86_64\\/standard") != std::string::npos ||
        asked.body.find("x86_64/standard") != std::string::npos) {
      return answer("ami-x86");
    }
    if (asked.body.find("arm64/standard") != std::string::npos) {
      return answer("ami-arm");
    }
    if (asked.body.find("x86_64/nvidia") != std::string::npos) {
      return answer("ami-gpu");
    }
    return net::Response::json(400, R"({"__type":"ParameterNotFound","message":"no"})");
  });
  EXPECT_THAT(image_ids(), testing::UnorderedElementsAre("ami-x86", "ami-arm", "ami-gpu"));
  EXPECT_EQ(aws.calls("GetParameter").size(), 5U);
  // What was found is kept for five minutes; what was not is asked for again.
  image_ids();
  EXPECT_EQ(aws.calls("GetParameter").size(), 7U);
  loop.run_for(6min);
  image_ids();
  EXPECT_EQ(aws.calls("GetParameter").size(), 12U);
}

TEST_F(ResolverTest, AnAliasWithoutImagesForTheClusterIsExplained) {
  spec.erase("amiFamily");
  spec["amiSelectorTerms"] = boost::json::array{{{"alias", "al2@latest"}}};
  const auto state = wait(loop, resolver.resolve(node_class(spec, nullptr), "1.33"));
  ASSERT_TRUE(state);
  EXPECT_THAT(condition(*state, "AMIsReady"), HasSubstr("UnsupportedAlias: AL2 has no images"));
}

TEST_F(ResolverTest, AParametersImageTellsItsOwnArchitecture) {
  spec["amiSelectorTerms"] = boost::json::array{{{"ssmParameter", "/my/image"}}};
  aws.on("GetParameter", R"({"Parameter":{"Value":"ami-arm"}})");
  const auto amis = resolve().status.at("amis").as_array();
  ASSERT_EQ(amis.size(), 1U);
  EXPECT_EQ(amis[0].at("requirements").at(0).at("values").at(0).as_string(), "arm64");
}

// An IAM that remembers which profile has which role.
class FakeProfiles {
 public:
  explicit FakeProfiles(FakeAws& aws) {
    aws.on("GetInstanceProfile", [this](const Asked& asked) {
      const auto found = roles.find(asked.field("InstanceProfileName"));
      return found == roles.end()
                 ? xml("<ErrorResponse><Error><Code>NoSuchEntity</Code></Error></ErrorResponse>",
                       404)
                 : xml("<R><GetInstanceProfileResult><InstanceProfile><Roles><member><RoleName>" +
                       found->second +
                       "</RoleName></member></Roles></InstanceProfile>"
                       "</GetInstanceProfileResult></R>");
    });
    aws.on("CreateInstanceProfile", [this](const Asked& asked) {
      roles[asked.field("InstanceProfileName")];
      return xml("<R/>");
    });
    aws.on("AddRoleToInstanceProfile", [this](const Asked& asked) {
      roles[asked.field("InstanceProfileName")] = asked.field("RoleName");
      return xml("<R/>");
    });
    aws.on("RemoveRoleFromInstanceProfile", "<R/>");
    aws.on("DeleteInstanceProfile", [this](const Asked& asked) {
      roles.erase(asked.field("InstanceProfileName"));
      return xml("<R/>");
    });
    aws.on("ListInstanceProfiles", [this](const Asked&) {
      std::string members;
      for (const auto& [name, role] : roles) {
        members += "<member><InstanceProfileName>" + name +
                   "</InstanceProfileName><Arn>arn:" + name + "</Arn></member>";
      }
      return xml("<R><ListInstanceProfilesResult><InstanceProfiles>" + members +
                 "</InstanceProfiles></ListInstanceProfilesResult></R>");
    });
    aws.on("DescribeInstances", [this](const Asked& asked) {
      const bool used = in_use.contains(asked.filter("iam-instance-profile.arn"));
      return xml(used ? "<R><reservationSet><item><instancesSet><item><instanceId>i-1</instanceId>"
                        "</item></instancesSet></item></reservationSet></R>"
                      : "<R><reservationSet/></R>");
    });
  }
  std::string of(const std::string& role) const {
    for (const auto& [name, each] : roles) {
      if (each == role) {
        return name;
      }
    }
    return "none";
  }

  std::map<std::string, std::string> roles;  // by profile
  std::set<std::string> in_use;              // ARNs of profiles
};

TEST_F(ResolverTest, ARoleGetsAProfileOnce) {
  const FakeProfiles profiles(aws);
  EXPECT_TRUE(resolve().ready);
  const auto created = aws.only("CreateInstanceProfile");
  EXPECT_EQ(created.field("Path"), "/karpenter/us-west-2/demo/class-uid/");
  EXPECT_THAT(created.field("InstanceProfileName"), testing::StartsWith("demo_"));
  EXPECT_EQ(created.field("Tags.member.1.Key"), "eks:eks-cluster-name");
  EXPECT_EQ(profiles.of("node-role"), created.field("InstanceProfileName"));
  resolve();
  EXPECT_EQ(aws.calls("GetInstanceProfile").size(), 1U);
}

TEST_F(ResolverTest, AnotherRoleGetsAnotherProfileAndRunningInstancesKeepTheirs) {
  FakeProfiles profiles(aws);
  resolve();
  const auto before = profiles.of("node-role");
  profiles.in_use = {"arn:" + before};
  spec["role"] = "other-role";
  const auto state = resolve();
  EXPECT_TRUE(state.ready);
  const auto after = std::string(state.status.at("instanceProfile").as_string());
  EXPECT_NE(after, before);
  EXPECT_EQ(profiles.roles,
            (std::map<std::string, std::string>{{before, "node-role"}, {after, "other-role"}}));
  for (int i = 0; i < 10; ++i) {
    loop.run_for(15min);
    resolve();
  }
  EXPECT_EQ(profiles.of("node-role"), before);
  profiles.in_use.clear();
  loop.run_for(15min);
  resolve();
  EXPECT_EQ(profiles.of("node-role"), before) << "a launch may be under way";
  loop.run_for(1h);
  resolve();
  EXPECT_EQ(profiles.roles, (std::map<std::string, std::string>{{after, "other-role"}}));
}

TEST_F(ResolverTest, ARoleThatSomebodyPutIntoAProfileStays) {
  FakeProfiles profiles(aws);
  resolve();
  profiles.roles[profiles.of("node-role")] = "somebody's";
  loop.run_for(15min);
  EXPECT_THAT(condition(resolve(), "InstanceProfileReady"), HasSubstr("has the role"));
  EXPECT_TRUE(aws.calls("RemoveRoleFromInstanceProfile").empty());
}

TEST_F(ResolverTest, ARoleThatIsNotThereIsACondition) {
  aws.on("GetInstanceProfile", "<R/>");
  aws.on("AddRoleToInstanceProfile", [](const Asked&) {
    return xml(
        "<ErrorResponse><Error><Code>NoSuchEntity</Code><Message>Role node-role not found"
        "</Message></Error></ErrorResponse>",
        404);
  });
  const auto state = resolve();
  EXPECT_FALSE(state.ready);
  EXPECT_THAT(condition(state, "InstanceProfileReady"), HasSubstr("spec.role \"node-role\""));
}

TEST_F(ResolverTest, AnInstanceProfileOfThePersonsOwnIsUsedAsItIs) {
  spec.erase("role");
  spec["instanceProfile"] = "mine";
  EXPECT_EQ(resolve().status.at("instanceProfile").as_string(), "mine");
  EXPECT_TRUE(aws.calls("GetInstanceProfile").empty());
}

TEST_F(ResolverTest, ProfilesAreDeletedWithTheirRoleTakenOut) {
  aws.on("RemoveRoleFromInstanceProfile", "<R/>");
  aws.on("DeleteInstanceProfile", "<R/>");
  EXPECT_TRUE(wait(loop, delete_instance_profile(api, "p")));
  EXPECT_EQ(aws.only("RemoveRoleFromInstanceProfile").field("RoleName"), "node-role");
  EXPECT_EQ(aws.only("DeleteInstanceProfile").field("InstanceProfileName"), "p");
}

TEST_F(ResolverTest, PagesAreFollowed) {
  aws.on("DescribeSubnets", [](const Asked& asked) {
    if (asked.field("NextToken").empty()) {
      return xml("<R><subnetSet>" + subnet("subnet-1", "us-west-2a") +
                 "</subnetSet><nextToken>more</nextToken></R>");
    }
    return xml("<R><subnetSet>" + subnet("subnet-2", "us-west-2b") + "</subnetSet></R>");
  });
  EXPECT_EQ(resolve().status.at("subnets").as_array().size(), 2U);
}

TEST_F(ResolverTest, ThePriceListIsReadInBothFamilies) {
  aws.on("GetProducts", [](const Asked& asked) {
    const bool metal = asked.body.find("bare metal") != std::string::npos;
    boost::json::value product{
        {"product", {{"attributes", {{"instanceType", metal ? "m5.metal" : "m5.large"}}}}},
        {"terms",
         {{"OnDemand",
           {{"o", {{"priceDimensions", {{"d", {{"pricePerUnit", {{"USD", "0.1"}}}}}}}}}}}}}};
    boost::json::object page;
    page["PriceList"] = boost::json::array{boost::json::serialize(product), "nonsense", 5};
    return net::Response::json(200, boost::json::serialize(page));
  });
  const auto prices = wait(loop, list_prices(api));
  ASSERT_TRUE(prices);
  EXPECT_EQ(*prices, (PriceTable{{"m5.large", 0.1}, {"m5.metal", 0.1}}));
  EXPECT_THAT(aws.calls("GetProducts")[0].body, HasSubstr(R"("Value":"us-west-2")"));
}

TEST_F(ResolverTest, SpotPricesAreTheNewestOfEachZone) {
  aws.on("DescribeSpotPriceHistory",
         set_of("spotPriceHistorySet",
                "<item><availabilityZone>a</availabilityZone><instanceType>m5.large</instanceType>"
                "<spotPrice>0.05</spotPrice><timestamp>2026-01-01T02:00:00.000Z</timestamp></item>"
                "<item><availabilityZone>a</availabilityZone><instanceType>m5.large</instanceType>"
                "<spotPrice>0.04</spotPrice><timestamp>2026-01-01T01:00:00.000Z</timestamp></item>"
                "<item><availabilityZone>b</availabilityZone><instanceType>m5.large</instanceType>"
                "<spotPrice>x</spotPrice><timestamp>2026-01-01T01:00:00.000Z</timestamp></item>"));
  const auto prices = wait(loop, Ec2(api).spot_prices());
  ASSERT_TRUE(prices);
  EXPECT_EQ(*prices, (SpotTable{{"m5.large", {{"a", 0.05}}}}));
  EXPECT_EQ(aws.only("DescribeSpotPriceHistory").field("StartTime"), "2026-01-02T00:00:00Z");
}

TEST_F(ResolverTest, EksTellsWhatNodesNeed) {
  aws.on("GET", R"({"cluster":{"endpoint":"https://e","version":"1.31","certificateAuthority":)"
                R"({"data":"Q0E="},"kubernetesNetworkConfig":{"ipFamily":"ipv4",)"
                R"("serviceIpv4Cidr":"10.100.0.0/16"}}})");
  const auto facts = wait(loop, describe_cluster(api, "demo"));
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->endpoint, "https://e");
  EXPECT_EQ(facts->ca_bundle, "Q0E=");
  EXPECT_EQ(facts->version, "1.31");
  EXPECT_EQ(facts->service_cidr, "10.100.0.0/16");
  EXPECT_FALSE(facts->ipv6);
}

}  // namespace
}  // namespace millwright::cloud::aws
