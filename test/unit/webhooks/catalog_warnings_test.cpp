// Warnings that need to see other objects: NodeClasses, catalogs, other pools.
#include "small_cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::webhooks {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Warnings, AreNoneForAnOrdinaryPool) {
  EXPECT_THAT(warnings_for(base_pool(), small_cluster()), IsEmpty());
}

struct RequirementCase {
  std::string name;
  std::string requirements;
  std::vector<std::string> says;  // parts of the one warning; empty: no warning
};

TEST(CatalogWarnings, NameTheRequirementAndTheNearestValue) {
  const std::vector<RequirementCase> cases{
      {"a mistyped instance type",
       "[{key: node.kubernetes.io/instance-type, operator: In, values: [c-2x-amd64-linus]}]",
       {"requirements[0]", "node.kubernetes.io/instance-type In [c-2x-amd64-linus]",
        "nearest is \"c-2x-amd64-linux\""}},
      {"one of several values mistyped",
       "[{key: node.kubernetes.io/instance-type, operator: In, values: [c-2x-amd64-linux, "
       "c-4x-amd46-linux]}]",
       {"requirements[0]", "\"c-4x-amd46-linux\"", "nearest is \"c-4x-amd64-linux\""}},
      {"a value unlike any other",
       "[{key: topology.kubernetes.io/zone, operator: In, values: [moon]}]",
       {"requirements[0]", "offered are zone-a, zone-b"}},
      {"a size above all",
       "[{key: karpenter.kwok.sh/instance-cpu, operator: Gt, values: [\"64\"]}]",
       {"karpenter.kwok.sh/instance-cpu", "nearest is \"8\""}},
      {"a size below all",
       "[{key: karpenter.kwok.sh/instance-cpu, operator: Lt, values: [\"2\"]}]",
       {"nearest is \"2\""}},
      {"all values excluded",
       "[{key: kubernetes.io/arch, operator: NotIn, values: [amd64, arm64]}]",
       {"kubernetes.io/arch NotIn", "offered are amd64, arm64"}},
      {"a key that every type has must not exist",
       "[{key: kubernetes.io/os, operator: DoesNotExist}]",
       {"kubernetes.io/os DoesNotExist"}},
      {"a mistyped key",
       "[{key: topology.kubernetes.io/zones, operator: In, values: [zone-a]}]",
       {"no instance type defines \"topology.kubernetes.io/zones\"",
        "did you mean \"topology.kubernetes.io/zone\""}},
      {"more minValues than there are",
       "[{key: karpenter.kwok.sh/instance-cpu, operator: Exists, minValues: 4}]",
       {"minValues 4", "offer 3"}},
      {"a combination that no type has",
       "[{key: kubernetes.io/arch, operator: In, values: [arm64]}, {key: "
       "karpenter.kwok.sh/instance-cpu, operator: In, values: [\"2\"]}]",
       {"together", "comes closest but for"}},
      {"a capacity type that the type lacks",
       "[{key: kubernetes.io/arch, operator: In, values: [arm64]}, {key: "
       "karpenter.sh/capacity-type, operator: In, values: [spot]}]",
       {"together", "c-2x-amd64-linux comes closest but for \"kubernetes.io/arch\""}},
      {"a label of one's own", "[{key: example.com/team, operator: In, values: [a]}]", {}},
      {"a beta key", "[{key: beta.kubernetes.io/arch, operator: In, values: [amd64]}]", {}},
      {"a size that some have",
       "[{key: karpenter.kwok.sh/instance-cpu, operator: Gte, values: [\"8\"]}]",
       {}},
      {"no requirements", "[]", {}},
  };
  for (const RequirementCase& test_case : cases) {
    const auto warnings = warnings_for(with_requirements(test_case.requirements), small_cluster());
    ASSERT_THAT(warnings, SizeIs(test_case.says.empty() ? 0 : 1)) << test_case.name;
    for (const std::string& part : test_case.says) {
      EXPECT_THAT(warnings[0], HasSubstr(part)) << test_case.name;
    }
  }
}

