// Warnings: objects that are accepted and yet will not do what their author thinks.
#include "warnings.hpp"

#include "nearest.hpp"
#include "reviews.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>

namespace millwright::webhooks {
namespace {

using scheduling::InstanceType;
using scheduling::Requirement;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

InstanceType instance_type(const std::string& name, const std::string& cpu, const std::string& arch,
                           const std::vector<std::string>& capacity_types) {
  InstanceType type;
  type.name = name;
  for (Requirement requirement :
       {Requirement::in("node.kubernetes.io/instance-type", {name}),
        Requirement::in("kubernetes.io/arch", {arch}),
        Requirement::in("kubernetes.io/os", {"linux"}),
        Requirement::in("karpenter.kwok.sh/instance-cpu", {cpu}),
        Requirement::in("topology.kubernetes.io/zone", {"zone-a", "zone-b"}),
        Requirement::in("karpenter.sh/capacity-type", capacity_types)}) {
    type.requirements.add(std::move(requirement));
  }
  for (const char* zone : {"zone-a", "zone-b"}) {
    for (const std::string& capacity_type : capacity_types) {
      scheduling::Offering offering;
      offering.requirements.add(Requirement::in("topology.kubernetes.io/zone", {zone}));
      offering.requirements.add(Requirement::in("karpenter.sh/capacity-type", {capacity_type}));
      type.offerings.push_back(std::move(offering));
    }
  }
  return type;
}

World small_world() {
  World world;
  world.now = base::TimePoint(std::chrono::hours(24 * 20000));
  for (const char* name : {"default", "storage"}) {
    model::NodeClass node_class;
    node_class.api_version = "karpenter.kwok.sh/v1alpha1";
    node_class.kind = "KWOKNodeClass";
    node_class.meta.name = name;
    world.node_classes.push_back(node_class);
  }
  const auto types = std::make_shared<const std::vector<InstanceType>>(std::vector<InstanceType>{
      instance_type("c-2x-amd64-linux", "2", "amd64", {"spot", "on-demand"}),
      instance_type("c-4x-amd64-linux", "4", "amd64", {"spot", "on-demand"}),
      instance_type("c-8x-arm64-linux", "8", "arm64", {"on-demand"})});
  world.instance_types = [types](const model::NodeClassReference&) { return types; };
  return world;
}

json::value base_pool() {
  return test::admission_bases().at("nodepool");
}

std::vector<std::string> warnings_for(const json::value& object, const World& world) {
  const Admission admission([&] { return std::make_shared<const World>(world); });
  return warnings_of(admission.validate(creation(object)));
}

json::value with_requirements(const std::string& yaml) {
  json::value pool = base_pool();
  pool.at_pointer("/spec/template/spec").as_object()["requirements"] =
      model::parse_yaml(yaml)->at(0);
  return pool;
}

json::value with_disruption(const std::string& yaml) {
  json::value pool = base_pool();
  pool.at("spec").as_object()["disruption"] = model::parse_yaml(yaml)->at(0);
  return pool;
}

TEST(Warnings, AreNoneForAnOrdinaryPool) {
  EXPECT_THAT(warnings_for(base_pool(), small_world()), IsEmpty());
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
    const auto warnings = warnings_for(with_requirements(test_case.requirements), small_world());
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
  EXPECT_THAT(warnings_for(pool, small_world()),
              ElementsAre(HasSubstr("labels[topology.kubernetes.io/zone]")));
}

TEST(CatalogWarnings, AreSilentAboutAnUnknownCatalog) {
  const json::value pool =
      with_requirements("[{key: topology.kubernetes.io/zone, operator: In, values: [moon]}]");
  World world = small_world();
  world.instance_types = [](const model::NodeClassReference&) { return nullptr; };
  EXPECT_THAT(warnings_for(pool, world), IsEmpty());
  world.instance_types = nullptr;
  EXPECT_THAT(warnings_for(pool, world), IsEmpty());
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
       {"karpenter.alibabacloud.com", "ECSNodeClass", "default"},
       "the group of that kind is karpenter.k8s.alibabacloud"},
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
    World world = small_world();
    world.instance_types = nullptr;
    const auto warnings = warnings_for(pool, world);
    ASSERT_THAT(warnings, SizeIs(test_case.says.empty() ? 0 : 1)) << test_case.name;
    if (!test_case.says.empty()) {
      EXPECT_THAT(warnings[0], AllOf(HasSubstr("nodeClassRef"), HasSubstr(test_case.says)))
          << test_case.name;
    }
  }
}

