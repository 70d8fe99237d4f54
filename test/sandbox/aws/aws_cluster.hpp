// The whole program with the real AWS provider on an EC2 that remembers.
#pragma once

#include "cloud/aws/aws_cloud.hpp"
#include "cloud/aws/catalog/type_labels.hpp"
#include "millwright/cloud/simulated.hpp"
#include "support/crash_runs.hpp"
#include "unit/cloud/aws/fakes/fake_ec2.hpp"

namespace millwright {

using cloud::aws::Asked;
using cloud::aws::FakeEc2;
using namespace std::chrono_literals;

inline constexpr std::string_view kNodeClass = R"(
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: node-role
  amiFamily: AL2023
  amiSelectorTerms: [{id: ami-amd}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
)";
inline constexpr std::string_view kNodePool = R"(
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, m6i]}
)";

class AwsCluster : public CrashCluster {
 public:
  explicit AwsCluster(std::uint64_t seed = 3) : CrashCluster(seed), ec2(loop, http) {
    cloud::aws::register_labels();
    machine.variables = {{"AWS_ACCESS_KEY_ID", "A"}, {"AWS_SECRET_ACCESS_KEY", "S"}};
    ec2.answer_discovery();
    answer_profiles();
    ec2.on_launch = [this](const FakeEc2::Machine& made) { boot(made); };
    ec2.on_termination = [this](const FakeEc2::Machine& made) { shut_down(made.id); };
    begin();
  }
  ~AwsCluster() override { end(); }

  std::multiset<std::string> living_machines() override {
    std::multiset<std::string> result;
    for (const auto& made : ec2.living()) {
      result.insert(cloud::aws::provider_id_of(made.zone, made.id));
    }
    return result;
  }
  std::size_t made_machines() override { return ec2.machines.size(); }
  void prepare(const CrashPlan& plan) override {
    ec2.lag = plan.lag;
    ec2.lose_answer = plan.lose_answer;
  }
  std::vector<std::string> manifests() override {
    return {std::string(kNodeClass), std::string(kNodePool)};
  }

  void answer_profiles() {
    ec2.aws.on("GetInstanceProfile", [this](const Asked&) {
      return profile.empty() ? cloud::aws::xml(
                                   "<ErrorResponse><Error><Code>NoSuchEntity</Code></Error>"
                                   "</ErrorResponse>",
                                   404)
                             : cloud::aws::xml(
                                   "<R><GetInstanceProfileResult><InstanceProfile><Roles><member>"
                                   "<RoleName>node-role</RoleName></member></Roles>"
                                   "</InstanceProfile></GetInstanceProfileResult></R>");
    });
    ec2.aws.on("CreateInstanceProfile", [this](const Asked& asked) {
      profile = asked.field("InstanceProfileName");
      return cloud::aws::xml("<R/>");
    });
    ec2.aws.on("AddRoleToInstanceProfile", "<R/>");
    ec2.aws.on("RemoveRoleFromInstanceProfile", "<R/>");
    ec2.aws.on("ListInstanceProfiles", [this](const Asked&) {
      return cloud::aws::xml(
          "<R><ListInstanceProfilesResult><InstanceProfiles><member>"
          "<InstanceProfileName>" +
          profile +
          "</InstanceProfileName></member></InstanceProfiles>"
          "</ListInstanceProfilesResult></R>");
    });
    ec2.aws.on("DeleteInstanceProfile", [this](const Asked&) {
      profile.clear();
      return cloud::aws::xml("<R/>");
    });
  }

  // What the machine and its kubelet do.
  void boot(const FakeEc2::Machine& made) {
    cloud::Instance instance;
    instance.provider_id = cloud::aws::provider_id_of(made.zone, made.id);
    instance.node_name = "node-" + made.id;
    instance.labels = {{"node.kubernetes.io/instance-type", made.type},
                       {"topology.kubernetes.io/zone", made.zone}};
    for (const auto& facts : cloud::aws::test_types()) {
      if (facts.name == made.type) {
        cloud::aws::NodeClassSpec spec;
        spec.family = cloud::aws::Family::Al2023;
        scheduling::InstanceType type;
        type.capacity = cloud::aws::capacity_of(facts, spec, {});
        type.overhead = cloud::aws::overhead_of(facts, spec, type.capacity);
        instance.capacity = type.capacity;
        instance.allocatable = type.allocatable();
      }
    }
    world.kubelet().launched(instance, nullptr, 20s);
  }
  void shut_down(const std::string& id) {
    loop.after(10s, [this, id] {
      auto& made = ec2.find(id);
      made.state = "terminated";
      world.kubelet().terminated(cloud::aws::provider_id_of(made.zone, id));
    });
  }

  FakeEc2 ec2;
  std::string profile;  // the instance profile that IAM has

 protected:
  std::unique_ptr<cloud::Provider> make_provider() override {
    cloud::AwsSettings settings{.cluster_name = "demo", .cluster_endpoint = "https://api.example"};
    settings.kubernetes_version = "1.31";
    return std::make_unique<cloud::aws::AwsCloud>(
        cloud::aws::AwsCloud::Parts{
            .loop = loop,
            .client = http,
            .settings = settings,
            .environment = machine.environment(),
            .endpoints = *cloud::aws::Endpoints::make("us-west-2", machine.environment()),
            .metrics = metrics,
            .log = {}},
        cloud::PriceFile{});
  }
};

}  // namespace millwright
