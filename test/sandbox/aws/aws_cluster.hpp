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
using cloud::aws::kNodeClass;
using namespace std::chrono_literals;

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
    ec2.answer_profiles();
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

  // What the machine and its kubelet do.
  void boot(const FakeEc2::Machine& made) {
    world.kubelet().launched(cloud::aws::instance_of(made), nullptr, 20s);
  }
  void shut_down(const std::string& id) {
    loop.after(10s, [this, id] {
      auto& made = ec2.find(id);
      made.state = "terminated";
      world.kubelet().terminated(cloud::aws::provider_id_of(made.zone, id));
    });
  }

  FakeEc2 ec2;

 protected:
  std::unique_ptr<cloud::Provider> make_provider() override {
    cloud::AwsSettings settings{.cluster_name = "demo", .cluster_endpoint = "https://api.example"};
    settings.kubernetes_version = "1.31";
    settings.service_cidr = "10.100.0.0/16";
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
