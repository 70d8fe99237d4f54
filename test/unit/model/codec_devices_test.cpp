#include "millwright/model/codec.hpp"
#include "millwright/model/device_selector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace millwright::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

template <class T>
T read_device_kind(std::string_view text) {
  auto decoded = decode<T>(parse_json(text).value());
  EXPECT_TRUE(decoded) << decoded.error().message;
  return std::move(*decoded);
}

TEST(DeviceCodecs, ReadClasses) {
  const auto device_class = read_device_kind<DeviceClass>(R"({
    "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"},
    "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}},
                           {"cel": {"expression": "true"}}],
             "config": [{"opaque": {"driver": "gpu.nvidia.com"}}]}})");
  EXPECT_EQ(device_class.meta.name, "gpu");
  EXPECT_THAT(device_class.selectors, ElementsAre("device.driver == 'gpu.nvidia.com'", "true"));
  EXPECT_EQ(read_device_kind<DeviceClass>("{}"), DeviceClass{});
}

TEST(DeviceCodecs, SelectorsOfAnotherKindAreNoneThatMatch) {
  const auto device_class = read_device_kind<DeviceClass>(
      R"({"spec": {"selectors": [{"rego": {"module": "allow"}}, {"cel": {}}]}})");
  ASSERT_EQ(device_class.selectors.size(), 2U);
  const auto unknown = DeviceSelector::parse(device_class.selectors[0]);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("selector_that_is_not_cel"));
  EXPECT_FALSE(DeviceSelector::parse(device_class.selectors[1]));
}

TEST(DeviceCodecs, ReadClaims) {
  const auto claim = read_device_kind<ResourceClaim>(R"({"kind": "ResourceClaim",
    "metadata": {"name": "c", "namespace": "d"},
    "spec": {"devices": {
      "requests": [
        {"name": "one", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount",
          "count": 2, "selectors": [{"cel": {"expression": "true"}}],
          "tolerations": [{"operator": "Exists"}]}},
        {"name": "all", "exactly": {"deviceClassName": "nic", "allocationMode": "All",
          "adminAccess": true, "capacity": {"requests": {"memory": "1Gi"}}}},
        {"name": "any", "firstAvailable": [
          {"name": "big", "deviceClassName": "gpu", "count": 1},
          {"name": "small", "deviceClassName": "gpu", "count": 4,
           "selectors": [{"cel": {"expression": "false"}}]}]}],
      "constraints": [{"requests": [], "matchAttribute": "dra.example.com/numa"}]}}})");
  EXPECT_EQ(claim.meta.name, "c");
  EXPECT_TRUE(claim.spec.constrained);
  EXPECT_FALSE(claim.allocated);
  EXPECT_THAT(
      claim.spec.requests,
      ElementsAre(
          DeviceRequest{.name = "one", .class_name = "gpu", .selectors = {"true"}, .count = 2},
          DeviceRequest{.name = "all",
                        .class_name = "nic",
                        .allocation_mode = "All",
                        .admin_access = true,
                        .asks_capacity = true},
          DeviceRequest{
              .name = "any",
              .first_available = {
                  {.name = "big", .class_name = "gpu"},
                  {.name = "small", .class_name = "gpu", .selectors = {"false"}, .count = 4}}}));
}

