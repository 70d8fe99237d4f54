// The provider as its callers see it, against an EC2 that remembers.
#include "cloud/aws/node_class/node_class_hash.hpp"
#include "millwright/cloud/simulated.hpp"
#include "provider_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;
using testing::HasSubstr;
using namespace std::chrono_literals;

TEST_F(ProviderTest, BrokenNodesAreThoseOfTheSimulatedAws) {
  const auto simulated = SimulatedCloud::make(loop, Profile::Aws, {});
  ASSERT_TRUE(simulated) << simulated.error().message;
  EXPECT_EQ(cloud->repair_policies().data(), (*simulated)->repair_policies().data());
}

TEST_F(ProviderTest, AClaimBecomesAnInstance) {
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->provider_id, "aws:///us-west-2a/i-1");
  EXPECT_EQ(made->image_id, "ami-amd");
  EXPECT_EQ(made->labels.at("node.kubernetes.io/instance-type"), "m5.large");
  EXPECT_EQ(made->labels.at("topology.kubernetes.io/zone"), "us-west-2a");
  EXPECT_EQ(made->labels.at("topology.k8s.aws/zone-id"), "usw2-az2");
  EXPECT_EQ(made->labels.at("karpenter.sh/capacity-type"), "on-demand");
  EXPECT_EQ(made->labels.at("karpenter.k8s.aws/instance-family"), "m5");
  EXPECT_EQ(made->labels.at("kubernetes.io/arch"), "amd64");
  EXPECT_EQ(made->annotations.at("karpenter.k8s.aws/ec2nodeclass-hash"),
            node_class_hash(*the_class, "Q0E=", HashVersion::V6));
  EXPECT_EQ(made->annotations.at("karpenter.k8s.aws/ec2nodeclass-hash-version"), "v6");
  EXPECT_EQ(made->capacity.at("cpu").units(), 2);
  EXPECT_EQ(made->allocatable.at("cpu").milli(), 1930);
  EXPECT_FALSE(made->capacity.contains("nvidia.com/gpu"));
  ASSERT_EQ(ec2.living().size(), 1U);
  const auto tags = ec2.machines[0].tags;
  EXPECT_EQ(tags.at("karpenter.sh/nodepool"), "pool");
  EXPECT_EQ(tags.at("karpenter.sh/nodeclaim"), "a");
  EXPECT_EQ(tags.at("karpenter.k8s.aws/ec2nodeclass"), "default");
  EXPECT_EQ(tags.at("eks:eks-cluster-name"), "demo");
  EXPECT_EQ(tags.at("kubernetes.io/cluster/demo"), "owned");
  EXPECT_EQ(ec2.aws.only("CreateFleet").field("ClientToken"), "uid-a");
}

TEST_F(ProviderTest, TheCaBundleOfTheSettingsCountsInTheHashIfThereIsOne) {
  crash();
  cluster_ca_bundle = "WA==";
  start();
  loop.run_for(1min);
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->annotations.at("karpenter.k8s.aws/ec2nodeclass-hash"),
            node_class_hash(*the_class, "WA==", HashVersion::V6));
}

TEST_F(ProviderTest, InstancesCanBeReadListedAndEnded) {
  const auto claim = claim_named("a");
  const auto made = create(claim);
  claim->provider_id = made->provider_id;
  const auto read = wait(loop, cloud->get(made->provider_id));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->node_claim, "a");
  EXPECT_EQ(read->node_name, "ip-i-1");
  EXPECT_FALSE(read->terminating);
  const auto listed = wait(loop, cloud->list());
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(ec2.aws.calls("DescribeInstances").back().filter("tag-key"), "karpenter.sh/nodepool");
  EXPECT_TRUE(wait(loop, cloud->remove(claim)));
  EXPECT_EQ(ec2.machines[0].state, "shutting-down");
  EXPECT_TRUE(wait(loop, cloud->remove(claim)));
  EXPECT_EQ(ec2.aws.calls("TerminateInstances").size(), 1U);
  ec2.machines[0].state = "terminated";
  const auto gone = wait(loop, cloud->remove(claim));
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().kind, ErrorKind::NotFound);
  EXPECT_EQ(wait(loop, cloud->get("aws:///z/i-fff")).error().kind, ErrorKind::NotFound);
  EXPECT_EQ(wait(loop, cloud->get("kwok://x")).error().kind, ErrorKind::NotFound);
}

TEST_F(ProviderTest, AnIdThatIsNoneKeepsNoOtherFromBeingDescribed) {
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made);
  auto describe = ec2.aws.answer_to("DescribeInstances");
  ec2.aws.on("DescribeInstances", [describe](const Asked& asked) {
    const bool is_malformed = asked.body.find("i-bad") != std::string::npos;
    return is_malformed ? ec2_error("InvalidInstanceID.Malformed") : describe(asked);
  });
  struct Run {
    static base::Task<void> one(Provider& in, std::string id, base::Result<Instance>& into) {
      into = co_await in.get(std::move(id));
    }
  };
  base::Result<Instance> wrong;
  base::Result<Instance> right;
  base::TaskGroup group(loop);
  group.spawn(Run::one(*cloud, "aws:///us-west-2a/i-bad", wrong));
  group.spawn(Run::one(*cloud, made->provider_id, right));
  loop.run_for(5s);
  EXPECT_FALSE(wrong);
  ASSERT_TRUE(right) << right.error().message;
  EXPECT_EQ(right->provider_id, made->provider_id);
}

