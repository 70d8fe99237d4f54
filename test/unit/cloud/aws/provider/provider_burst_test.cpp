// Many claims at once: what is merged into one call, and who gets what.
#include "provider_fixture.hpp"
#include "unit/cloud/fakes/burst.hpp"

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;
using testing::HasSubstr;
using namespace std::chrono_literals;

TEST_F(ProviderTest, ManyReadsAreOneCall) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(create(claim_named("c" + std::to_string(i))));
  }
  struct Run {
    static base::Task<void> get(Provider& from, std::string id, int& found, int& missing) {
      auto read = co_await from.get(std::move(id));
      (read ? found : missing) += 1;
    }
    static base::Task<void> remove(Provider& from, std::string id, int& done) {
      auto removed = co_await from.remove_leaked(std::move(id));
      done += removed ? 1 : 0;
    }
  };
  int found = 0;
  int missing = 0;
  const auto before = ec2.aws.calls("DescribeInstances").size();
  base::TaskGroup group(loop);
  for (int i = 1; i <= 20; ++i) {
    group.spawn(Run::get(*cloud, "aws:///us-west-2a/i-" + std::to_string(i), found, missing));
  }
  loop.run_for(10s);
  EXPECT_EQ(found, 20);
  EXPECT_EQ(ec2.aws.calls("DescribeInstances").size(), before + 1);
  // One unknown id must not hide the others.
  for (const std::string id : {"i-1", "i-999", "i-2"}) {
    group.spawn(Run::get(*cloud, "aws:///us-west-2a/" + id, found, missing));
  }
  loop.run_for(10s);
  EXPECT_EQ(found, 22);
  EXPECT_EQ(missing, 1);
  int removed = 0;
  for (int i = 1; i <= 20; ++i) {
    group.spawn(Run::remove(*cloud, "aws:///us-west-2a/i-" + std::to_string(i), removed));
  }
  loop.run_for(10s);
  EXPECT_EQ(removed, 20);
  EXPECT_EQ(ec2.aws.calls("TerminateInstances").size(), 1U);
  EXPECT_TRUE(ec2.living().empty());
}

std::vector<std::shared_ptr<model::NodeClaim>> claims(int count) {
  std::vector<std::shared_ptr<model::NodeClaim>> result;
  for (int i = 0; i < count; ++i) {
    result.push_back(claim_named("c" + std::to_string(i)));
  }
  return result;
}

TEST_F(ProviderTest, ABurstIsSpreadOverTheSubnetsOfAZone) {
  ec2.answer_discovery();
  const auto subnet = [](const std::string& id, int free) {
    return "<item><subnetId>" + id +
           "</subnetId><availabilityZone>us-west-2a</availabilityZone><availableIpAddressCount>" +
           std::to_string(free) + "</availableIpAddressCount></item>";
  };
  const auto resolve = [&](int free_in_1, int free_in_2) {
    ec2.aws.on("DescribeSubnets", "<R><subnetSet>" + subnet("subnet-1", free_in_1) +
                                      subnet("subnet-2", free_in_2) + "</subnetSet></R>");
    return wait(loop, cloud->resolve(discovering_class()));
  };
  auto found = resolve(14, 10);
  ASSERT_TRUE(found) << found.error().message;
  the_class = node_class({{"amiFamily", "AL2023"}}, found->status);
  ask_at_once(claims(20));
  loop.run_until([&] { return given.size() == 20; }, 1min);
  std::map<std::string, int> machines;
  for (const auto& made : ec2.machines) {
    ++machines[made.subnet];
  }
  EXPECT_EQ(machines, (std::map<std::string, int>{{"subnet-1", 12}, {"subnet-2", 8}}));
  EXPECT_EQ(ec2.aws.calls("CreateFleet").size(), 2U);
  loop.run_for(1min);  // --subnet-refresh-interval
  ASSERT_TRUE(resolve(12, 10));
  ASSERT_TRUE(create(claim_named("d")));
  EXPECT_EQ(ec2.machines.back().subnet, "subnet-1") << "what was held is free again";
}

TEST_F(ProviderTest, AThousandEqualClaimsAtOnceAreOneCall) {
  ask_at_once(claims(1000));
  loop.run_until([&] { return given.size() == 1000; }, 10min);
  std::set<std::string> different;
  for (const auto& [claim, provider_id] : given) {
    EXPECT_TRUE(different.insert(provider_id).second) << claim;
  }
  EXPECT_EQ(different.size(), 1000U);
  EXPECT_EQ(ec2.living().size(), 1000U);
  const auto call = ec2.aws.only("CreateFleet");
  EXPECT_EQ(call.field("TargetCapacitySpecification.TotalTargetCapacity"), "1000");
  EXPECT_EQ(call.field("ClientToken").size(), 40U);
  EXPECT_EQ(ec2.aws.calls("CreateLaunchTemplate").size(), 1U);
  // Tags of a claim would be on all of them.
  EXPECT_FALSE(ec2.machines[0].tags.contains("karpenter.sh/nodeclaim"));
  EXPECT_FALSE(ec2.machines[0].tags.contains("millwright.io/nodeclaim-uid"));
  EXPECT_EQ(ec2.machines[0].tags.at("karpenter.sh/nodepool"), "pool");
  EXPECT_THAT(metrics.render(),
              HasSubstr("karpenter_cloudprovider_batcher_batch_size_sum{batcher=\"create_fleet\"} "
                        "1000"));
}