TEST(CatalogWarnings, LookAtTemplateLabelsToo) {
  json::value pool = base_pool();
  pool.at_pointer("/spec/template/metadata/labels").as_object()["topology.kubernetes.io/zone"] =
      "zone-c";
  EXPECT_THAT(warnings_for(pool, small_cluster()),
              ElementsAre(HasSubstr("labels[topology.kubernetes.io/zone]")));
}

// Validation refuses them, and to look each of a hundred thousand up takes minutes.
TEST(CatalogWarnings, AreLeftOutForMoreRequirementsOrLabelsThanAPoolMayHave) {
  const auto mistyped = [](int count) {
    std::string requirements;
    for (int i = 0; i < count; ++i) {
      requirements += "- {key: kubernetes.io/arch, operator: In, values: [amd46]}\n";
    }
    return warnings_for(with_requirements(requirements), small_cluster());
  };
  EXPECT_THAT(mistyped(100), ::testing::Not(IsEmpty()));
  EXPECT_THAT(mistyped(101), IsEmpty());
}

TEST(CatalogWarnings, AreSilentAboutAnUnknownCatalog) {
  const json::value pool =
      with_requirements("[{key: topology.kubernetes.io/zone, operator: In, values: [moon]}]");
  ClusterSnapshot cluster = small_cluster();
  cluster.instance_types = [](const model::NodeClassReference&) { return nullptr; };
  EXPECT_THAT(warnings_for(pool, cluster), IsEmpty());
  cluster.instance_types = nullptr;
  EXPECT_THAT(warnings_for(pool, cluster), IsEmpty());
}

TEST(NodeClassWarnings, TellWhatTheCloudCannotMake) {
  ClusterSnapshot cluster = small_cluster();
  const json::value base = test::admission_bases().at("official-ecs");
  EXPECT_THAT(warnings_for(base, cluster), IsEmpty());
  cluster.unsupported = [](const model::NodeClass& node_class) {
    return std::vector<std::string>{"spec.launchTemplateID of " + node_class.api_version +
                                    " is not supported"};
  };
  EXPECT_THAT(warnings_for(base, cluster),
              ElementsAre("no node is made: spec.launchTemplateID of "
                          "karpenter.alibabacloud.com/v1alpha1 is not supported"));
}

struct ReferenceCase {
  std::string name;
  model::NodeClassReference reference;
  std::string says;
};

TEST(NodeClassWarnings, SayWhatIsMissing) {
  const std::vector<ReferenceCase> cases{
      {"a class that exists", {"karpenter.kwok.sh", "KWOKNodeClass", "default"}, ""},
      {"a class that does not", {"karpenter.kwok.sh", "KWOKNodeClass", "gpu"}, "does not exist"},
      {"a mistyped class",
       {"karpenter.kwok.sh", "KWOKNodeClass", "defualt"},
       "did you mean \"default\""},
      {"a kind of another cloud's group",
       {"karpenter.k8s.aws", "ECSNodeClass", "default"},
       "the kind of that group is EC2NodeClass"},
      {"a group of another vendor",
       {"karpenter.example.com", "ECSNodeClass", "default"},
       "the group of that kind is karpenter.k8s.alibabacloud or karpenter.alibabacloud.com"},
      {"the other group of a kind",
       {"karpenter.alibabacloud.com", "ECSNodeClass", "default"},
       "does not exist"},
      {"nothing known",
       {"karpenter.example.com", "ExampleNodeClass", "default"},
       "served are EC2NodeClass, ECSNodeClass, CCENodeClass, KWOKNodeClass"},
  };
  for (const ReferenceCase& test_case : cases) {
    json::value pool = base_pool();
    pool.at_pointer("/spec/template/spec").as_object()["nodeClassRef"] = {
        {"group", test_case.reference.group},
        {"kind", test_case.reference.kind},
        {"name", test_case.reference.name}};
    ClusterSnapshot cluster = small_cluster();
    cluster.instance_types = nullptr;
    const auto warnings = warnings_for(pool, cluster);
    ASSERT_THAT(warnings, SizeIs(test_case.says.empty() ? 0 : 1)) << test_case.name;
    if (!test_case.says.empty()) {
      EXPECT_THAT(warnings[0], AllOf(HasSubstr("nodeClassRef"), HasSubstr(test_case.says)))
          << test_case.name;
    }
  }
}