TEST_F(ProviderTest, TheTypesOfADeletedClassAreForgotten) {
  ec2.answer_profiles();
  const std::weak_ptr<const std::vector<scheduling::InstanceType>> types =
      *cloud->instance_types({}, *the_class);
  EXPECT_FALSE(types.expired());
  ASSERT_TRUE(wait(loop, cloud->release(the_class)));
  EXPECT_TRUE(types.expired());
}

TEST_F(ProviderTest, ADeletedLaunchTemplateIsMadeAgain) {
  ASSERT_TRUE(create(claim_named("a")));
  ec2.templates.clear();
  EXPECT_TRUE(create(claim_named("b")));
  EXPECT_EQ(ec2.living().size(), 2U);
}

TEST_F(ProviderTest, UnusedLaunchTemplatesAreCollected) {
  ASSERT_TRUE(create(claim_named("a")));
  EXPECT_EQ(ec2.templates.size(), 1U);
  ec2.templates.insert("karpenter.k8s.aws/leaked");
  ec2.templates.insert("somebody-elses");
  loop.run_for(8min);
  EXPECT_EQ(ec2.templates.size(), 3U);
  loop.run_for(20min);
  EXPECT_EQ(ec2.templates, (std::set<std::string>{"somebody-elses"}));
  EXPECT_TRUE(create(claim_named("b")));
}

TEST_F(ProviderTest, ANotReadyClassLaunchesNothing) {
  the_class->conditions = {{.type = "Ready",
                            .status = model::ConditionStatus::False,
                            .reason = "SubnetsNotFound",
                            .message = "no subnet"}};
  const auto made = create(claim_named("a"));
  EXPECT_EQ(made.error().kind, ErrorKind::NotReady);
  EXPECT_THAT(made.error().message, HasSubstr("EC2NodeClass default is not ready: no subnet"));
  EXPECT_TRUE(ec2.aws.calls("CreateFleet").empty());
}

TEST_F(ProviderTest, DriftIsFoundByLookingAtTheInstance) {
  const auto claim = claim_named("a");
  const auto made = create(claim);
  claim->provider_id = made->provider_id;
  claim->meta.annotations = made->annotations;
  const auto drift = [&](boost::json::value spec, boost::json::value status) {
    return wait(loop, cloud->drift(claim, node_class(std::move(spec), std::move(status)))).value();
  };
  const boost::json::value spec{{"amiFamily", "AL2023"}};
  EXPECT_EQ(drift(spec, found_status()), "");
  EXPECT_EQ(drift({{"amiFamily", "AL2023"}, {"userData", "x"}}, found_status()), "NodeClassDrift");
  auto status = found_status();
  status.at("amis") = boost::json::array{image_status("ami-new", "amd64")};
  EXPECT_EQ(drift(spec, status), "AMIDrift");
  status = found_status();
  status.at("securityGroups").as_array().push_back({{"id", "sg-2"}, {"name", "more"}});
  EXPECT_EQ(drift(spec, status), "SecurityGroupDrift");
  status = found_status();
  status.at("subnets") = boost::json::array{{{"id", "subnet-z"}, {"zone", "us-west-2a"}}};
  EXPECT_EQ(drift(spec, status), "SubnetDrift");
  // A hash by an older rule says nothing.
  claim->meta.annotations["karpenter.k8s.aws/ec2nodeclass-hash-version"] = "v5";
  EXPECT_EQ(drift({{"amiFamily", "AL2023"}, {"userData", "x"}}, found_status()), "");
  ec2.machines[0].state = "terminated";
  loop.run_for(std::chrono::minutes(6));
  EXPECT_EQ(drift(spec, found_status()), "");
}

TEST_F(ProviderTest, DriftAsksForAnInstanceOnceInAWhile) {
  const auto claim = claim_named("a");
  claim->provider_id = create(claim)->provider_id;
  const auto asked = [&] { return ec2.aws.calls("DescribeInstances").size(); };
  const auto look = [&] { ASSERT_TRUE(wait(loop, cloud->drift(claim, the_class))); };
  const auto before = asked();
  look();
  look();
  EXPECT_EQ(asked(), before + 1);
  loop.run_for(std::chrono::minutes(6));
  look();
  EXPECT_EQ(asked(), before + 2);
  loop.run_for(std::chrono::minutes(6));
  ASSERT_TRUE(wait(loop, cloud->list()));
  look();
  EXPECT_EQ(asked(), before + 3) << "the list told of it";
}

}  // namespace
}  // namespace millwright::cloud::aws
