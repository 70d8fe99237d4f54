// A capacity reservation in the whole program's life: its machines are used before others are
// bought, and when it ends they run on as what they are then.
#include "aws_cluster.hpp"

#include <boost/json.hpp>

namespace millwright {
namespace {

const std::string kReservedNodeClass =
    std::string(kNodeClass) + "  capacityReservationSelectorTerms: [{id: cr-0a1b}]\n";
const std::string kPatientNodePool =
    std::string(kNodePool) +
    "        - {key: karpenter.sh/capacity-type, operator: In, values: [reserved, on-demand]}\n";

class AwsReservations : public testing::Test, protected AwsCluster {
 protected:
  AwsReservations() {
    ec2.aws.on("DescribeCapacityReservations", [this](const Asked&) {
      const auto used = ec2.living_in("cr-0a1b");
      return cloud::aws::xml(
          ec2.reservation_ended
              ? "<R><capacityReservationSet/></R>"
              : "<R><capacityReservationSet><item><capacityReservationId>cr-0a1b"
                "</capacityReservationId><ownerId>123456789012</ownerId><instanceType>m6i.large"
                "</instanceType><availabilityZone>us-west-2b</availabilityZone>"
                "<instanceMatchCriteria>targeted</instanceMatchCriteria><availableInstanceCount>" +
                    std::to_string(2 - used) +
                    "</availableInstanceCount><state>active</state></item>"
                    "</capacityReservationSet></R>");
    });
  }

  // "reserved cr-0a1b default false" for each object of the kind, in order; "-" where one is not.
  std::vector<std::string> kinds_of(const model::Resource& resource) {
    std::vector<std::string> result;
    const auto listed = cloud::wait(loop, person.list(resource));
    for (const auto& object : listed->items) {
      const auto& labels = object.at("metadata").at("labels").as_object();
      std::string text;
      for (const auto* key :
           {"karpenter.sh/capacity-type", "karpenter.k8s.aws/capacity-reservation-id",
            "karpenter.k8s.aws/capacity-reservation-type",
            "karpenter.k8s.aws/capacity-reservation-interruptible"}) {
        const auto* value = labels.if_contains(key);
        text +=
            (text.empty() ? "" : " ") + (value == nullptr ? "-" : std::string(value->as_string()));
      }
      result.push_back(std::move(text));
    }
    std::sort(result.begin(), result.end());
    return result;
  }
};

TEST_F(AwsReservations, AreUsedUpFirstAndOutlivedByTheirNodes) {
  apply(kReservedNodeClass);
  apply(kPatientNodePool);
  apply(kSpreadDeployment);
  loop.run_for(8min);
  ASSERT_EQ(running_pods(), 5U);
  const std::string bought = "on-demand - - -";
  const std::string reserved = "reserved cr-0a1b default false";
  const std::vector<std::string> mixed{bought, bought, bought, reserved, reserved};
  EXPECT_EQ(kinds_of(model::kNodeClaimResource), mixed);
  EXPECT_EQ(kinds_of(model::kNodeResource), mixed);
  EXPECT_EQ(ec2.living_in("cr-0a1b"), 2);
  EXPECT_EQ(condition(get(model::kEc2NodeClassResource, "default"), "CapacityReservationsReady"),
            "True");
  const auto before = ec2.machines.size();

  ec2.reservation_ended = true;
  loop.run_for(15min);
  EXPECT_EQ(kinds_of(model::kNodeClaimResource), std::vector<std::string>(5, bought));
  EXPECT_EQ(kinds_of(model::kNodeResource), std::vector<std::string>(5, bought));
  EXPECT_EQ(running_pods(), 5U);
  EXPECT_EQ(ec2.machines.size(), before) << "nodes were replaced";
}

}  // namespace
}  // namespace millwright
