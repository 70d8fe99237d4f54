// Placement groups in the whole program's life: pods spread over the partitions of one, and the
// class's nodes follow its selector.
#include "aws_cluster.hpp"

#include <boost/json.hpp>

namespace millwright {
namespace {

const std::string kPlacedNodeClass =
    std::string(kNodeClass) + "  placementGroupSelector: {name: racks}\n";
// As Kafka's brokers: no two on a node, no partition with two more than another.
constexpr std::string_view kBrokers = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: kafka, namespace: default}
spec:
  replicas: 6
  selector: {matchLabels: {app: kafka}}
  template:
    metadata: {labels: {app: kafka}}
    spec:
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector: {matchLabels: {app: kafka}}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: karpenter.k8s.aws/placement-group-partition
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: kafka}}
      containers:
        - {name: kafka, image: kafka, resources: {requests: {cpu: "1"}}}
)";

class AwsPlacement : public testing::Test, protected AwsCluster {
 protected:
  AwsPlacement() {
    ec2.partitions = 3;
    ec2.aws.on("DescribePlacementGroups", [](const Asked& asked) {
      return asked.field("GroupName.1") == "racks"
                 ? cloud::aws::xml(
                       "<R><placementGroupSet><item><groupName>racks</groupName><groupId>pg-1"
                       "</groupId><strategy>partition</strategy><partitionCount>3"
                       "</partitionCount></item></placementGroupSet></R>")
                 : cloud::aws::ec2_error("InvalidPlacementGroup.Unknown");
    });
  }

  // By provider id: "pg-1 2", as the objects of the kind say.
  std::map<std::string, std::string> told_by(const model::Resource& resource,
                                             const std::string& provider_id_at) {
    std::map<std::string, std::string> result;
    const auto listed = cloud::wait(loop, person.list(resource));
    for (const auto& object : listed->items) {
      const auto* id = model::find_path(object, provider_id_at);
      const auto& labels = object.at("metadata").at("labels").as_object();
      const auto text = [&](std::string_view key) {
        const auto* value = labels.if_contains(key);
        return value == nullptr ? std::string("-") : std::string(value->as_string());
      };
      result[id == nullptr ? "?" : std::string(id->as_string())] =
          text(cloud::aws::kPlacementGroupLabel) + " " + text(cloud::aws::kPartitionLabel);
    }
    return result;
  }
  // The same as EC2 has it.
  std::map<std::string, std::string> placed() const {
    std::map<std::string, std::string> result;
    for (const auto& each : ec2.living()) {
      result[cloud::aws::provider_id_of(each.zone, each.id)] =
          each.placement_group + " " + std::to_string(each.partition);
    }
    return result;
  }
};

TEST_F(AwsPlacement, PodsSpreadOverPartitionsWhichNodesAndMachinesAgreeOn) {
  apply(kPlacedNodeClass);
  apply(kNodePool);
  apply(kBrokers);
  loop.run_for(8min);
  EXPECT_EQ(condition(get(model::kEc2NodeClassResource, "default"), "PlacementGroupReady"), "True");
  EXPECT_EQ(running_pods(), 6U);
  EXPECT_EQ(told_by(model::kNodeResource, "spec.providerID"), placed());
  EXPECT_EQ(told_by(model::kNodeClaimResource, "status.providerID"), placed());
  std::map<std::string, int> machines;
  for (const auto& [id, where] : placed()) {
    ++machines[where];
  }
  const std::map<std::string, int> even{{"pg-1 1", 2}, {"pg-1 2", 2}, {"pg-1 3", 2}};
  EXPECT_EQ(machines, even);
}

TEST_F(AwsPlacement, WithoutAWishEc2ChoosesAndNodesSayWhatItChose) {
  apply(kPlacedNodeClass);
  apply(kNodePool);
  apply(kSpreadDeployment);
  ec2.lag = 3s;
  loop.run_for(2min);
  crash();
  start_program();
  loop.run_for(8min);
  EXPECT_EQ(running_pods(), 5U);
  EXPECT_EQ(ec2.machines.size(), 5U);
  EXPECT_EQ(told_by(model::kNodeResource, "spec.providerID"), placed());
}

}  // namespace
}  // namespace millwright
