#include "millwright/controllers/legacy/legacy.hpp"

#include "millwright/model/codec.hpp"
#include "millwright/schema/schema.hpp"
#include "unit/cloud/simulated/witness.hpp"
#include "unit/controllers/with_services.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <utility>

namespace millwright::controllers {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

json::value yaml(const std::string& text) {
  return model::parse_yaml(text).value().front();
}

std::vector<json::value> example(const std::string& file) {
  std::ifstream stream(std::string(SOURCE_ROOT) + "/manifests/examples/" + file);
  std::ostringstream text;
  text << stream.rdbuf();
  return model::parse_yaml(text.str()).value();
}

json::value with_spec(const char* spec) {
  return yaml(std::string("metadata: {name: team}\nspec: ") + spec + "\n");
}

LegacyTranslation translated(const char* spec) {
  return translate_provisioner(with_spec(spec), nullptr, {}).value();
}

json::value at(const json::value& object, std::string_view path) {
  const auto* found = model::find_path(object, path);
  return found == nullptr ? json::value() : *found;
}

void expect_valid(const json::value& object) {
  const auto* kind = schema::find_kind(std::string(object.at("apiVersion").as_string()),
                                       std::string(object.at("kind").as_string()));
  ASSERT_NE(kind, nullptr);
  json::value defaulted = object;
  schema::apply_defaults(*kind, defaulted);
  for (const auto& problem : schema::validate(*kind, defaulted)) {
    ADD_FAILURE() << problem.to_string();
  }
}

TEST(Legacy, TheUsersManifestsBecomeValidObjects) {
  for (const char* file :
       {"aws-legacy-default.yaml", "aws-legacy-team.yaml", "aws-legacy-weight.yaml"}) {
    const auto documents = example(file);
    ASSERT_EQ(documents.size(), 2U);
    const auto pool = translate_provisioner(documents[0], &documents[1], {});
    ASSERT_TRUE(pool) << pool.error().message;
    EXPECT_FALSE(pool->node_class);
    expect_valid(pool->node_pool);
    const auto node_class = translate_node_template(documents[1], {});
    ASSERT_TRUE(node_class) << node_class.error().message;
    expect_valid(node_class->node_class);
  }
}

TEST(Legacy, DisruptionFollowsTheTimesToLive) {
  struct Case {
    const char* spec;
    const char* policy;
    const char* after;
    const char* expire;
  };
  const Case cases[] = {
      {"{providerRef: {name: t}}", "WhenEmpty", "Never", "Never"},
      {"{providerRef: {name: t}, ttlSecondsAfterEmpty: 30}", "WhenEmpty", "30s", "Never"},
      {"{providerRef: {name: t}, ttlSecondsUntilExpired: 600}", "WhenEmpty", "Never", "600s"},
      {"{providerRef: {name: t}, consolidation: {enabled: true}}", "WhenEmptyOrUnderutilized", "0s",
       "Never"},
      {"{providerRef: {name: t}, consolidation: {enabled: false}, ttlSecondsAfterEmpty: 0}",
       "WhenEmpty", "0s", "Never"}};
  for (const auto& each : cases) {
    const auto pool = translated(each.spec).node_pool;
    EXPECT_EQ(at(pool, "spec.disruption.consolidationPolicy"), json::value(each.policy));
    EXPECT_EQ(at(pool, "spec.disruption.consolidateAfter"), json::value(each.after)) << each.spec;
    EXPECT_EQ(at(pool, "spec.template.spec.expireAfter"), json::value(each.expire));
  }
}

std::string requirements_of(const char* spec) {
  return json::serialize(at(translated(spec).node_pool, "spec.template.spec.requirements"));
}

TEST(Legacy, SilentKeysGetTheOldWebhooksRequirements) {
  const auto text = requirements_of("{providerRef: {name: t}}");
  EXPECT_THAT(text, HasSubstr(R"({"key":"kubernetes.io/os","operator":"In","values":["linux"]})"));
  EXPECT_THAT(text, HasSubstr(R"("values":["on-demand"])"));
  EXPECT_THAT(text, HasSubstr(R"({"key":"karpenter.k8s.aws/instance-generation","operator":"Gt")"));
}

TEST(Legacy, KeysThatAreMentionedGetNone) {
  const auto text = requirements_of(
      "{providerRef: {name: t}, labels: {kubernetes.io/arch: arm64}, requirements: ["
      "{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}]}");
  EXPECT_THAT(text, ::testing::Not(HasSubstr("instance-generation")));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("kubernetes.io/arch")));
}

TEST(Legacy, OldNamesAreRenamed) {
  const auto pool =
      translated("{providerRef: {name: t}, annotations: {karpenter.sh/do-not-evict: 'true'}}")
          .node_pool;
  const auto metadata = json::serialize(at(pool, "spec.template.metadata"));
  EXPECT_THAT(metadata, HasSubstr(R"("karpenter.sh/do-not-disrupt":"true")"));
}