TEST(NodeClassWarnings, SayThatTheKindIsOfACloudThatIsNotEnabled) {
  json::value pool = base_pool();
  pool.at_pointer("/spec/template/spec").as_object()["nodeClassRef"] = {
      {"group", "karpenter.k8s.huawei"}, {"kind", "CCENodeClass"}, {"name", "default"}};
  ClusterSnapshot cluster = small_cluster();
  cluster.instance_types = nullptr;
  cluster.served_node_classes = {model::kEc2NodeClassResource};
  EXPECT_THAT(warnings_for(pool, cluster),
              ElementsAre(AllOf(HasSubstr("no enabled cloud serves CCENodeClass"),
                                HasSubstr("served are EC2NodeClass"))));
  cluster.served_node_classes.push_back(model::kCceNodeClassResource);
  EXPECT_THAT(warnings_for(pool, cluster), ElementsAre(HasSubstr("does not exist")));
}

TEST(NodeClassWarnings, PassOnWhyAClassIsNotReady) {
  ClusterSnapshot cluster = small_cluster();
  cluster.node_classes[0].conditions = {{.type = "Ready",
                                         .status = model::ConditionStatus::False,
                                         .reason = "SubnetsNotFound",
                                         .message = "no subnet matches"}};
  EXPECT_THAT(warnings_for(base_pool(), cluster),
              ElementsAre(AllOf(HasSubstr("SubnetsNotFound"), HasSubstr("no subnet matches"))));
  cluster.node_classes[0].conditions.clear();
  cluster.node_classes[0].meta.deletion_timestamp = cluster.now;
  EXPECT_THAT(warnings_for(base_pool(), cluster), ElementsAre(HasSubstr("being deleted")));
}

model::NodePool other_pool(const std::string& name) {
  model::NodePool pool = *model::decode<model::NodePool>(base_pool());
  pool.meta.name = name;
  return pool;
}

std::vector<std::shared_ptr<const model::NodePool>> shared(std::vector<model::NodePool> pools) {
  std::vector<std::shared_ptr<const model::NodePool>> all;
  for (model::NodePool& pool : pools) {
    all.push_back(std::make_shared<const model::NodePool>(std::move(pool)));
  }
  return all;
}

TEST(WeightWarnings, NameThePoolsThatTie) {
  ClusterSnapshot cluster = small_cluster();
  cluster.node_pools = shared({other_pool("default"), other_pool("second")});
  EXPECT_THAT(warnings_for(base_pool(), cluster),
              ElementsAre(AllOf(HasSubstr("spec.weight: 0"), HasSubstr("\"second\""))));
  cluster.node_pools = shared({other_pool("e"), other_pool("d"), other_pool("c"), other_pool("b")});
  EXPECT_THAT(warnings_for(base_pool(), cluster),
              ElementsAre(HasSubstr("\"b\", \"c\", \"d\" and 1 more")));
}

TEST(WeightWarnings, KeepQuietAboutPoolsThatCannotTie) {
  model::NodePool heavier = other_pool("heavier");
  heavier.weight = 5;
  model::NodePool elsewhere = other_pool("elsewhere");
  elsewhere.template_.requirements = {
      {"kubernetes.io/arch", model::Operator::In, {"arm64"}, std::nullopt}};
  model::NodePool tainted = other_pool("tainted");
  tainted.template_.taints = {{"gpu", "", "NoSchedule", std::nullopt}};
  model::NodePool fixed = other_pool("fixed");
  fixed.replicas = 2;
  model::NodePool leaving = other_pool("leaving");
  leaving.meta.deletion_timestamp = base::TimePoint();
  ClusterSnapshot cluster = small_cluster();
  cluster.node_pools = shared({other_pool("default"), heavier, elsewhere, tainted, fixed, leaving});
  EXPECT_THAT(warnings_for(base_pool(), cluster), IsEmpty());
}

}  // namespace
}  // namespace millwright::webhooks
