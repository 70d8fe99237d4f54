#include "app/whatif/request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::VariantWith;

using Words = std::vector<std::string>;

WhatIfRequest parsed(const Words& words) {
  auto request = parse_what_if(words);
  EXPECT_TRUE(request) << request.error().message;
  return request ? *std::move(request) : WhatIfRequest();
}

std::string problem_with(Words words) {
  words.insert(words.begin(), {"-f", "a"});
  const auto request = parse_what_if(words);
  EXPECT_FALSE(request);
  return request ? std::string() : request.error().message;
}

TEST(WhatIfRequest, ChangesKeepTheirOrder) {
  const auto request = parsed({"-f", "a.yaml", "-f", "-", "drain", "one", "two", "apply", "-f",
                               "pool.yaml", "-f", "web.yaml", "zone-out", "z", "drain", "three"});
  EXPECT_THAT(request.files, ElementsAre("a.yaml", "-"));
  EXPECT_THAT(request.changes, ElementsAre(VariantWith<DrainNode>(DrainNode{"one"}),
                                           VariantWith<DrainNode>(DrainNode{"two"}),
                                           VariantWith<ApplyFile>(ApplyFile{"pool.yaml"}),
                                           VariantWith<ApplyFile>(ApplyFile{"web.yaml"}),
                                           VariantWith<ZoneOut>(ZoneOut{"z"}),
                                           VariantWith<DrainNode>(DrainNode{"three"})));
}

TEST(WhatIfRequest, APriceIsForATypeAndPerhapsAZoneAndACapacityType) {
  const auto request = parsed({"-f", "a", "price", "m5.large=0.5", "c5.large/spot=1",
                               "c5.large/z1=2", "c5.large/z1/on-demand=3"});
  EXPECT_THAT(request.changes,
              ElementsAre(VariantWith<SetPrice>(SetPrice{{"m5.large", "", ""}, 0.5}),
                          VariantWith<SetPrice>(SetPrice{{"c5.large", "", "spot"}, 1}),
                          VariantWith<SetPrice>(SetPrice{{"c5.large", "z1", ""}, 2}),
                          VariantWith<SetPrice>(SetPrice{{"c5.large", "z1", "on-demand"}, 3})));
}

TEST(WhatIfRequest, ANamespaceIsForWhatStandsBeforeIt) {
  const auto request = parsed(
      {"-f", "a", "scale", "deploy/web=5", "sts/db=1", "-n", "shop", "scale", "deployment/api=0"});
  EXPECT_THAT(
      request.changes,
      ElementsAre(VariantWith<ScaleWorkload>(ScaleWorkload{"deployments", "shop", "web", 5}),
                  VariantWith<ScaleWorkload>(ScaleWorkload{"statefulsets", "shop", "db", 1}),
                  VariantWith<ScaleWorkload>(ScaleWorkload{"deployments", "", "api", 0})));
}

TEST(WhatIfRequest, OptionsMayStandAnywhere) {
  const auto request = parsed({"drain", "one", "--horizon", "90m", "-o", "json", "--filename=a",
                               "--at=2026-01-02T03:04:05Z", "--simulated-clouds", "aws,kwok"});
  EXPECT_EQ(request.horizon, std::chrono::minutes(90));
  EXPECT_TRUE(request.json);
  EXPECT_THAT(request.files, ElementsAre("a"));
  EXPECT_EQ(base::format_rfc3339(request.at.value()), "2026-01-02T03:04:05Z");
  EXPECT_THAT(request.clouds, ElementsAre("aws", "kwok"));
}

TEST(WhatIfRequest, EachProblemSaysWhatToWrite) {
  struct Case {
    Words words;
    std::string says;
  };
  const std::vector<Case> cases{
      {{"destroy"}, "\"destroy\" is no change; there are apply, drain"},
      {{"drain"}, "drain: write drain NODE..."},
      {{"drain", "price", "a=1"}, "drain: write drain NODE..."},
      {{"apply", "pool.yaml"}, "write apply -f pool.yaml"},
      {{"price", "m5.large"}, "must be like m5.large=0.096"},
      {{"price", "m5.large=cheap"}, "must be like m5.large=0.096"},
      {{"price", "m5.large=-1"}, "must be like m5.large=0.096"},
      {{"price", "a/b/c/d=1"}, "must be like m5.large=0.096"},
      {{"scale", "web=5"}, "must be like deployment/web=500"},
      {{"scale", "pod/web=5"}, "must be like deployment/web=500"},
      {{"scale", "deployment/web=-5"}, "must be like deployment/web=500"},
      {{"-n", "shop"}, "-n: it stands after what is scaled"},
      {{"-o", "yaml"}, "must be text or json"},
      {{"--horizon", "0s"}, "must be from 1s to 24h"},
      {{"--horizon", "48h"}, "must be from 1s to 24h"},
      {{"--at", "noon"}, "must be like 2026-01-02T03:04:05Z"},
      {{"--simulated-clouds", "moon"}, "there are kwok, aws, alibaba and huawei"},
      {{"--frobnicate", "1"}, "--frobnicate is no option"},
      {{"-o"}, "-o: a value is missing"}};
  for (const auto& each : cases) {
    EXPECT_THAT(problem_with(each.words), HasSubstr(each.says)) << each.words.front();
  }
  const auto without = parse_what_if(Words{"drain", "one"});
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().message, HasSubstr("kubectl get nodes,nodepools"));
}

}  // namespace
}  // namespace millwright::app
