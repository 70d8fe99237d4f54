// Creating, changing and deleting objects through the REST door.
#include "unit/sandbox/api_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::sandbox {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using ApiObjects = ApiFixture;

TEST_F(ApiObjects, ACreatedObjectGetsItsSystemMetadata) {
  const auto created = post(kConfigMaps, config_map_text("settings"));
  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.at("metadata.namespace"), "default");
  EXPECT_EQ(created.at("metadata.creationTimestamp"), "2026-03-02T10:00:00Z");
  EXPECT_EQ(created.at("metadata.uid").size(), 36U);
  EXPECT_EQ(get(std::string(kConfigMaps) + "/settings").body, created.body);
}

TEST_F(ApiObjects, ARestoredObjectKeepsWhatAnotherServerGaveIt) {
  const auto node = boost::json::parse(R"({"metadata": {"name": "a", "uid": "u-1",
      "creationTimestamp": "2025-01-02T03:04:05Z", "resourceVersion": "77",
      "managedFields": [{"manager": "kubelet"}]},
      "status": {"conditions": [{"type": "Ready", "status": "True"}]}})");
  const auto restored = server().restore(model::kNodeResource, node);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(text_at(**restored, "metadata.uid"), "u-1");
  EXPECT_EQ(text_at(**restored, "metadata.creationTimestamp"), "2025-01-02T03:04:05Z");
  EXPECT_NE(text_at(**restored, "metadata.resourceVersion"), "77");
  EXPECT_EQ((*restored)->at("status"), node.at("status"));
  EXPECT_FALSE((*restored)->at("metadata").as_object().contains("managedFields"));
  EXPECT_TRUE((*restored)->at("spec").at("taints").as_array().empty()) << "it was Ready there";
  const auto again = server().restore(model::kNodeResource, node);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, base::ErrorKind::Exists);
}

TEST_F(ApiObjects, TheSameSeedGivesTheSameObjects) {
  const auto first = post(kPods, pod_text("web"));
  ApiServer other(loop, options);
  const auto again = other.create(model::kPodResource, boost::json::parse(pod_text("web")));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(first.at("metadata.uid"), text_at(**again, "metadata.uid"));
}

TEST_F(ApiObjects, GenerateNameMakesANewNameEachTime) {
  const std::string body =
      R"({"metadata":{"generateName":"web-"},"spec":{"containers":[{"name":"a","image":"b"}]}})";
  const auto first = post(kPods, body);
  const auto second = post(kPods, body);
  EXPECT_THAT(first.at("metadata.name"), StartsWith("web-"));
  EXPECT_EQ(first.at("metadata.name").size(), 9U);
  EXPECT_NE(first.at("metadata.name"), second.at("metadata.name"));
}

TEST_F(ApiObjects, ANamespaceIsLabelledWithItsName) {
  const auto created = post("/api/v1/namespaces", R"({"metadata":{"name":"shop"}})");
  EXPECT_EQ(created.body.at("metadata").at("labels").at("kubernetes.io/metadata.name"), "shop");
}

TEST_F(ApiObjects, ASecretsPlainTextsBecomeItsData) {
  const auto created = post("/api/v1/namespaces/default/secrets",
                            R"({"metadata":{"name":"keys"},"stringData":{"a":"one","b":"two"}})");
  EXPECT_EQ(created.at("data.a"), "b25l");
  EXPECT_EQ(created.at("data.b"), "dHdv");
  EXPECT_FALSE(created.body.as_object().contains("stringData"));
}

TEST_F(ApiObjects, ASecondObjectOfOneNameIsRefused) {
  post(kConfigMaps, config_map_text("settings"));
  const auto refused = post(kConfigMaps, config_map_text("settings"));
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.at("reason"), "AlreadyExists");
  EXPECT_EQ(refused.at("message"), "configmaps \"settings\" already exists");
  EXPECT_EQ(refused.at("details.name"), "settings");
}