TEST(DeviceCodecs, ReadWhatClaimsWereGiven) {
  const auto claim = read_device_kind<ResourceClaim>(R"({"metadata": {"name": "c"},
    "spec": {"devices": {"requests": [], "constraints": []}},
    "status": {
      "allocation": {
        "devices": {"results": [
          {"request": "r", "driver": "gpu.nvidia.com", "pool": "n1", "device": "gpu-0"},
          {"request": "m", "driver": "gpu.nvidia.com", "pool": "n1", "device": "gpu-1",
           "adminAccess": true}]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
          {"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}},
      "reservedFor": [{"resource": "pods", "name": "p", "uid": "u1"},
                      {"apiGroup": "example.com", "resource": "jobs", "name": "j", "uid": "u2"},
                      {"resource": "pods", "name": "q", "uid": "u3"}]}})");
  EXPECT_TRUE(claim.allocated);
  EXPECT_FALSE(claim.spec.constrained);
  EXPECT_THAT(claim.devices, ElementsAre(AllocatedDevice{"gpu.nvidia.com", "n1", "gpu-0", false},
                                         AllocatedDevice{"gpu.nvidia.com", "n1", "gpu-1", true}));
  EXPECT_THAT(claim.node_terms,
              ElementsAre(NodeSelectorTerm{{}, {{"metadata.name", Operator::In, {"n1"}}}}));
  EXPECT_THAT(claim.reserved_for, ElementsAre("u1", "u2", "u3"));
  const auto anywhere = read_device_kind<ResourceClaim>(R"({"status": {"allocation": {}}})");
  EXPECT_TRUE(anywhere.allocated);
  EXPECT_THAT(anywhere.node_terms, IsEmpty());
  EXPECT_FALSE(read_device_kind<ResourceClaim>(R"({"status": {"allocation": null}})").allocated);
}

TEST(DeviceCodecs, ReadTemplates) {
  const auto made = read_device_kind<ResourceClaimTemplate>(R"({"kind": "ResourceClaimTemplate",
    "metadata": {"name": "t", "namespace": "d"}, "spec": {"metadata": {"labels": {"a": "b"}},
    "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}}})");
  EXPECT_EQ(made.meta.namespace_, "d");
  EXPECT_THAT(made.spec.requests, ElementsAre(DeviceRequest{.name = "r", .class_name = "gpu"}));
}

constexpr std::string_view kSlice = R"({"kind": "ResourceSlice", "metadata": {"name": "s"},
  "spec": {"driver": "gpu.nvidia.com", "nodeName": "n1",
    "pool": {"name": "n1", "generation": 3, "resourceSliceCount": 2},
    "devices": [
      {"name": "gpu-0", "allowMultipleAllocations": true,
       "attributes": {"type": {"string": "gpu"}, "index": {"int": 0}, "mig": {"bool": false},
                      "dra.example.com/driver": {"version": "535.104.5"},
                      "rails": {"strings": ["a"]}},
       "capacity": {"memory": {"value": "40Gi"}, "dra.example.com/lanes": {"value": 16}},
       "consumesCounters": [{"counterSet": "s", "counters": {}}]},
      {"name": "gpu-1", "taints": [{"key": "k", "effect": "NoExecute"},
                                   {"key": "k", "effect": "None"}]},
      {"name": "gpu-2", "taints": [{"key": "k", "effect": "None"}], "allNodes": true},
      {"name": "gpu-3", "nodeSelector": {"nodeSelectorTerms": []}, "consumesCounters": []}]}})";

TEST(DeviceCodecs, ReadSlices) {
  const auto slice = read_device_kind<ResourceSlice>(kSlice);
  EXPECT_EQ(std::tie(slice.driver, slice.pool, slice.node_name),
            std::make_tuple("gpu.nvidia.com", "n1", "n1"));
  EXPECT_EQ(slice.generation, 3);
  EXPECT_EQ(slice.slices_in_pool, 2);
  ASSERT_EQ(slice.devices.size(), 4U);
  const Device& first = slice.devices[0];
  EXPECT_THAT(
      first.attributes,
      ElementsAre(Pair("dra.example.com/driver", DeviceVersion{"535.104.5"}),
                  Pair("gpu.nvidia.com/index", std::int64_t{0}), Pair("gpu.nvidia.com/mig", false),
                  Pair("gpu.nvidia.com/type", std::string("gpu"))))
      << "what is of an unknown type is left out";
  EXPECT_THAT(first.capacity,
              ElementsAre(Pair("dra.example.com/lanes", Quantity::from_units(16)),
                          Pair("gpu.nvidia.com/memory", Quantity::parse("40Gi").value())));
  EXPECT_TRUE(first.consumes_counters && first.multiple_allocations);
  EXPECT_FALSE(first.tainted || first.chooses_nodes);
  EXPECT_EQ(slice.devices[1], (Device{.name = "gpu-1", .tainted = true}));
  EXPECT_EQ(slice.devices[2], (Device{.name = "gpu-2", .chooses_nodes = true}));
  EXPECT_EQ(slice.devices[3], (Device{.name = "gpu-3", .chooses_nodes = true}));
}

TEST(DeviceCodecs, ReadDeviceTemplates) {
  const auto templates = decode_device_templates(parse_json(R"({
    "apiVersion": "test.karpenter.sh/v1alpha1", "kind": "DRAConfig", "metadata": {"name": "gpu"},
    "spec": {"driver": "gpu.example.com", "pools": [
      {"name": "big", "nodeSelectorTerms": [{"matchExpressions": [
         {"key": "size", "operator": "In", "values": ["big"]}]}],
       "resourceSlices": [
         {"devices": [{"name": "gpu-0", "attributes": {"type": {"string": "gpu"}}}]},
         {"devices": [{"name": "gpu-1"}]}]},
      {"name": "none"}]}})")
                                                     .value())
                             .value();
  EXPECT_THAT(
      templates,
      ElementsAre(
          DeviceTemplate{.driver = "gpu.example.com",
                         .node_terms = {{{{"size", Operator::In, {"big"}}}, {}}},
                         .devices = {{.name = "gpu-0",
                                      .attributes = {{"gpu.example.com/type",
                                                      DeviceAttribute(std::string("gpu"))}}},
                                     {.name = "gpu-1"}}},
          DeviceTemplate{.driver = "gpu.example.com"}));
}