TEST(NodeClassWarnings, PassOnWhyAClassIsNotReady) {
  World world = small_world();
  world.node_classes[0].conditions = {{.type = "Ready",
                                       .status = model::ConditionStatus::False,
                                       .reason = "SubnetsNotFound",
                                       .message = "no subnet matches"}};
  EXPECT_THAT(warnings_for(base_pool(), world),
              ElementsAre(AllOf(HasSubstr("SubnetsNotFound"), HasSubstr("no subnet matches"))));
  world.node_classes[0].conditions.clear();
  world.node_classes[0].meta.deletion_timestamp = world.now;
  EXPECT_THAT(warnings_for(base_pool(), world), ElementsAre(HasSubstr("being deleted")));
}

model::NodePool other_pool(const std::string& name) {
  model::NodePool pool = *model::decode<model::NodePool>(base_pool());
  pool.meta.name = name;
  return pool;
}

TEST(WeightWarnings, NameThePoolsThatTie) {
  World world = small_world();
  world.node_pools = {other_pool("default"), other_pool("second")};
  EXPECT_THAT(warnings_for(base_pool(), world),
              ElementsAre(AllOf(HasSubstr("spec.weight: 0"), HasSubstr("\"second\""))));
  world.node_pools = {other_pool("e"), other_pool("d"), other_pool("c"), other_pool("b")};
  EXPECT_THAT(warnings_for(base_pool(), world),
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
  World world = small_world();
  world.node_pools = {other_pool("default"), heavier, elsewhere, tainted, fixed, leaving};
  EXPECT_THAT(warnings_for(base_pool(), world), IsEmpty());
}

struct DisruptionCase {
  std::string name;
  std::string disruption;
  std::string says;
};

TEST(DisruptionWarnings, SayWhatWillNeverHappen) {
  const std::vector<DisruptionCase> cases{
      {"budgets closed for good", "{budgets: [{nodes: '0'}]}", "no node of the pool is ever"},
      {"zero percent", "{budgets: [{nodes: 0%}]}", "no node of the pool is ever disrupted, since"},
      {"closed for good for one reason", "{budgets: [{nodes: '0', reasons: [Drifted]}]}",
       "ever disrupted as Drifted"},
      {"closed for good by two budgets",
       "{budgets: [{nodes: '0', reasons: [Empty, Drifted]}, {nodes: '0', reasons: "
       "[Underutilized]}]}",
       "ever disrupted, since"},
      {"a day that is a day long", "{budgets: [{nodes: '0', schedule: '@daily', duration: 24h}]}",
       "no node of the pool is ever disrupted"},
      {"every minute", "{budgets: [{nodes: '0', schedule: '* * * * *', duration: 1m}]}",
       "no node of the pool is ever disrupted"},
      {"a month that is longer than a month",
       "{budgets: [{nodes: '0', schedule: '@monthly', duration: 744h}]}",
       "no node of the pool is ever disrupted"},
      {"a day that leaves an hour", "{budgets: [{nodes: '0', schedule: '@daily', duration: 23h}]}",
       ""},
      {"weekdays that leave the weekend",
       "{budgets: [{nodes: '0', schedule: '0 0 * * mon-fri', duration: 24h}]}", ""},
      {"a closed budget beside an open one", "{budgets: [{nodes: '0'}, {nodes: '5'}]}",
       "ever disrupted"},
      {"a schedule that never comes",
       "{budgets: [{nodes: '0', schedule: '0 0 30 2 *', duration: 1h}]}", "never comes"},
      {"a schedule that is none", "{budgets: [{nodes: '5', schedule: 'a b c d e', duration: 1h}]}",
       "until it is mended"},
      {"a budget that lasts no time", "{budgets: [{nodes: '0', schedule: '@daily', duration: 0h}]}",
       "lasts no time"},
      {"consolidation off", "{consolidateAfter: Never}", "or expire after 720h"},
      {"a small budget", "{budgets: [{nodes: '1'}]}", ""},
      {"no budgets", "{budgets: []}", ""},
  };
  for (const DisruptionCase& test_case : cases) {
    const auto warnings = warnings_for(with_disruption(test_case.disruption), small_world());
    ASSERT_THAT(warnings, SizeIs(test_case.says.empty() ? 0 : 1)) << test_case.name;
    if (!test_case.says.empty()) {
      EXPECT_THAT(warnings[0], HasSubstr(test_case.says)) << test_case.name;
    }
  }
}

TEST(DisruptionWarnings, SayThatNothingEverGoes) {
  json::value pool = with_disruption("{consolidateAfter: Never}");
  pool.at_pointer("/spec/template/spec").as_object()["expireAfter"] = "Never";
  EXPECT_THAT(warnings_for(pool, small_world()),
              ElementsAre(HasSubstr("expireAfter is \"Never\" too")));
}

TEST(DisruptionWarnings, SayThatStaticPoolsAreNotConsolidated) {
  json::value pool = test::admission_bases().at("static");
  pool.at("spec").as_object()["disruption"] = {{"consolidationPolicy", "WhenEmpty"}};
  EXPECT_THAT(warnings_for(pool, small_world()), ElementsAre(HasSubstr("static pool")));
}

TEST(PoolWarnings, FindPoolsThatCanMakeNoNode) {
  json::value pool = base_pool();
  pool.at("spec").as_object()["limits"] = {{"cpu", 0}, {"memory", "10Gi"}};
  EXPECT_THAT(warnings_for(pool, small_world()), ElementsAre(HasSubstr("spec.limits[cpu]")));
  pool = base_pool();
  pool.at("metadata").as_object()["name"] = std::string(64, 'a');
  EXPECT_THAT(warnings_for(pool, small_world()), ElementsAre(HasSubstr("metadata.name")));
}

TEST(ClassWarnings, AreAboutWhatTheCloudOrTheTranslationMakesOfThem) {
  const struct {
    std::string name;
    std::string base;
    std::string path;
    json::value value;
    std::string says;
    std::size_t count;
  } cases[] = {
      {"a small CCE root volume", "cce", "/spec/blockDeviceMappings/root/volumeSize", 20,
       "at least 40 GiB", 1},
      {"a CCE root volume of 40", "cce", "/spec/blockDeviceMappings/root/volumeSize", 40, "", 0},
      {"a plain CCE password",
       "cce",
       "/spec/login",
       {{"userPassword", {{"password", "hunter2"}}}},
       "base64-encoded",
       1},
      {"a hashed CCE password",
       "cce",
       "/spec/login",
       {{"userPassword", {{"password", base::encode_base64("$6$salt$hash")}}}},
       "",
       0},
      {"the old ECS disk size", "ecs", "/spec/systemDisk", {{"size", 40}}, "deprecated", 1},
      {"a launch template", "template", "/spec/context", "x", "older form", 1},
      {"a Provisioner that removes empty nodes", "provisioner", "/spec/weight", 1, "older form", 1},
  };
  for (const auto& test_case : cases) {
    const json::value object =
        test::changed(test::admission_bases().at(test_case.base),
                      {{"set", json::object{{test_case.path, test_case.value}}}});
    const auto warnings = warnings_for(object, small_world());
    ASSERT_THAT(warnings, SizeIs(test_case.count)) << test_case.name;
    if (test_case.count > 0) {
      EXPECT_THAT(warnings[0], HasSubstr(test_case.says)) << test_case.name;
    }
    for (const std::string& warning : warnings) {
      EXPECT_THAT(warning, testing::Not(HasSubstr("hunter2")));
    }
  }
}

TEST(ClassWarnings, TellWhatOlderKindsCannotSay) {
  json::value node_template = test::admission_bases().at("template");
  node_template.at("spec").as_object().erase("securityGroupSelector");
  node_template.at("spec").as_object()["launchTemplate"] = "mine";
  EXPECT_THAT(warnings_for(node_template, small_world()),
              ElementsAre(HasSubstr("older form"), HasSubstr("cannot be translated")));
  json::value provisioner = test::admission_bases().at("provisioner");
  provisioner.at("spec").as_object().erase("ttlSecondsAfterEmpty");
  EXPECT_THAT(warnings_for(provisioner, small_world()),
              ElementsAre(HasSubstr("older form"), HasSubstr("never removed")));
}

TEST(Warnings, ComeOnlyWhenTheSpecIsWritten) {
  const json::value pool = with_disruption("{consolidateAfter: Never}");
  json::value annotated = pool;
  annotated.at("metadata").as_object()["annotations"] = {{"a", "b"}};
  EXPECT_THAT(warnings_of(blind_admission().validate(update(annotated, pool))), IsEmpty());
  EXPECT_THAT(warnings_of(blind_admission().validate(update(pool, base_pool()))), SizeIs(1));
}

TEST(Warnings, ComeWithRefusalsToo) {
  json::value pool = with_disruption("{consolidateAfter: Never}");
  pool.at("spec").as_object()["weight"] = 0;
  const HttpReply reply = blind_admission().validate(creation(pool));
  EXPECT_FALSE(response_of(reply).at("allowed").as_bool());
  EXPECT_THAT(warnings_of(reply), SizeIs(1));
}

TEST(Warnings, StayWithinWhatAnApiServerPassesOn) {
  std::string requirements;
  for (int i = 0; i < 100; ++i) {
    requirements += "- {key: topology.kubernetes.io/zone, operator: In, values: [" +
                    std::string(50, 'z') + std::to_string(i) + ", ä" + std::string(150, 'y') +
                    "]}\n";
  }
  const json::value object = with_requirements(requirements);
  const World world = small_world();
  const auto warnings = warnings_about(model::kNodePoolResource, object, &world);
  std::size_t bytes = 0;
  for (const std::string& warning : warnings) {
    EXPECT_LT(warning.size(), 256U);
    bytes += warning.size();
  }
  EXPECT_LT(bytes, 4096U);
  ASSERT_THAT(warnings, testing::Not(IsEmpty()));
  EXPECT_THAT(warnings.back(), HasSubstr("more warnings"));
}

TEST(Nearest, PrefersFewEditsAndKnowsNumbers) {
  const Texts names{"amd64", "arm64", "c9.large.4", "c9.xlarge.4"};
  EXPECT_EQ(nearest("adm64", names), "amd64");
  EXPECT_EQ(nearest("c9.xlarg.4", names), "c9.xlarge.4");
  EXPECT_EQ(nearest("windows", names), "");
  EXPECT_EQ(nearest("x", {}), "");
  EXPECT_EQ(nearest("100", {"2", "16", "64", "big"}), "64");
  EXPECT_EQ(nearest("3", {"big"}), "");
}

RC_GTEST_PROP(EditDistance, IsSymmetricAndZeroOnlyForEqualTexts, (std::string a, std::string b)) {
  RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
  RC_ASSERT((edit_distance(a, b) == 0) == (a == b));
  RC_ASSERT(edit_distance(a, b) <= std::max(a.size(), b.size()));
}

}  // namespace
}  // namespace millwright::webhooks