TEST_F(ApiObjects, AMissingObjectAndAMissingNamespaceAreNamed) {
  const auto missing = get("/apis/apps/v1/namespaces/default/deployments/web");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.at("message"), "deployments.apps \"web\" not found");
  const auto nowhere = post("/api/v1/namespaces/nowhere/configmaps", config_map_text("a"));
  EXPECT_EQ(nowhere.status, 404);
  EXPECT_EQ(nowhere.at("message"), "namespaces \"nowhere\" not found");
  EXPECT_EQ(get("/apis/example.com/v1/things").status, 404);
}

TEST_F(ApiObjects, AStaleResourceVersionConflicts) {
  const auto created = post(kConfigMaps, config_map_text("settings"));
  auto body = created.body;
  body.at("data").as_object()["a"] = "2";
  const auto target = std::string(kConfigMaps) + "/settings";
  const auto text = boost::json::serialize(body);
  EXPECT_EQ(call("PUT", target, text).status, 200);
  const auto stale = call("PUT", target, text);
  EXPECT_EQ(stale.status, 409);
  EXPECT_EQ(stale.at("reason"), "Conflict");
  EXPECT_EQ(get(target).at("data.a"), "2");
}

TEST_F(ApiObjects, AWriteThatChangesNothingKeepsTheVersion) {
  const auto created = post(kConfigMaps, config_map_text("settings"));
  const auto target = std::string(kConfigMaps) + "/settings";
  const auto same = call("PUT", target, boost::json::serialize(created.body));
  EXPECT_EQ(same.at("metadata.resourceVersion"), created.at("metadata.resourceVersion"));
}

TEST_F(ApiObjects, StatusAndSpecAreWrittenSeparately) {
  post(kNodePools, node_pool_text("general"));
  const auto target = std::string(kNodePools) + "/general";
  const auto by_status = patch(target + "/status", R"({"spec":{"weight":7},"status":{"nodes":3}})");
  EXPECT_EQ(by_status.status, 200);
  EXPECT_EQ(by_status.at("spec.weight"), "");
  EXPECT_EQ(by_status.at("status.nodes"), "3");
  EXPECT_EQ(by_status.at("metadata.generation"), "1");
  const auto by_main = patch(target, R"({"spec":{"weight":7},"status":{"nodes":9}})");
  EXPECT_EQ(by_main.at("spec.weight"), "7");
  EXPECT_EQ(by_main.at("status.nodes"), "3");
  EXPECT_EQ(by_main.at("metadata.generation"), "2");
}

TEST_F(ApiObjects, LabelsDoNotRaiseTheGeneration) {
  post(kNodePools, node_pool_text("general"));
  const auto labelled =
      patch(std::string(kNodePools) + "/general", R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_EQ(labelled.at("metadata.generation"), "1");
}

TEST_F(ApiObjects, AFinalizerHoldsTheObjectUntilItIsTakenOff) {
  post(kConfigMaps, config_map_text("kept", R"("finalizers":["example.com/wait"])"));
  const auto target = std::string(kConfigMaps) + "/kept";
  const auto deleted = call("DELETE", target);
  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.at("metadata.deletionTimestamp"), "2026-03-02T10:00:00Z");
  EXPECT_EQ(get(target).status, 200);
  EXPECT_EQ(patch(target, R"({"metadata":{"finalizers":null}})").status, 200);
  EXPECT_EQ(get(target).status, 404);
}

TEST_F(ApiObjects, PreconditionsOfADeletionAreChecked) {
  post(kConfigMaps, config_map_text("settings"));
  const auto target = std::string(kConfigMaps) + "/settings";
  EXPECT_EQ(call("DELETE", target, R"({"preconditions":{"uid":"other"}})").status, 409);
  EXPECT_EQ(get(target).status, 200);
  EXPECT_EQ(call("DELETE", target).at("status"), "Success");
}

