// What each cloud calls a broken node.
#include "simulated_fixture.hpp"

#include <string>
#include <vector>

namespace millwright::cloud {
namespace {

using testing::ElementsAre;

// "Ready=False 10m", each.
std::vector<std::string> policies_of(Profile profile) {
  const Bench bench(profile);
  std::vector<std::string> texts;
  for (const auto& policy : bench.cloud->repair_policies()) {
    const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(policy.toleration);
    texts.push_back(std::string(policy.condition) +
                    (policy.status == model::ConditionStatus::False ? "=False " : "=Unknown ") +
                    std::to_string(minutes.count()) + "m");
  }
  return texts;
}

TEST(RepairPolicies, AreThoseOfKarpentersProviders) {
  EXPECT_THAT(policies_of(Profile::Kwok), ElementsAre("Ready=False 10m", "Ready=Unknown 10m"));
  EXPECT_THAT(
      policies_of(Profile::Aws),
      ElementsAre("Ready=False 30m", "Ready=Unknown 30m", "AcceleratedHardwareReady=False 10m",
                  "StorageReady=False 30m", "NetworkingReady=False 30m", "KernelReady=False 30m",
                  "ContainerRuntimeReady=False 30m"));
  EXPECT_THAT(policies_of(Profile::Alibaba), ElementsAre("Ready=False 30m", "Ready=Unknown 30m"));
  EXPECT_THAT(policies_of(Profile::Huawei), ElementsAre("Ready=False 30m", "Ready=Unknown 30m"));
}

}  // namespace
}  // namespace millwright::cloud
