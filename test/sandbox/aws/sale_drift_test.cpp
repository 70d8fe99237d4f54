// Nodes drift when what they are is sold no more; not when the program cannot know for a while what
// is sold.
#include "aws_cluster.hpp"

#include <boost/json.hpp>

namespace millwright {
namespace {

using testing::Each;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kSpotPrices =
    "<R><spotPriceHistorySet>"
    "<item><instanceType>m5.large</instanceType><productDescription>Linux/UNIX</productDescription>"
    "<spotPrice>0.03</spotPrice><timestamp>2026-01-01T00:00:00.000Z</timestamp>"
    "<availabilityZone>us-west-2a</availabilityZone></item>"
    "</spotPriceHistorySet></R>";
constexpr std::string_view kUnavailable =
    "<Response><Errors><Error><Code>Unavailable</Code><Message>later</Message></Error></Errors>"
    "</Response>";

class AwsSaleDrift : public testing::Test, protected AwsCluster {
 protected:
  void up(std::string_view capacity_type) {
    apply(kNodeClass);
    apply(std::string(kNodePool) +
          "        - {key: karpenter.sh/capacity-type, operator: In, values: [" +
          std::string(capacity_type) + "]}\n");
    apply(kDeployment);
    loop.run_for(10min);
    ASSERT_EQ(running_pods(), 5U);
  }
  std::string class_condition(std::string_view type) {
    return condition(get(model::kEc2NodeClassResource, "default"), type);
  }
  // Of each claim the status of the condition Drifted.
  std::vector<std::string> drifted() {
    std::vector<std::string> result;
    const auto listed = cloud::wait(loop, person.list(model::kNodeClaimResource));
    for (const auto& claim : listed->items) {
      result.push_back(condition(claim, "Drifted"));
    }
    return result;
  }
};

TEST_F(AwsSaleDrift, IsNotSaidWhileSpotPricesAreUnknownAfterARestart) {
  ec2.aws.on("DescribeSpotPriceHistory", std::string(kSpotPrices));
  up("spot");
  const auto before = ec2.machines.size();
  crash();
  ec2.aws.on("DescribeSpotPriceHistory",
             [](const Asked&) { return cloud::aws::xml(std::string(kUnavailable), 503); });
  start_program();
  loop.run_for(3h);
  EXPECT_THAT(drifted(), Not(IsEmpty()));
  EXPECT_THAT(drifted(), Each("absent"));
  EXPECT_EQ(ec2.machines.size(), before);
}

TEST_F(AwsSaleDrift, IsNotSaidWhileTheClassFindsNoSubnets) {
  up("on-demand");
  const auto before = ec2.machines.size();
  ec2.aws.on("DescribeSubnets", "<R><subnetSet/></R>");
  loop.run_for(3h);
  EXPECT_EQ(class_condition("Ready"), "False");
  EXPECT_THAT(drifted(), Not(IsEmpty()));
  EXPECT_THAT(drifted(), Each("absent"));
  EXPECT_EQ(ec2.machines.size(), before);
}

TEST_F(AwsSaleDrift, ReplacesNodesOfATypeThatIsSoldNoMore) {
  up("on-demand");
  const std::string gone = ec2.living().front().type;
  auto types = std::string(cloud::aws::read_test_data("instance_types.xml"));
  for (auto at = types.find(">" + gone + "<"); at != std::string::npos;
       at = types.find(">" + gone + "<", at)) {
    types.replace(at, gone.size() + 2, ">x9.gone<");
  }
  ec2.aws.on("DescribeInstanceTypes", types);
  loop.run_for(13h);  // types are read twice a day
  EXPECT_EQ(running_pods(), 5U);
  for (const auto& machine_left : ec2.living()) {
    EXPECT_NE(machine_left.type, gone);
  }
}

}  // namespace
}  // namespace millwright
