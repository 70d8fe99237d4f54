// The CRDs: what kubectl shows, what an API server needs, and that the files in manifests/ are the
// generated ones.
#include "admission_cases.hpp"
#include "millwright/schema/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <set>

namespace millwright::schema {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Kind& kind(std::string_view api_version, std::string_view name) {
  return *find_kind(api_version, name);
}

std::vector<std::string> names_of(const Kind& described) {
  std::vector<std::string> names;
  for (const PrinterColumn& column : printer_columns(described)) {
    names.push_back(std::string(column.name) + (column.wide ? "*" : ""));
  }
  return names;
}

std::string crd_file(const Kind& described) {
  const model::Resource& resource = resource_of(described);
  return std::string(resource.group) + "_" + std::string(resource.plural) + ".yaml";
}

TEST(Kinds, AreListedInAFixedOrder) {
  std::vector<std::string> names;
  for (const Kind* described : all_kinds()) {
    names.emplace_back(resource_of(*described).kind);
    EXPECT_EQ(find_kind(resource_of(*described).api_version(), names.back()), described);
  }
  EXPECT_THAT(names, ElementsAre("NodePool", "NodeClaim", "KWOKNodeClass", "EC2NodeClass",
                                 "ECSNodeClass", "ECSNodeClass", "CCENodeClass", "Provisioner",
                                 "AWSNodeTemplate", "NodeOverlay", "CapacityBuffer"));
  EXPECT_EQ(find_kind("karpenter.sh/v1beta1", "NodePool"), nullptr);
  EXPECT_EQ(find_kind("v1", "Pod"), nullptr);
}

TEST(Kinds, HaveKarpentersPrinterColumns) {
  EXPECT_THAT(names_of(kind("karpenter.sh/v1", "NodePool")),
              ElementsAre("NodeClass", "Nodes", "Ready", "Age", "Weight*", "CPU*", "Memory*"));
  EXPECT_THAT(names_of(kind("karpenter.sh/v1", "NodeClaim")),
              ElementsAre("Type", "Capacity", "Zone", "Node", "Ready", "Age", "ImageID*", "ID*",
                          "NodePool*", "NodeClass*", "Drifted*"));
  EXPECT_THAT(names_of(kind("karpenter.k8s.aws/v1", "EC2NodeClass")),
              ElementsAre("Ready", "Age", "Role*"));
  EXPECT_THAT(names_of(kind("karpenter.sh/v1alpha5", "Provisioner")),
              ElementsAre("Template", "Weight*"));
  EXPECT_THAT(names_of(kind("karpenter.sh/v1alpha1", "NodeOverlay")),
              ElementsAre("Ready", "Age", "Weight*"));
  EXPECT_THAT(names_of(kind("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer")),
              ElementsAre("Strategy", "PodTemplate", "Replicas", "ConditionsType",
                          "ConditionsStatus", "ConditionsReason", "Age"));
}

TEST(Kinds, HaveKarpentersShortNamesAndCategory) {
  EXPECT_THAT(short_names(kind("karpenter.sh/v1", "NodePool")), IsEmpty());
  EXPECT_THAT(short_names(kind("karpenter.kwok.sh/v1alpha1", "KWOKNodeClass")),
              ElementsAre("kwoknc", "kwokncs"));
  EXPECT_THAT(short_names(kind("karpenter.k8s.aws/v1", "EC2NodeClass")),
              ElementsAre("ec2nc", "ec2ncs"));
  EXPECT_THAT(short_names(kind("karpenter.k8s.alibabacloud/v1alpha1", "ECSNodeClass")),
              ElementsAre("ecsnc", "ecsncs"));
  EXPECT_THAT(short_names(kind("karpenter.sh/v1alpha1", "NodeOverlay")), ElementsAre("overlays"));
  EXPECT_THAT(short_names(kind("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer")),
              ElementsAre("cb"));
  for (const Kind* described : all_kinds()) {
    const bool is_buffer = resource_of(*described).kind == "CapacityBuffer";
    EXPECT_THAT(categories(*described), ElementsAre(is_buffer ? "autoscaling" : "karpenter"));
  }
}

TEST(Crd, NamesServesAndStoresOneVersion) {
  for (const Kind* described : all_kinds()) {
    const json::value definition = crd(*described);
    const model::Resource& resource = resource_of(*described);
    EXPECT_EQ(definition.at_pointer("/metadata/name").as_string(),
              std::string(resource.plural) + "." + std::string(resource.group));
    EXPECT_EQ(definition.at_pointer("/spec/scope").as_string(),
              resource.namespaced ? "Namespaced" : "Cluster");
    const json::array& versions = definition.at_pointer("/spec/versions").as_array();
    ASSERT_EQ(versions.size(), 1U);
    EXPECT_EQ(versions[0].at("name").as_string(), std::string(resource.version));
    EXPECT_TRUE(versions[0].at("served").as_bool());
    EXPECT_TRUE(versions[0].at("storage").as_bool());
    EXPECT_NE(test::find(versions[0], "/subresources/status"), nullptr);
  }
}

TEST(Crd, OnlyNodePoolsScale) {
  const json::value definition = crd(kind("karpenter.sh/v1", "NodePool"));
  EXPECT_EQ(definition.at_pointer("/spec/versions/0/subresources/scale"),
            (json::value{{"specReplicasPath", ".spec.replicas"},
                         {"statusReplicasPath", ".status.nodes"}}));
  EXPECT_EQ(
      test::find(crd(kind("karpenter.sh/v1", "NodeClaim")), "/spec/versions/0/subresources/scale"),
      nullptr);
}

// Calls `visit` for every schema node below `node`.
void each_node(const json::value& node, const std::string& path,
               const std::function<void(const json::value&, const std::string&)>& visit) {
  visit(node, path);
  if (const json::value* properties = node.as_object().if_contains("properties")) {
    for (const auto& [name, property] : properties->as_object()) {
      each_node(property, path + "." + std::string(name), visit);
    }
  }
  for (const char* inner : {"items", "additionalProperties"}) {
    if (const json::value* found = node.as_object().if_contains(inner)) {
      each_node(*found, path + "[]", visit);
    }
  }
}

TEST(Crd, DescribesEveryFieldAndEveryRule) {
  for (const Kind* described : all_kinds()) {
    const json::value definition = crd(*described);
    const auto visit = [](const json::value& node, const std::string& path) {
      if (path != ".metadata") {
        EXPECT_FALSE(test::text_or(node.as_object(), "description").empty()) << path;
      }
      if (const json::value* rules = node.as_object().if_contains("x-kubernetes-validations")) {
        for (const json::value& rule : rules->as_array()) {
          EXPECT_FALSE(test::text_or(rule.as_object(), "rule").empty()) << path;
          EXPECT_FALSE(test::text_or(rule.as_object(), "message").empty()) << path;
          EXPECT_EQ(test::text_or(rule.as_object(), "message").find('\n'), std::string::npos);
        }
      }
    };
    each_node(definition.at_pointer("/spec/versions/0/schema/openAPIV3Schema"), "", visit);
  }
}

TEST(Crd, FilesInManifestsAreTheGeneratedOnes) {
  const std::filesystem::path folder(SOURCE_ROOT "/manifests/crds");
  std::set<std::string> expected;
  for (const Kind* described : all_kinds()) {
    const std::string name = crd_file(*described);
    expected.insert(name);
    const std::string written =
        std::filesystem::exists(folder / name) ? test::read_file((folder / name).string()) : "";
    EXPECT_TRUE(written == crd_yaml(*described))
        << name << " is not what the schema says; write it anew with:\n"
        << "  millwright crds --dir manifests/crds";
  }
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    found.insert(entry.path().filename().string());
  }
  EXPECT_EQ(found, expected);
}

TEST(Crd, YamlIsTheJson) {
  for (const Kind* described : all_kinds()) {
    const auto documents = model::parse_yaml(crd_yaml(*described));
    ASSERT_TRUE(documents) << documents.error().message;
    EXPECT_THAT(*documents, ElementsAre(crd(*described)));
  }
}

}  // namespace
}  // namespace millwright::schema
