#include "millwright/cloud/alibaba_groups.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millwright::cloud {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

json::value pool(const std::string& group, const std::string& requirements,
                 const std::string& labels = "team: a") {
  return model::parse_yaml("{kind: NodePool, spec: {template: {metadata: {labels: {" + labels +
                           "}}, spec: {nodeClassRef: {group: " + group +
                           ", kind: ECSNodeClass, name: web}, requirements: [" + requirements +
                           "]}}}}")
      .value()
      .front();
}

const std::string kServedGroup = "karpenter.k8s.alibabacloud";
const std::string kOfficialGroup = "karpenter.alibabacloud.com";

TEST(OfficialPool, IsToldByTheGroupThatItNames) {
  const auto official = pool(kOfficialGroup, "");
  EXPECT_TRUE(names_ecs_class(official, EcsGroup::Official));
  EXPECT_FALSE(names_ecs_class(official, EcsGroup::Served));
  EXPECT_FALSE(names_ecs_class(pool("karpenter.k8s.aws", ""), EcsGroup::Served));
  EXPECT_FALSE(names_ecs_class(json::object(), EcsGroup::Official));
}

TEST(OfficialPool, HasTheLabelsOfTheGroupThatItNamesBothWays) {
  const auto official =
      pool(kOfficialGroup,
           "{key: karpenter.alibabacloud.com/instance-cpu, operator: Gt, values: ['4']},"
           "{key: node.kubernetes.io/instance-family, operator: In, values: [g7, c7]},"
           "{key: node.kubernetes.io/instance-size, operator: Exists},"
           "{key: karpenter.sh/capacity-type, operator: In, values: [spot]}",
           "team: a, karpenter.alibabacloud.com/instance-category: g");
  const auto served = pool(
      kServedGroup,
      "{key: karpenter.k8s.alibabacloud/instance-cpu, operator: Gt, values: ['4']},"
      "{key: karpenter.k8s.alibabacloud/instance-family, operator: In, values: [ecs.g7, ecs.c7]},"
      "{key: karpenter.k8s.alibabacloud/instance-size, operator: Exists},"
      "{key: karpenter.sh/capacity-type, operator: In, values: [spot]}",
      "team: a, karpenter.k8s.alibabacloud/instance-category: g");
  const auto there = translate_ecs_pool(official, EcsGroup::Served);
  EXPECT_EQ(there.object, served);
  EXPECT_THAT(there.problems, IsEmpty());
  const auto back = translate_ecs_pool(served, EcsGroup::Official);
  EXPECT_EQ(back.object, official);
  EXPECT_THAT(back.problems, IsEmpty());
}

TEST(OfficialPool, ALabelWithOtherValuesIsAProblem) {
  const auto problems_of = [](const std::string& requirement) {
    return translate_ecs_pool(pool(kOfficialGroup, requirement), EcsGroup::Served).problems;
  };
  EXPECT_THAT(
      problems_of("{key: karpenter.alibabacloud.com/instance-gpu-memory, operator: Gt, "
                  "values: ['16']}"),
      ElementsAre("spec.template.spec.requirements[0]: "
                  "karpenter.alibabacloud.com/instance-gpu-memory has no equivalent; choose "
                  "by another label, or by node.kubernetes.io/instance-type"));
  EXPECT_THAT(problems_of("{key: node.kubernetes.io/instance-family, operator: In, values: "
                          "[gn6i-c4g1]}"),
              ElementsAre(HasSubstr("node.kubernetes.io/instance-family gn6i-c4g1 has no")));
  EXPECT_THAT(translate_ecs_pool(pool(kServedGroup, "", "topology.k8s.alibabacloud/zone-id: a"),
                                 EcsGroup::Official)
                  .problems,
              ElementsAre(HasSubstr("spec.template.metadata.labels: topology.k8s.alibabacloud/")));
}

}  // namespace
}  // namespace millwright::cloud
