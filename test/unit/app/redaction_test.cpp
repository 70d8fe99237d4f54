// What recordings keep of devices and claims, and that names fit together when they are hidden.
#include "app/recording/redaction.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::app {
namespace {

namespace json = boost::json;

json::value recorded(const model::Resource& resource, std::string_view yaml) {
  const auto documents = model::parse_yaml(yaml);
  const Redaction redaction(NameHash("digests"), NameHash("names"));
  return redaction.redacted(resource, documents->front());
}

std::string text(const json::value& object, std::string_view pointer) {
  boost::system::error_code none;
  const auto* found = object.find_pointer(pointer, none);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

TEST(Redaction, HiddenNamesOfDevicesFitTogether) {
  const auto device_class = recorded(model::kDeviceClassResource, R"(
metadata: {name: big-gpus, uid: u1}
spec:
  selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]
  config: [{opaque: {driver: gpu.example.com, parameters: {password: secret}}}]
)");
  const auto slice = recorded(model::kResourceSliceResource, R"(
metadata: {name: slice-1, uid: u2}
spec:
  driver: gpu.example.com
  nodeName: machine-1
  pool: {name: machine-1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-7, attributes: {model: {string: a100}}}]
)");
  const auto claim = recorded(model::kResourceClaimResource, R"(
metadata:
  name: training
  namespace: team
  uid: u3
  annotations: {resource.kubernetes.io/pod-claim-name: gpu, other: x}
spec:
  devices:
    requests: [{name: accelerator, exactly: {deviceClassName: big-gpus}}]
    constraints: [{requests: [accelerator], matchAttribute: gpu.example.com/model}]
    config: [{opaque: {driver: gpu.example.com, parameters: {password: secret}}}]
status:
  allocation:
    devices:
      results: [{request: accelerator, driver: gpu.example.com, pool: machine-1, device: gpu-7}]
    nodeSelector:
      nodeSelectorTerms:
      - matchFields: [{key: metadata.name, operator: In, values: [machine-1]}]
  reservedFor: [{resource: pods, name: trainer, uid: u4}]
)");
  const auto pod = recorded(model::kPodResource, R"(
metadata: {name: trainer, namespace: team, uid: u4}
spec:
  nodeName: machine-1
  resourceClaims: [{name: gpu, resourceClaimName: training}]
  containers: [{name: main, resources: {claims: [{name: gpu}], requests: {cpu: 100m}}}]
)");

  const std::string result = "/status/allocation/devices/results/0/";
  EXPECT_EQ(text(claim, result + "pool"), text(slice, "/spec/pool/name"));
  EXPECT_EQ(text(claim, result + "device"), text(slice, "/spec/devices/0/name"));
  EXPECT_EQ(text(claim, result + "request"), text(claim, "/spec/devices/requests/0/name"));
  EXPECT_EQ(text(claim, "/spec/devices/constraints/0/requests/0"),
            text(claim, "/spec/devices/requests/0/name"));
  EXPECT_EQ(text(claim, "/spec/devices/requests/0/exactly/deviceClassName"),
            text(device_class, "/metadata/name"));
  EXPECT_EQ(
      text(claim, "/status/allocation/nodeSelector/nodeSelectorTerms/0/matchFields/0/values/0"),
      text(pod, "/spec/nodeName"));
  EXPECT_EQ(text(slice, "/spec/nodeName"), text(pod, "/spec/nodeName"));
  EXPECT_EQ(text(pod, "/spec/resourceClaims/0/resourceClaimName"), text(claim, "/metadata/name"));
  EXPECT_EQ(text(pod, "/spec/resourceClaims/0/name"),
            text(claim, "/metadata/annotations/resource.kubernetes.io~1pod-claim-name"));
  EXPECT_EQ(text(claim, "/status/reservedFor/0/name"), text(pod, "/metadata/name"));
  EXPECT_EQ(text(pod, "/spec/containers/0/resources/requests/cpu"), "100m");
  EXPECT_EQ(text(claim, result + "driver"), "gpu.example.com");
  EXPECT_EQ(text(slice, "/spec/devices/0/attributes/model/string"), "a100");

  std::string all;
  for (const auto& object : {device_class, slice, claim, pod}) {
    all += json::serialize(object);
  }
  for (const char* hidden : {"secret", "machine", "training", "trainer", "accelerator", "big",
                             "team", "gpu-7", "other"}) {
    EXPECT_THAT(all, testing::Not(testing::HasSubstr(hidden)));
  }
}

TEST(Redaction, ZonesOfVolumesAreNoNames) {
  for (const std::string key : {"topology.kubernetes.io/zone", "topology.ebs.csi.aws.com/zone",
                                "topology.diskplugin.csi.alibabacloud.com/zone"}) {
    const auto volume = recorded(model::kPersistentVolumeResource, R"(
metadata: {name: pv-1, uid: u1}
spec:
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions: [{key: )" + key + R"(, operator: In, values: [zone-b]}]
)");
    EXPECT_EQ(text(volume,
                   "/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/"
                   "values/0"),
              "zone-b")
        << key;
  }
}

}  // namespace
}  // namespace millwright::app