TEST_F(ApiObjects, ABoundPodEndsGracefullyAndAnUnboundOneAtOnce) {
  post(kPods, pod_text("waiting"));
  post(kPods, pod_text("placed"));
  post(std::string(kPods) + "/placed/binding", R"({"target":{"kind":"Node","name":"n1"}})");
  call("DELETE", std::string(kPods) + "/waiting");
  EXPECT_EQ(get(std::string(kPods) + "/waiting").status, 404);
  call("DELETE", std::string(kPods) + "/placed");
  const auto ending = get(std::string(kPods) + "/placed");
  EXPECT_EQ(ending.at("metadata.deletionGracePeriodSeconds"), "30");
  EXPECT_EQ(ending.at("metadata.deletionTimestamp"), "2026-03-02T10:00:30Z");
  call("DELETE", std::string(kPods) + "/placed", R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(get(std::string(kPods) + "/placed").status, 404);
}

TEST_F(ApiObjects, APodIsBoundOnce) {
  post(kPods, pod_text("web"));
  const auto target = std::string(kPods) + "/web/binding";
  EXPECT_EQ(post(target, R"({"target":{"kind":"Node","name":"n1"}})").status, 201);
  const auto again = post(target, R"({"target":{"kind":"Node","name":"n2"}})");
  EXPECT_EQ(again.status, 409);
  EXPECT_THAT(again.at("message"), HasSubstr("already assigned to node \"n1\""));
}

TEST_F(ApiObjects, PodDefaultsAreFilledIn) {
  const auto pod = post(kPods, pod_text("web"));
  EXPECT_EQ(pod.at("spec.schedulerName"), "default-scheduler");
  EXPECT_EQ(pod.at("spec.terminationGracePeriodSeconds"), "30");
  EXPECT_EQ(pod.at("spec.priority"), "0");
  EXPECT_EQ(pod.at("status.phase"), "Pending");
  EXPECT_EQ(pod.at("status.qosClass"), "BestEffort");
}

TEST_F(ApiObjects, ANewNodeIsTaintedUntilItIsReady) {
  const auto node = post("/api/v1/nodes", R"({"metadata":{"name":"n1"},"spec":{}})");
  EXPECT_THAT(node.at("spec.taints"), HasSubstr("node.kubernetes.io/not-ready"));
}

TEST_F(ApiObjects, InvalidObjectsAreRefusedWithEveryCause) {
  const auto refused = post("/apis/apps/v1/namespaces/default/deployments",
                            R"({"metadata":{"name":"Web"},"spec":{"replicas":-1,
      "selector":{"matchLabels":{"app":"web"}},
      "template":{"metadata":{"labels":{"app":"other"}},"spec":{"containers":[]}}}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.at("reason"), "Invalid");
  EXPECT_THAT(refused.at("message"), StartsWith("Deployment.apps \"Web\" is invalid: ["));
  EXPECT_THAT(refused.at("message"), HasSubstr("spec.replicas: Invalid value: -1"));
  EXPECT_THAT(refused.at("message"), HasSubstr("`selector` does not match template `labels`"));
  EXPECT_THAT(refused.at("message"), HasSubstr("spec.template.spec.containers: Required value"));
  EXPECT_EQ(refused.body.at("details").at("causes").as_array().size(), 4U);
}

