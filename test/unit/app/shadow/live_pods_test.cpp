#include "app/shadow/live_pods.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::app {
namespace {

namespace json = boost::json;
using model::text_at;
using testing::SizeIs;

json::value pod_of(const std::string& owner_kind, const std::string& phase = "Pending") {
  json::object metadata{{"name", "web-1"},
                        {"namespace", "shop"},
                        {"uid", "u1"},
                        {"labels", json::object{{"app", "web"}}}};
  if (!owner_kind.empty()) {
    metadata["ownerReferences"] = json::array{
        json::object{{"apiVersion", owner_kind == "ReplicaSet" ? "apps/v1" : "example.com/v1"},
                     {"kind", owner_kind},
                     {"name", "web"},
                     {"uid", "o1"},
                     {"controller", true}}};
  }
  return json::object{
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", std::move(metadata)},
      {"spec", json::object{{"nodeName", "node-1"},
                            {"containers", json::array{json::object{{"name", "main"}}}}}},
      {"status", json::object{{"phase", phase}}}};
}

RecordingLine line_of(json::value pod) {
  RecordingLine line;
  line.resource = &model::kPodResource;
  line.key = {.namespace_ = "shop", .name = "web-1"};
  line.uid = "u1";
  line.object = std::move(pod);
  return line;
}

json::value deleting(json::value pod) {
  pod.at("metadata").as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  return pod;
}

TEST(LivePods, APodOfNobodyComesWithoutItsNodeAndGoesOnce) {
  LivePods pods;
  const auto came = pods.seen(line_of(pod_of("")));
  ASSERT_TRUE(came);
  EXPECT_EQ(came->what, DayStep::What::Put);
  EXPECT_EQ(*came->object.resource, model::kPodResource);
  EXPECT_EQ(text_at(came->object.object, "spec.nodeName"), "");
  EXPECT_FALSE(pods.seen(line_of(pod_of("", "Running")))) << "it is known";
  const auto left = pods.seen(line_of(deleting(pod_of("", "Running"))));
  ASSERT_TRUE(left);
  EXPECT_EQ(left->what, DayStep::What::Remove);
  EXPECT_EQ(text_at(left->object.object, "metadata.name"), "web-1");
  EXPECT_FALSE(pods.gone(line_of({}))) << "it was asked to go before";
}

TEST(LivePods, APodOfAnUnknownOwnerComesAndEndsWithAStandIn) {
  LivePods pods;
  const auto came = pods.seen(line_of(pod_of("SparkApplication")));
  ASSERT_TRUE(came);
  EXPECT_EQ(*came->object.resource, model::kReplicaSetResource);
  const auto ended = pods.seen(line_of(pod_of("SparkApplication", "Succeeded")));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->what, DayStep::What::Remove);
  EXPECT_EQ(*ended->object.resource, model::kReplicaSetResource);
  EXPECT_EQ(text_at(ended->object.object, "metadata.name"),
            text_at(came->object.object, "metadata.name"));
}

TEST(LivePods, PodsThatTheSandboxsControllersMakeAreTheirs) {
  LivePods pods;
  EXPECT_FALSE(pods.seen(line_of(pod_of("ReplicaSet"))));
  EXPECT_FALSE(pods.gone(line_of({})));
  EXPECT_FALSE(pods.seen(line_of(pod_of("", "Failed")))) << "it is over already";
  EXPECT_FALSE(pods.seen(line_of(deleting(pod_of("")))));
}

TEST(LivePods, AtTheStartAnUnknownOwnerIsStoodInForAndNobodyElse) {
  LivePods pods;
  std::vector<json::value> first;
  pods.begin(pod_of("ReplicaSet"), true, first);
  EXPECT_THAT(first, SizeIs(1));
  pods.clear();
  first.clear();
  pods.begin(pod_of("SparkApplication"), false, first);
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_EQ(text_at(first[0], "kind"), "ReplicaSet");
  EXPECT_EQ(first[1].at_pointer("/metadata/ownerReferences/0/name"),
            first[0].at_pointer("/metadata/name"));
  EXPECT_TRUE(pods.gone(line_of({})));
}

}  // namespace
}  // namespace millwright::app
