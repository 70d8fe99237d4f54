// The four patch types.
#include "unit/sandbox/api_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::sandbox {
namespace {

using testing::HasSubstr;

constexpr const char* kStrategic = "application/strategic-merge-patch+json";
constexpr const char* kApply = "application/apply-patch+yaml";
constexpr const char* kDeployments = "/apis/apps/v1/namespaces/default/deployments";

class ApiPatch : public ApiFixture {
 protected:
  void SetUp() override {
    ASSERT_EQ(post(kDeployments, R"({"metadata":{"name":"web"},"spec":{
        "selector":{"matchLabels":{"app":"web"}},
        "template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[
          {"name":"main","image":"app:1","env":[{"name":"A","value":"1"}],
           "ports":[{"containerPort":80}]},
          {"name":"side","image":"side:1"}]}}}})")
                  .status,
              201);
  }
  std::string containers() { return get(web_).at("spec.template.spec.containers"); }
  boost::json::value container(std::size_t index) {
    return get(web_).body.at("spec").at("template").at("spec").at("containers").at(index);
  }
  const std::string web_ = std::string(kDeployments) + "/web";
};

TEST_F(ApiPatch, AStrategicPatchMergesContainersByName) {
  const auto patched = patch(web_, R"({"spec":{"template":{"spec":{"containers":[
      {"name":"main","image":"app:2","env":[{"name":"B","value":"2"}]}]}}}})",
                             kStrategic);
  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(text_at(container(0), "image"), "app:2");
  EXPECT_EQ(container(0).at("env").as_array().size(), 2U);
  EXPECT_EQ(text_at(container(1), "image"), "side:1");
}

TEST_F(ApiPatch, AStrategicPatchDeletesAListItemByDirective) {
  patch(web_, R"({"spec":{"template":{"spec":{"containers":[
      {"$patch":"delete","name":"side"}]}}}})",
        kStrategic);
  EXPECT_EQ(boost::json::parse(containers()).as_array().size(), 1U);
}

TEST_F(ApiPatch, AStrategicPatchOrdersAndRetainsAsItIsTold) {
  patch(web_, R"({"spec":{"template":{"spec":{
      "$setElementOrder/containers":[{"name":"side"},{"name":"main"}],
      "containers":[{"name":"side","image":"side:2"}]}}}})",
        kStrategic);
  EXPECT_EQ(text_at(container(0), "image"), "side:2");
  patch(web_, R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}})", kStrategic);
  EXPECT_EQ(get(web_).at("spec.strategy"), R"({"type":"Recreate"})");
}

TEST_F(ApiPatch, AStrategicPatchReplacesTolerationsAndRemovesFinalizers) {
  patch(web_, R"({"metadata":{"finalizers":["a/b","c/d"]}})", kStrategic);
  patch(web_, R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a/b"]}})", kStrategic);
  EXPECT_EQ(get(web_).at("metadata.finalizers"), R"(["c/d"])");
  patch(web_, R"({"spec":{"template":{"spec":{"tolerations":[{"key":"a"}]}}}})", kStrategic);
  patch(web_, R"({"spec":{"template":{"spec":{"tolerations":[{"key":"b"}]}}}})", kStrategic);
  EXPECT_EQ(get(web_).at("spec.template.spec.tolerations"), R"([{"key":"b"}])");
}

TEST_F(ApiPatch, AMergePatchReplacesLists) {
  patch(web_, R"({"spec":{"template":{"spec":{"containers":[
      {"name":"only","image":"app:3"}]}}}})");
  EXPECT_EQ(boost::json::parse(containers()).as_array().size(), 1U);
}

TEST_F(ApiPatch, AJsonPatchAppliesWholeOrNotAtAll) {
  const auto patched = patch(web_, R"([{"op":"replace","path":"/spec/replicas","value":4}])",
                             "application/json-patch+json");
  EXPECT_EQ(patched.at("spec.replicas"), "4");
  const auto refused = patch(web_,
                             R"([{"op":"replace","path":"/spec/replicas","value":5},
                                 {"op":"test","path":"/spec/replicas","value":6}])",
                             "application/json-patch+json");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(get(web_).at("spec.replicas"), "4");
}

TEST_F(ApiPatch, APatchThatCarriesAVersionIsALock) {
  const auto refused = patch(web_, R"({"metadata":{"resourceVersion":"1"},"spec":{"replicas":4}})");
  EXPECT_EQ(refused.status, 409);
}

TEST_F(ApiPatch, CustomKindsTakeNoStrategicPatch) {
  post(kNodePools, node_pool_text("general"));
  const auto refused = patch(std::string(kNodePools) + "/general", "{}", kStrategic);
  EXPECT_EQ(refused.status, 415);
  EXPECT_THAT(refused.at("message"), HasSubstr("application/merge-patch+json"));
}

TEST_F(ApiPatch, ServerSideApplyCreatesAndDropsWhatIsLeftOut) {
  const std::string target = std::string(kConfigMaps) + "/settings?fieldManager=me";
  const auto created = patch(target, R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {a: one, b: two}}
data: {one: "1", two: "2"}
)",
                             kApply);
  EXPECT_EQ(created.status, 201);
  const auto applied = patch(target, R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {a: one}}
data: {two: "22"}
)",
                             kApply);
  EXPECT_EQ(applied.status, 200);
  EXPECT_EQ(applied.at("data"), R"({"two":"22"})");
  EXPECT_EQ(applied.at("metadata.labels"), R"({"a":"one"})");
}

TEST_F(ApiPatch, AnotherManagersFieldIsAConflictUnlessForced) {
  const std::string base = std::string(kConfigMaps) + "/settings?fieldManager=";
  patch(base + "me", R"({"apiVersion":"v1","kind":"ConfigMap","data":{"k":"mine"}})", kApply);
  const std::string theirs = R"({"apiVersion":"v1","kind":"ConfigMap","data":{"k":"theirs"}})";
  const auto refused = patch(base + "them", theirs, kApply);
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.at("message"), "Apply failed with 1 conflict: conflict with \"me\": .data.k");
  const auto forced = patch(base + "them&force=true", theirs, kApply);
  EXPECT_EQ(forced.at("data.k"), "theirs");
}

TEST_F(ApiPatch, FieldsOfOtherWritersSurviveAnApply) {
  const std::string target = std::string(kConfigMaps) + "/settings";
  const std::string mine = R"({"apiVersion":"v1","kind":"ConfigMap","data":{"k":"1"}})";
  patch(target + "?fieldManager=me", mine, kApply);
  patch(target, R"({"data":{"other":"2"}})");
  const auto applied = patch(target + "?fieldManager=me", mine, kApply);
  EXPECT_EQ(applied.at("data.other"), "2");
}

}  // namespace
}  // namespace millwright::sandbox
