#include "simulated_fixture.hpp"

namespace millwright::cloud {
namespace {

TEST(ProviderSet, FindsTheProviderThatServesANodeClassKind) {
  base::VirtualLoop loop(kSimulatedStart);
  ProviderSet set;
  for (const auto profile : {Profile::Kwok, Profile::Aws, Profile::Alibaba, Profile::Huawei}) {
    set.add(*SimulatedCloud::make(loop, profile, {}));
  }
  ASSERT_EQ(set.all().size(), 4U);
  EXPECT_EQ(set.find("karpenter.kwok.sh", "KWOKNodeClass"), set.all()[0].get());
  EXPECT_EQ(set.find("karpenter.k8s.aws", "EC2NodeClass"), set.all()[1].get());
  EXPECT_EQ(set.find("karpenter.k8s.alibabacloud", "ECSNodeClass"), set.all()[2].get());
  EXPECT_EQ(set.find("karpenter.k8s.huawei", "CCENodeClass"), set.all()[3].get());
}

TEST(ProviderSet, FindsNothingForAnotherGroupOrKind) {
  base::VirtualLoop loop(kSimulatedStart);
  ProviderSet set;
  set.add(*SimulatedCloud::make(loop, Profile::Aws, {}));
  EXPECT_EQ(set.find("karpenter.k8s.aws", "KWOKNodeClass"), nullptr);
  EXPECT_EQ(set.find("example.com", "EC2NodeClass"), nullptr);
}

TEST(Profile, NamesRoundTrip) {
  for (const auto profile : {Profile::Kwok, Profile::Aws, Profile::Alibaba, Profile::Huawei}) {
    EXPECT_EQ(parse_profile(to_string(profile)), profile);
  }
  EXPECT_EQ(parse_profile("azure"), std::nullopt);
}

}  // namespace
}  // namespace millwright::cloud
