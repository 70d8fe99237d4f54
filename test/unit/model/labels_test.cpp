#include "millwright/model/labels.hpp"

#include <gtest/gtest.h>

namespace millwright::model {
namespace {

TEST(Labels, KnowTheWellKnownOnesAndThoseProvidersAdd) {
  for (const std::string_view key :
       {kNodePoolLabel, kZoneLabel, kRegionLabel, kInstanceTypeLabel, kArchLabel, kOsLabel,
        kCapacityTypeLabel, kWindowsBuildLabel}) {
    EXPECT_TRUE(is_well_known_label(key)) << key;
    EXPECT_FALSE(is_restricted_label(key)) << key;
  }
  EXPECT_FALSE(is_well_known_label(kHostnameLabel));
  EXPECT_FALSE(is_well_known_label("team"));
}

TEST(Labels, RestrictKarpentersDomainAndTheHostname) {
  EXPECT_TRUE(is_restricted_label(kHostnameLabel));
  EXPECT_TRUE(is_restricted_label("karpenter.sh/anything"));
  EXPECT_TRUE(is_restricted_label("compatibility.karpenter.sh/provider"));
  EXPECT_FALSE(is_restricted_label("notkarpenter.sh/a"));
  EXPECT_FALSE(is_restricted_label("karpenter.sh"));  // a name without a domain
  EXPECT_FALSE(is_restricted_label("team"));
  EXPECT_FALSE(is_restricted_label("example.com/team"));
}

TEST(Labels, ProvidersRestrictADomainAndExemptTheirOwnKeys) {
  EXPECT_FALSE(is_restricted_label("test.provider.example/family"));
  register_restricted_domain("test.provider.example");
  EXPECT_TRUE(is_restricted_label("test.provider.example/family"));
  EXPECT_TRUE(is_restricted_label("sub.test.provider.example/family"));
  register_well_known_label("test.provider.example/family");
  EXPECT_FALSE(is_restricted_label("test.provider.example/family"));
  EXPECT_TRUE(is_restricted_label("test.provider.example/other"));
}

TEST(Labels, BetaKeysAreNormalised) {
  EXPECT_EQ(normalized_label_key("failure-domain.beta.kubernetes.io/zone"), kZoneLabel);
  EXPECT_EQ(normalized_label_key("failure-domain.beta.kubernetes.io/region"), kRegionLabel);
  EXPECT_EQ(normalized_label_key("beta.kubernetes.io/arch"), kArchLabel);
  EXPECT_EQ(normalized_label_key("beta.kubernetes.io/os"), kOsLabel);
  EXPECT_EQ(normalized_label_key("beta.kubernetes.io/instance-type"), kInstanceTypeLabel);
  EXPECT_EQ(normalized_label_key("team"), "team");
}

TEST(Labels, ZoneKeysOfVolumeDriversAreTheZone) {
  EXPECT_EQ(normalized_label_key("topology.ebs.csi.aws.com/zone"), kZoneLabel);
  EXPECT_EQ(normalized_label_key("topology.diskplugin.csi.alibabacloud.com/zone"), kZoneLabel);
  EXPECT_EQ(normalized_label_key("topology.csi.example.com/zone"), "topology.csi.example.com/zone");
}

TEST(QualifiedNames, AreAcceptedWhenKubernetesAcceptsThem) {
  for (const std::string& key :
       {std::string("a"), std::string("simple"), std::string("now-with-dashes"),
        std::string("1-starts-with-num"), std::string("simple/simple"),
        std::string("now.with.dots/simple"), std::string("1.2.3.4/5678"),
        std::string("Uppercase_Is_OK"), std::string("example.com/Uppercase_Is_OK_123"),
        std::string(63, 'a'), std::string(253, 'a') + "/" + std::string(63, 'b')}) {
    EXPECT_EQ(qualified_name_problem(key), "") << key;
  }
}

TEST(QualifiedNames, AreRefusedWithAReason) {
  for (const std::string& key :
       {std::string(), std::string("nospecialchars%^=@"), std::string("cantendwithadash-"),
        std::string("-cantstartwithadash-"), std::string("only/one/slash"),
        std::string("Example.com/abc"), std::string("example_com/abc"), std::string("example.com/"),
        std::string("/simple"), std::string("a..b/c"), std::string(".a/c"), std::string("a./c"),
        std::string("a-.b/c"), std::string("a.-b/c"), std::string(64, 'a'),
        std::string(254, 'a') + "/a", std::string("spaces in name")}) {
    EXPECT_NE(qualified_name_problem(key), "") << key;
  }
}

TEST(LabelValues, FollowKubernetesRules) {
  for (const std::string& value :
       {std::string(), std::string("a"), std::string("A.b_c-9"), std::string(63, 'a')}) {
    EXPECT_EQ(label_value_problem(value), "") << value;
  }
  for (const std::string& value : {std::string("-a"), std::string("a-"), std::string("a b"),
                                   std::string("a/b"), std::string(64, 'a'), std::string(" ")}) {
    EXPECT_NE(label_value_problem(value), "") << value;
  }
}

}  // namespace
}  // namespace millwright::model