TEST(Legacy, AKubeletConfigurationMakesAClassOfItsOwn) {
  const auto node_template = yaml(
      "metadata: {name: shared}\nspec: {subnetSelector: {a: b}, securityGroupSelector: {c: d}}\n");
  const auto result = translate_provisioner(
      with_spec("{providerRef: {name: shared}, kubeletConfiguration: {maxPods: 20, "
                "containerRuntime: dockerd}}"),
      &node_template, {});
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_TRUE(result->node_class);
  EXPECT_EQ(at(*result->node_class, "metadata.name"), json::value("team"));
  EXPECT_EQ(at(*result->node_class, "spec.kubelet.maxPods"), json::value(20));
  EXPECT_EQ(at(result->node_pool, "spec.template.spec.nodeClassRef.name"), json::value("team"));
  EXPECT_THAT(result->notes, ::testing::Contains(HasSubstr("containerRuntime")));
}

TEST(Legacy, SelectorsExpandCommaLists) {
  const auto result =
      translate_node_template(with_spec("{subnetSelector: {aws-ids: 'subnet-1, subnet-2'}, "
                                        "securityGroupSelector: {team: 'a,b', env: x}}"),
                              {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(json::serialize(at(result->node_class, "spec.subnetSelectorTerms")),
            R"([{"id":"subnet-1"},{"id":"subnet-2"}])");
  EXPECT_EQ(json::serialize(at(result->node_class, "spec.securityGroupSelectorTerms")),
            R"([{"tags":{"team":"a","env":"x"}},{"tags":{"team":"b","env":"x"}}])");
}

// EC2NodeClass takes no other.
TEST(Legacy, SizesOfVolumesBecomeWhole) {
  for (const auto& [given, expected] :
       {std::pair{"20Gi", "20Gi"}, std::pair{"100G", "100G"}, std::pair{"2Ti", "2Ti"},
        std::pair{"20480Mi", "20Gi"}, std::pair{"1.5Ti", "1536Gi"}, std::pair{"20481Mi", "21Gi"}}) {
    const auto result = translate_node_template(
        with_spec(("{subnetSelector: {a: b}, securityGroupSelector: {a: b}, blockDeviceMappings: "
                   "[{deviceName: /dev/xvda, ebs: {volumeSize: " +
                   std::string(given) + "}}]}")
                      .c_str()),
        {});
    ASSERT_TRUE(result) << result.error().message;
    const auto mapping = at(result->node_class, "spec.blockDeviceMappings").as_array().at(0);
    EXPECT_EQ(at(mapping, "ebs.volumeSize"), json::value(expected)) << given;
    expect_valid(result->node_class);
  }
}

TEST(Legacy, SaysWhatCannotBeTranslated) {
  struct Case {
    const char* spec;
    const char* message;
  };
  const Case cases[] = {
      {"{subnetSelector: {a: b}, launchTemplate: mine}", "spec.launchTemplate"},
      {"{securityGroupSelector: {a: b}}", "spec.subnetSelector"},
      {"{subnetSelector: {a: ''}, securityGroupSelector: {a: b}}", "spec.subnetSelector.a"},
      {"{subnetSelector: {a: b}, securityGroupSelector: {a: b}, amiFamily: Ubuntu}", "amiSelector"},
      {"{subnetSelector: {a: 'x,x,x,x,x,x', b: 'x,x,x,x,x,x'}, securityGroupSelector: {a: b}}",
       "36 combinations"}};
  for (const auto& each : cases) {
    const auto result = translate_node_template(with_spec(each.spec), {});
    ASSERT_FALSE(result) << each.spec;
    EXPECT_THAT(result.error().message, HasSubstr("AWSNodeTemplate team"));
    EXPECT_THAT(result.error().message, HasSubstr(each.message));
  }
  EXPECT_FALSE(translate_provisioner(yaml("spec: {}"), nullptr, {}));
  EXPECT_FALSE(translate_node_template(json::value(3), {}));
}

TEST(Legacy, MalformedProvisionersAreRefusedWithTheField) {
  struct Case {
    const char* spec;
    const char* message;
  };
  const Case cases[] = {
      {"{providerRef: {name: t}, requirements: [x]}", "spec.requirements"},
      {"{providerRef: {name: t}, requirements: [{operator: In}]}", "spec.requirements"},
      {"{providerRef: {name: t}, requirements: [{key: 3}]}", "spec.requirements"},
      {"{providerRef: {name: t}, requirements: {key: a}}", "spec.requirements"},
      {"{provider: 5}", "metadata.name and spec"},
      {"{providerRef: {name: t}, provider: {subnetSelector: {a: b}}}", "keep one"}};
  for (const auto& each : cases) {
    const auto result = translate_provisioner(with_spec(each.spec), nullptr, {});
    ASSERT_FALSE(result) << each.spec;
    EXPECT_THAT(result.error().message, HasSubstr("Provisioner team"));
    EXPECT_THAT(result.error().message, HasSubstr(each.message));
  }
}

TEST(Legacy, AClusterWithoutAl2ImagesGetsAl2023AndAWarning) {
  const auto spec = with_spec("{subnetSelector: {a: b}, securityGroupSelector: {a: b}}");
  const auto old = translate_node_template(spec, {.kubernetes_minor = 32});
  const auto recent = translate_node_template(spec, {.kubernetes_minor = 33});
  ASSERT_TRUE(old && recent);
  EXPECT_THAT(json::serialize(old->node_class), HasSubstr("al2@latest"));
  EXPECT_THAT(json::serialize(recent->node_class), HasSubstr("al2023@latest"));
  EXPECT_THAT(recent->warnings, ::testing::Contains(HasSubstr("AL2023")));
}

constexpr model::Resource kClassesOfAws[] = {model::kEc2NodeClassResource};

class CloudOfAws final : public cloud::Witness {
 public:
  using Witness::Witness;
  std::span<const model::Resource> node_classes() const override { return kClassesOfAws; }
};

// The controller, in a cluster with an AWSNodeTemplate, and with Provisioners if the test has any.
class LegacyTranslator : public WithServices {
 protected:
  LegacyTranslator() {
    providers_.add(std::make_unique<CloudOfAws>(used_));
    transport_->answer = [this](const kube::ApiRequest& request) { return answer(request); };
    group_.spawn(run_legacy_translation(services_, {}, group_.stop_token()));
  }

  void TearDown() override {
    group_.request_stop();
    loop_.run_for(std::chrono::seconds(1));
  }

  base::Result<net::Response> answer(const kube::ApiRequest& request) {
    const auto asks_for = [&](std::string_view part) {
      return request.path.find(part) != std::string::npos;
    };
    if (request.method == "PATCH") {
      written_.push_back(request.path);
      return refusal_.empty() ? kube::test::ok(kube::test::parse(request.body))
                              : kube::test::status_answer(422, "Invalid", refusal_);
    }
    if (asks_for("/version")) {
      return kube::test::ok({{"minor", "32"}});
    }
    const bool of_templates = asks_for("awsnodetemplates");
    if (of_templates && !may_list_templates_) {
      return kube::test::status_answer(403, "Forbidden", "no");
    }
    return kube::test::ok({{"metadata", {{"resourceVersion", "9"}}},
                           {"items", of_templates ? json::array{template_} : provisioners_}});
  }

  std::vector<std::string> failures() const {
    std::vector<std::string> found;
    for (std::size_t i = 0; i < events_.reasons.size(); ++i) {
      if (events_.reasons[i] == "TranslationFailed") {
        found.push_back(events_.messages[i]);
      }
    }
    return found;
  }

  json::value template_ = yaml(
      "metadata: {name: team, uid: u1, resourceVersion: '3'}\n"
      "spec: {subnetSelector: {a: b}, securityGroupSelector: {a: b}}\n");
  json::array provisioners_;
  bool may_list_templates_ = true;
  std::string refusal_;  // of what is written; empty: none
  std::vector<std::string> written_;
  base::TaskGroup group_{loop_};
};

TEST_F(LegacyTranslator, TellsOnTheObjectThatItsTranslationIsInvalid) {
  refusal_ = "spec.tags: too many";
  loop_.run_for(std::chrono::minutes(1));
  EXPECT_GT(written_.size(), 5U) << "it is tried again";
  EXPECT_THAT(failures(), ::testing::ElementsAre(HasSubstr("spec.tags: too many")));
  refusal_ = "spec.role: too long";
  loop_.run_for(std::chrono::minutes(1));
  EXPECT_THAT(failures(), ::testing::ElementsAre(HasSubstr("spec.tags"), HasSubstr("spec.role")));
  refusal_.clear();
  loop_.run_for(std::chrono::minutes(1));
  EXPECT_EQ(failures().size(), 2U);
}

// The class of the template, and the one that the Provisioner has for its kubelets, are the same.
TEST_F(LegacyTranslator, TellsEachOwnerOfOneTranslationOnce) {
  provisioners_.push_back(
      yaml("metadata: {name: team, uid: u2, resourceVersion: '4'}\n"
           "spec: {providerRef: {name: team}, kubeletConfiguration: {maxPods: 20}}\n"));
  refusal_ = "spec.tags: too many";
  loop_.run_for(std::chrono::minutes(1));
  EXPECT_THAT(failures(), ::testing::UnorderedElementsAre(HasSubstr("EC2NodeClass team"),
                                                          HasSubstr("EC2NodeClass team"),
                                                          HasSubstr("NodePool team")));
}

// A Provisioner is translated by its template; a right that is missing says nothing of whether
// there is one.
TEST_F(LegacyTranslator, WaitsForTemplatesThatMayNotBeListed) {
  may_list_templates_ = false;
  provisioners_.push_back(
      yaml("metadata: {name: team, uid: u2, resourceVersion: '4'}\n"
           "spec: {providerRef: {name: team}}\n"));
  loop_.run_for(std::chrono::minutes(1));
  EXPECT_THAT(written_, IsEmpty());
  may_list_templates_ = true;
  loop_.run_for(std::chrono::minutes(1));
  EXPECT_THAT(written_, ::testing::Contains(HasSubstr("/nodepools/team")));
}

}  // namespace
}  // namespace millwright::controllers
