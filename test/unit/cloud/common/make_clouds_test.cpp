// What the adapters cannot do without is asked for by the names of its setting and its variable.
#include "millwright/cloud/alibaba.hpp"
#include "millwright/cloud/huawei.hpp"
#include "millwright/net/client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace millwright::cloud {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class MakeClouds : public testing::Test {
 protected:
  std::string huawei(HuaweiSettings settings) {
    const auto made = make_huawei_cloud(loop, *client, std::move(settings), lookup(), metrics, {});
    return made ? "" : made.error().message;
  }
  std::string alibaba(AlibabaSettings settings) {
    const auto made = make_alibaba_cloud(loop, *client, std::move(settings), lookup(), metrics, {});
    return made ? "" : made.error().message;
  }
  std::function<std::optional<std::string>(const std::string&)> lookup() const {
    return [variables = variables](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
  }

  base::RealLoop loop;
  std::unique_ptr<net::Client> client = net::make_client(loop);
  base::Metrics metrics;
  std::map<std::string, std::string> variables;
};

TEST_F(MakeClouds, HuaweiNeedsARegionAndACluster) {
  EXPECT_THAT(huawei({}),
              AllOf(HasSubstr("HUAWEICLOUD_SDK_REGION_ID"), HasSubstr("--huawei-region")));
  EXPECT_THAT(huawei({.region = "cn-north-4"}),
              AllOf(HasSubstr("HUAWEICLOUD_SDK_CCE_CLUSTER_ID"), HasSubstr("--huawei-cluster-id")));
  EXPECT_EQ(huawei({.region = "cn-north-4", .cluster_id = "c1"}), "");
  variables = {{"HUAWEICLOUD_SDK_REGION_ID", "cn-north-4"},
               {"HUAWEICLOUD_SDK_CCE_CLUSTER_ID", "c1"}};
  EXPECT_EQ(huawei({}), "");
}

TEST_F(MakeClouds, AlibabaNeedsAClusterAndARegion) {
  variables = {{"ALIBABA_CLOUD_ECS_METADATA_DISABLED", "true"},
               {"ALIBABA_CLOUD_CLI_PROFILE_DISABLED", "true"}};
  EXPECT_THAT(alibaba({}), AllOf(HasSubstr("CLUSTER_ID"), HasSubstr("--cluster-id")));
  EXPECT_THAT(alibaba({.cluster_id = "c1"}),
              AllOf(HasSubstr("ALIBABA_CLOUD_REGION_ID"), HasSubstr("--alibaba-region")));
  EXPECT_EQ(alibaba({.region = "cn-hangzhou", .cluster_id = "c1"}), "");
  EXPECT_THAT(alibaba({.region = "no region", .cluster_id = "c1"}), HasSubstr("cn-hangzhou"));
}

}  // namespace
}  // namespace millwright::cloud