std::string template_problem(std::string_view text) {
  const auto templates = decode_device_templates(parse_json(text).value());
  return templates ? "" : templates.error().message;
}

TEST(DeviceCodecs, RefuseDeviceTemplatesByTheirFields) {
  for (const auto& [text, problem] : {
           std::pair{R"({})", "DRAConfig: kind: expected DRAConfig, found \"\""},
           std::pair{R"({"kind": "Pod", "metadata": {"name": "p"}})",
                     "DRAConfig p: kind: expected DRAConfig, found \"Pod\""},
           std::pair{R"({"kind": "DRAConfig", "spec": {"pools": [{}]}})", "DRAConfig: spec.driver"},
           std::pair{R"({"kind": "DRAConfig", "spec": {"driver": "d"}})", "DRAConfig: spec.pools"},
           std::pair{R"({"kind": "DRAConfig", "spec": {"driver": "d", "pools": []}})",
                     "DRAConfig: spec.pools: must have"},
           std::pair{R"({"kind": "DRAConfig", "spec": {"driver": "d", "pools": {}}})",
                     "DRAConfig: spec.pools: expected a list, found an object"},
           std::pair{R"({"kind": "DRAConfig", "spec": {"driver": "d", "pools": [
                        {"resourceSlices": [{"devices": [{"name": 1}]}]}]}})",
                     "spec.pools[0].resourceSlices[0].devices[0].name: expected a string"},
       }) {
    EXPECT_THAT(template_problem(text), HasSubstr(problem)) << text;
  }
}

template <class T>
std::string decoding_problem(std::string_view text) {
  const auto decoded = decode<T>(parse_json(text).value());
  return decoded ? "" : decoded.error().message;
}

TEST(DeviceCodecs, NameTheFieldOfAWrongType) {
  EXPECT_THAT(decoding_problem<DeviceClass>(
                  R"({"metadata": {"name": "g"}, "spec": {"selectors": [{"cel": "true"}]}})"),
              HasSubstr("DeviceClass g: spec.selectors[0].cel: expected an object"));
  EXPECT_THAT(decoding_problem<DeviceClass>(R"({"spec": {"selectors": [null]}})"),
              HasSubstr("spec.selectors[0]: expected an object, found null"));
  EXPECT_THAT(decoding_problem<DeviceClass>(R"({"kind": "Pod"})"), HasSubstr("kind: expected"));
  EXPECT_THAT(
      decoding_problem<ResourceClaim>(
          R"({"spec": {"devices": {"requests": [{"exactly": {"count": "2"}}]}}})"),
      HasSubstr("spec.devices.requests[0].exactly.count: expected an integer, found a string"));
  EXPECT_THAT(decoding_problem<ResourceClaim>(
                  R"({"spec": {"devices": {"requests": [{"firstAvailable": {}}]}}})"),
              HasSubstr("spec.devices.requests[0].firstAvailable: expected a list"));
  EXPECT_THAT(decoding_problem<ResourceClaim>(R"({"spec": {"devices": {"constraints": 1}}})"),
              HasSubstr("spec.devices.constraints: expected a list"));
  EXPECT_THAT(decoding_problem<ResourceClaim>(R"({"status": {"reservedFor": [7]}})"),
              HasSubstr("status.reservedFor[0]: expected an object"));
  EXPECT_THAT(decoding_problem<ResourceClaimTemplate>(R"({"spec": {"spec": []}})"),
              HasSubstr("spec.spec: expected an object"));
  EXPECT_THAT(decoding_problem<ResourceSlice>(R"({"spec": {"driver": "d", "devices": [
                  {"attributes": {"example.com/a": {"int": "1"}}}]}})"),
              HasSubstr("spec.devices[0].attributes[example.com/a].int: expected an integer"));
  EXPECT_THAT(decoding_problem<ResourceSlice>(R"({"spec": {"devices": [
                  {"capacity": {"memory": {"value": "40Gb"}}}]}})"),
              HasSubstr("spec.devices[0].capacity.memory.value: \"40Gb\" is not a quantity"));
}

}  // namespace
}  // namespace millwright::model