TEST_F(ProviderTest, TwoHundredClaimsAreTwoCalls) {
  ec2.aws.asked.clear();
  Burst burst(loop, *cloud, the_class);
  const auto took = burst.launch(200, {"m5.large", "m6i.large"});
  EXPECT_EQ(burst.different().size(), 200U);
  EXPECT_EQ(ec2.living().size(), 200U);
  std::multiset<std::string> asked;
  for (const auto& call : ec2.aws.asked) {
    // What is asked all the time, whether there are claims or not.
    if (call.operation != "GetProducts" && call.operation != "DescribeInstanceStatus") {
      asked.insert(call.operation);
    }
  }
  EXPECT_THAT(asked, testing::ElementsAre("CreateFleet", "CreateLaunchTemplate"));
  EXPECT_LT(took, 1s);
}

TEST_F(ProviderTest, ClaimsOfAnotherKindAreAnotherCall) {
  auto all = claims(6);
  all[0]->taints = {{.key = "team", .value = "x", .effect = "NoSchedule", .time_added = {}}};
  all[1]->requirements[0].values = {"m6i.large"};
  all[2]->meta.labels[std::string(model::kNodePoolLabel)] = "other";
  ask_at_once(all);
  loop.run_until([&] { return given.size() == 6; }, 1min);
  std::multiset<std::string> sizes;
  for (const auto& call : ec2.aws.calls("CreateFleet")) {
    sizes.insert(call.field("TargetCapacitySpecification.TotalTargetCapacity"));
  }
  EXPECT_EQ(sizes, (std::multiset<std::string>{"1", "1", "1", "3"}));
}

TEST_F(ProviderTest, AClaimThatComesLaterIsNotWaitedFor) {
  ask_at_once({claim_named("a")});
  loop.run_for(200ms);
  ask_at_once({claim_named("b")});
  loop.run_for(200ms);
  EXPECT_EQ(given.size(), 2U);
  const auto calls = ec2.aws.calls("CreateFleet");
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].field("ClientToken"), "uid-a");
  EXPECT_EQ(calls[1].field("ClientToken"), "uid-b");
}

TEST_F(ProviderTest, WhoComesTooLateForTheStockIsToldSo) {
  ec2.stock = 3;
  ask_at_once(claims(5));
  loop.run_for(1min);
  EXPECT_EQ(given.size(), 3U);
  EXPECT_EQ(ec2.living().size(), 3U);
  ASSERT_EQ(refusals.size(), 2U);
  for (const auto& [claim, error] : refusals) {
    EXPECT_EQ(error.kind, ErrorKind::NoCapacity);
    EXPECT_THAT(error.message, HasSubstr("EC2 launched too few: InsufficientInstanceCapacity"));
  }
  // Once for the call, not once for each claim.
  EXPECT_EQ(metrics.value("karpenter_cloudprovider_instance_launch_failures_total",
                          {{"reason", "InsufficientInstanceCapacity"}}),
            1);
}

TEST_F(ProviderTest, AMergedCallThatFailsIsToldToAll) {
  ec2.aws.on("CreateFleet", [](const Asked&) { return ec2_error("UnauthorizedOperation", 403); });
  ask_at_once(claims(4));
  loop.run_for(1min);
  EXPECT_EQ(refusals.size(), 4U);
  EXPECT_EQ(refusals.at("c3").kind, ErrorKind::Denied);
  EXPECT_EQ(ec2.aws.calls("CreateFleet").size(), 1U);
}

TEST_F(ProviderTest, AnInstanceIsNamedAfterTheNodeThatItBecame) {
  const auto all = claims(2);
  ask_at_once(all);
  loop.run_for(1s);
  all[0]->provider_id = given.at("c0");
  const auto look = [&] { return wait(loop, cloud->drift(all[0], the_class)); };
  ASSERT_TRUE(look());
  EXPECT_TRUE(ec2.aws.calls("CreateTags").empty());  // it has not registered
  all[0]->node_name = "ip-10-0-0-1";
  ASSERT_TRUE(look());
  ASSERT_TRUE(look());
  loop.run_for(1s);
  const auto& tags = ec2.find(instance_id_of(given.at("c0"))).tags;
  EXPECT_EQ(tags.at("Name"), "ip-10-0-0-1");
  EXPECT_EQ(tags.at("karpenter.sh/nodeclaim"), "c0");
  ASSERT_TRUE(look());
  loop.run_for(1s);
  EXPECT_EQ(ec2.aws.calls("CreateTags").size(), 1U);
}

TEST_F(ProviderTest, ANameThatTheClassGivesStays) {
  the_class = node_class({{"amiFamily", "AL2023"}, {"tags", {{"Name", "mine"}}}});
  const auto claim = claim_named("a");
  claim->provider_id = create(claim)->provider_id;
  claim->node_name = "ip-10-0-0-1";
  ASSERT_TRUE(wait(loop, cloud->drift(claim, the_class)));
  loop.run_for(1s);
  EXPECT_EQ(ec2.machines[0].tags.at("Name"), "mine");
  EXPECT_TRUE(ec2.aws.calls("CreateTags").empty());
}

}  // namespace
}  // namespace millwright::cloud::aws