TEST_F(ApiObjects, ThePodSpecIsFixedOnceCreated) {
  post(kPods, pod_text("web"));
  const auto target = std::string(kPods) + "/web";
  const auto refused = patch(target, R"({"spec":{"nodeName":"n1"}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.at("message"), HasSubstr("pod updates may not change fields other than"));
  EXPECT_EQ(patch(target, R"({"metadata":{"labels":{"a":"b"}}})").status, 200);
}

TEST_F(ApiObjects, ADryRunChangesNothing) {
  const auto dry = post(std::string(kConfigMaps) + "?dryRun=All", config_map_text("settings"));
  EXPECT_EQ(dry.status, 201);
  EXPECT_EQ(get(std::string(kConfigMaps) + "/settings").status, 404);
  post(kConfigMaps, config_map_text("settings"));
  call("DELETE", std::string(kConfigMaps) + "/settings?dryRun=All");
  patch(std::string(kConfigMaps) + "/settings?dryRun=All", R"({"data":{"a":"2"}})");
  EXPECT_EQ(get(std::string(kConfigMaps) + "/settings").at("data.a"), "1");
}

TEST_F(ApiObjects, ACollectionIsDeletedByItsSelector) {
  post(kConfigMaps, config_map_text("a", R"("labels":{"tier":"x"})"));
  post(kConfigMaps, config_map_text("b", R"("labels":{"tier":"y"})"));
  call("DELETE", std::string(kConfigMaps) + "?labelSelector=tier%3Dx");
  EXPECT_EQ(get(std::string(kConfigMaps) + "/a").status, 404);
  EXPECT_EQ(get(std::string(kConfigMaps) + "/b").status, 200);
}

TEST_F(ApiObjects, OrphanedDependentsLoseTheirOwner) {
  const auto owner = post(kConfigMaps, config_map_text("owner"));
  post(kConfigMaps, config_map_text("child", R"("ownerReferences":[{"apiVersion":"v1",
      "kind":"ConfigMap","name":"owner","uid":")" +
                                                 owner.at("metadata.uid") + "\"}]"));
  call("DELETE", std::string(kConfigMaps) + "/owner", R"({"propagationPolicy":"Orphan"})");
  EXPECT_EQ(get(std::string(kConfigMaps) + "/child").at("metadata.ownerReferences"), "[]");
}

TEST_F(ApiObjects, ScaleIsReadAndWrittenAsAutoscalingV1) {
  post("/apis/apps/v1/namespaces/default/deployments", R"({"metadata":{"name":"web"},"spec":{
      "replicas":2,"selector":{"matchLabels":{"app":"web"}},
      "template":{"metadata":{"labels":{"app":"web"}},
                  "spec":{"containers":[{"name":"a","image":"b"}]}}}})");
  const std::string target = "/apis/apps/v1/namespaces/default/deployments/web";
  EXPECT_EQ(get(target + "/scale").at("kind"), "Scale");
  EXPECT_EQ(get(target + "/scale").at("status.selector"), "app=web");
  EXPECT_EQ(patch(target + "/scale", R"({"spec":{"replicas":5}})").at("spec.replicas"), "5");
  EXPECT_EQ(get(target).at("spec.replicas"), "5");
  EXPECT_EQ(patch(target + "/scale", R"({"spec":{"replicas":-1}})").status, 422);
}

TEST_F(ApiObjects, MalformedRequestsAreRefusedPlainly) {
  EXPECT_EQ(post(kPods, "{").status, 400);
  EXPECT_EQ(post(kPods, "[]").status, 400);
  EXPECT_EQ(post(kPods, "").status, 400);
  EXPECT_EQ(post(kPods, R"({"kind":"Node","apiVersion":"v1"})").status, 400);
  EXPECT_EQ(post("/api/v1/namespaces/default/pods", R"({"metadata":{"namespace":"other"}})").status,
            400);
  EXPECT_EQ(call("PATCH", std::string(kPods) + "/x", "{}", "text/plain").status, 415);
  EXPECT_EQ(call("OPTIONS", kPods).status, 405);
  EXPECT_EQ(get(std::string(kPods) + "?fieldSelector=spec.nodeName").status, 400);
  EXPECT_EQ(get(std::string(kPods) + "?fieldSelector=spec.color%3Dred").status, 400);
  EXPECT_EQ(get(std::string(kPods) + "?labelSelector=a%20in").status, 400);
}

TEST_F(ApiObjects, InjectedFaultsAnswerInPlaceOfTheServer) {
  options.faults.conflict_rate = 1;
  EXPECT_EQ(post(kConfigMaps, config_map_text("a")).status, 409);
  server().set_faults({.error_rate = 1});
  EXPECT_EQ(get(kConfigMaps).status, 500);
  server().set_faults({.lost_reply_rate = 1});
  EXPECT_EQ(post(kConfigMaps, config_map_text("a")).status, 500);
  server().set_faults({});
  EXPECT_EQ(get(std::string(kConfigMaps) + "/a").status, 200);
}

}  // namespace
}  // namespace millwright::sandbox
