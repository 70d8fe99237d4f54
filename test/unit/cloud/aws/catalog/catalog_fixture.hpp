// Real instance types and a NodeClass that found its subnets and images.
#pragma once

#include "cloud/aws/catalog/capacity.hpp"
#include "cloud/aws/catalog/catalog.hpp"
#include "unit/cloud/aws/fakes/fake_http.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <memory>

namespace millwright::cloud::aws {

inline std::vector<TypeFacts> test_types() {
  std::vector<TypeFacts> result;
  const auto root = parse_xml(read_test_data("instance_types.xml"));
  EXPECT_TRUE(root);
  for (const auto& item : root->items("instanceTypeSet")) {
    if (auto facts = read_type(item)) {
      result.push_back(*std::move(facts));
    }
  }
  return result;
}

inline boost::json::value image_status(const std::string& id, const std::string& arch) {
  return {{"id", id},
          {"name", id + "-name"},
          {"requirements",
           boost::json::array{
               {{"key", "kubernetes.io/arch"}, {"operator", "In"}, {"values", {arch}}}}}};
}

// Subnets in two zones and an image for each architecture.
inline boost::json::value found_status() {
  return {
      {"subnets",
       boost::json::array{{{"id", "subnet-a"}, {"zone", "us-west-2a"}, {"zoneID", "usw2-az2"}},
                          {{"id", "subnet-b"}, {"zone", "us-west-2b"}, {"zoneID", "usw2-az1"}}}},
      {"securityGroups", boost::json::array{{{"id", "sg-1"}, {"name", "nodes"}}}},
      {"amis",
       boost::json::array{image_status("ami-amd", "amd64"), image_status("ami-arm", "arm64")}},
      {"instanceProfile", "profile-1"}};
}

inline std::shared_ptr<model::NodeClass> node_class(boost::json::value spec,
                                                    boost::json::value status = found_status()) {
  auto result = std::make_shared<model::NodeClass>();
  result->api_version = "karpenter.k8s.aws/v1";
  result->kind = "EC2NodeClass";
  result->meta.name = "default";
  result->meta.uid = "class-uid";
  result->spec = std::move(spec);
  result->status = std::move(status);
  return result;
}

}  // namespace millwright::cloud::aws
