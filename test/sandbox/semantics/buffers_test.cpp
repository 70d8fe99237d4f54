// CapacityBuffers (feature gate CapacityBuffer) at work in a whole cluster in virtual time; and
// that no gate means no effect.
#include "sandbox/semantics/semantics_fixture.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace millwright::test {
namespace {

constexpr const char* kPriorities = R"(
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: low}
value: -10
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 2000
)";

// Room for two pods of the PodTemplate shape.
constexpr const char* kTemplateBuffer = R"(
apiVersion: v1
kind: PodTemplate
metadata: {name: shape, namespace: default}
template:
  metadata: {labels: {app: shape}}
  spec:
    priorityClassName: high
    containers: [{name: work, image: work, resources: {requests: {cpu: 1}}}]
---
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: room, namespace: default}
spec:
  podTemplateRef: {name: shape}
  replicas: 2
)";

std::string of_class(const std::string& name) {
  return "      priorityClassName: " + name + "\n";
}

class Buffers : public Semantics {
 protected:
  void keep_for_owner(const std::string& buffer = "room") {
    edit(model::kCapacityBufferResource, buffer, [](json::value& object) {
      object.at("metadata").as_object()["annotations"] = {{"millwright.io/keep-for-owner", "true"}};
    });
  }
  bool fits(const std::string& buffer = "room") {
    return condition(model::kCapacityBufferResource, buffer, "Provisioning") ==
           "True FitsExistingCapacity";
  }
  // For how many pods of buffers room is reserved on nodes that are up and stay.
  std::int32_t reserved() {
    std::int32_t count = 0;
    for (const auto& record : nodes()) {
      for (const auto& reservation : snapshot()->reservations) {
        const bool there = reservation.of_buffer && reservation.target == record->name();
        count += there ? reservation.count : 0;
      }
    }
    return count;
  }
  // Some node that is up has so much free, whether it is about to go or not.
  bool any_node_has(std::int64_t cpus) {
    const auto now = snapshot();
    return std::any_of(now->nodes.begin(), now->nodes.end(), [&](const auto& record) {
      auto free = record->allocatable();
      model::subtract_from(free, record->pod_requests);
      return record->node && record->initialized() && !record->node->meta.is_deleting() &&
             model::get(free, "cpu") >= model::Quantity::from_units(cpus);
    });
  }
  void scale(const std::string& deployment, int replicas) {
    edit(model::kDeploymentResource, deployment,
         [replicas](json::value& object) { object.at("spec").as_object()["replicas"] = replicas; });
  }
  // A node with room for two pods of Deployment web, and nothing else.
  std::string make_buffered_node(const std::string& pool_extra = {}) {
    create(pool("default", pool_extra));
    create(deployment("web", 0, "cpu: 1"));
    create(kBuffer);
    keep_for_owner();
    EXPECT_TRUE(soon([&] { return fits() && reserved() == 2; }));
    cluster_.loop.run_for(minutes(5));
    const auto up = nodes();
    EXPECT_EQ(up.size(), 1U);
    EXPECT_EQ(claims(), 1U);
    return up.empty() ? std::string() : up.front()->name();
  }
  // Until `old` is gone. Never without a node that has the room.
  void expect_that_it_rolls(const std::string& old, base::Duration limit = minutes(5)) {
    bool ever_without = false;
    const auto rolled = [&] {
      ever_without = ever_without || !any_node_has(2);
      const auto now = snapshot();
      return std::none_of(now->nodes.begin(), now->nodes.end(),
                          [&](const auto& record) { return record->name() == old; });
    };
    ASSERT_TRUE(soon(rolled, limit));
    EXPECT_FALSE(ever_without);
    EXPECT_TRUE(soon([&] { return fits() && reserved() == 2; }, seconds(10)));
  }
};

TEST_F(Semantics, ABufferGetsNodesThatStayThoughTheyAreEmpty) {
  create(pool("default", ""));
  create(deployment("web", 0, "cpu: 1"));
  create(kBuffer);
  ASSERT_TRUE(soon([&] {
    return condition(model::kCapacityBufferResource, "room", "Provisioning") ==
           "True FitsExistingCapacity";
  }));
  const auto bought = claims();
  EXPECT_GE(nodes().size(), 1U);
  cluster_.loop.run_for(minutes(30));
  EXPECT_EQ(claims(), bought) << "neither bought twice nor given back";
  EXPECT_GE(nodes().size(), 1U);
  EXPECT_EQ(object(model::kCapacityBufferResource, "room").at_pointer("/status/replicas"), 2);
  EXPECT_EQ(condition(model::kCapacityBufferResource, "room", "ReadyForProvisioning"),
            "True Resolved");
}

TEST_F(Semantics, RealPodsUseABuffersRoomAtOnceAndItIsMadeAnew) {
  create(pool("default", ""));
  create(deployment("web", 0, "cpu: 1"));
  create(kBuffer);
  ASSERT_TRUE(soon([&] {
    return condition(model::kCapacityBufferResource, "room", "Provisioning") ==
           "True FitsExistingCapacity";
  }));
  const auto scaled = cluster_.loop.now();
  edit(model::kDeploymentResource, "web",
       [](json::value& object) { object.at("spec").as_object()["replicas"] = 2; });
  ASSERT_TRUE(soon([&] { return running("web") == 2; }));
  EXPECT_LT(cluster_.loop.now() - scaled, seconds(10)) << "no node had to be waited for";
  const auto has_room_again = [&] {
    model::ResourceList room;
    for (const auto& record : nodes()) {
      auto free = record->allocatable();
      model::subtract_from(free, record->pod_requests);
      model::add_to(room, free);
    }
    return model::get(room, "cpu") >= model::Quantity::from_units(2);
  };
  EXPECT_TRUE(soon(has_room_again));
}

TEST_F(Semantics, ABufferThatGoesLetsItsNodesGo) {
  create(pool("default", ""));
  create(deployment("web", 0, "cpu: 1"));
  create(kBuffer);
  ASSERT_TRUE(soon([&] { return !nodes().empty(); }));
  const model::ObjectKey key{.namespace_ = "default", .name = "room"};
  ASSERT_TRUE(api().remove(model::kCapacityBufferResource, key));
  EXPECT_TRUE(soon([&] { return snapshot()->nodes.empty(); }, minutes(30)));
}

TEST_F(Semantics, ABufferThatTurnsToAWorkloadNamesNoTemplateAnyMore) {
  create(pool("default", ""));
  create(deployment("web", 0, "cpu: 1"));
  create(kPriorities);
  create(kTemplateBuffer);
  const auto of_status = [this](std::string_view field) {
    const auto buffer = object(model::kCapacityBufferResource, "room");
    return model::find_path(buffer, "status." + std::string(field)) != nullptr;
  };
  ASSERT_TRUE(soon([&] { return of_status("podTemplateRef"); }));
  edit(model::kCapacityBufferResource, "room", [](json::value& object) {
    auto& spec = object.at("spec").as_object();
    spec.erase("podTemplateRef");
    spec["scalableRef"] = {{"apiGroup", "apps"}, {"kind", "Deployment"}, {"name", "web"}};
  });
  EXPECT_TRUE(soon([&] { return !of_status("podTemplateRef"); }, minutes(1)));
  EXPECT_FALSE(of_status("podTemplateGeneration"));
}

TEST_F(Semantics, ABufferWithoutItsWorkloadSaysSo) {
  create(pool("default", ""));
  create(kBuffer);
  ASSERT_TRUE(soon([&] {
    return condition(model::kCapacityBufferResource, "room", "ReadyForProvisioning") ==
           "False ScalableRefNotFound";
  }));
  EXPECT_EQ(condition(model::kCapacityBufferResource, "room", "Provisioning"),
            "False NotReadyForProvisioning");
  create(deployment("web", 0, "cpu: 1"));
  EXPECT_TRUE(soon([&] {
    return condition(model::kCapacityBufferResource, "room", "ReadyForProvisioning") ==
           "True Resolved";
  }));
}

TEST_F(Semantics, ABufferNeverTakesTheLastOfALimitFromARealPod) {
  create(pool("default", "  limits: {nodes: 1}\n"));
  create(deployment("web", 0, "cpu: 200"));
  create(deployment("real", 1, "cpu: 100"));
  create(kBuffer);
  EXPECT_TRUE(soon([&] { return running("real") == 1; }));
}

TEST_F(Semantics, ABufferMayKeepItsRoomForItsOwner) {
  create(pool("default", ""));
  create(deployment("web", 0, "cpu: 1"));
  create(kBuffer);
  edit(model::kCapacityBufferResource, "room", [](json::value& object) {
    object.at("metadata").as_object()["annotations"] = {{"millwright.io/keep-for-owner", "true"}};
  });
  ASSERT_TRUE(soon([&] {
    return condition(model::kCapacityBufferResource, "room", "Provisioning") ==
           "True FitsExistingCapacity";
  }));
  cluster_.loop.run_for(minutes(5));
  const auto room = nodes();
  ASSERT_EQ(room.size(), 1U);
  // As many pods as would fill the node, had it not been kept.
  create(deployment("other", 4, "cpu: 900m"));
  ASSERT_TRUE(soon([&] { return running("other") == 4; }));
  const auto scaled = cluster_.loop.now();
  edit(model::kDeploymentResource, "web",
       [](json::value& object) { object.at("spec").as_object()["replicas"] = 2; });
  ASSERT_TRUE(soon([&] { return running("web") == 2; }));
  EXPECT_LT(cluster_.loop.now() - scaled, seconds(10)) << "its room was still there";
  std::size_t in_the_room = 0;
  for (const auto& [uid, pod] : cluster_.cluster->world().recorder().pods()) {
    in_the_room += pod.last->meta.label("app") == "web" &&
                           pod.last->spec.node_name == room.front()->node->meta.name
                       ? 1
                       : 0;
  }
  EXPECT_EQ(in_the_room, 2U);
}

TEST_F(Buffers, ANodePoolEditRollsANodeThatHoldsNothingElse) {
  const auto old = make_buffered_node();
  edit(model::kNodePoolResource, "default", [](json::value& object) {
    object.at_pointer("/spec/template").as_object()["metadata"] = {{"labels", {{"team", "a"}}}};
  });
  expect_that_it_rolls(old);
  cluster_.loop.run_for(minutes(30));
  ASSERT_EQ(nodes().size(), 1U);
  EXPECT_EQ(nodes().front()->node->meta.label("team"), "a");
  EXPECT_EQ(claims(), 2U) << "replaced once, not again and again";
}

TEST_F(Buffers, ANodeThatHoldsNothingElseExpiresOnceTheRoomIsElsewhere) {
  const auto old = make_buffered_node("      expireAfter: 1h\n");
  cluster_.loop.run_for(minutes(50));
  expect_that_it_rolls(old, minutes(10));
  cluster_.loop.run_for(minutes(30));
  EXPECT_EQ(claims(), 2U);
}

TEST_F(Buffers, ANodeThatCannotBeReplacedStillExpires) {
  create(pool("default", "      expireAfter: 1h\n  limits: {nodes: 1}\n"));
  create(deployment("web", 0, "cpu: 1"));
  create(kBuffer);
  ASSERT_TRUE(soon([&] { return fits(); }));
  const auto old = nodes().front()->name();
  cluster_.loop.run_for(minutes(58));
  EXPECT_TRUE(soon([&] {
    const auto now = nodes();
    return now.size() == 1 && now.front()->name() != old;
  }));
}

TEST_F(Buffers, TheRoomOfTwoNodesMovesToOne) {
  create(pool("default", ""));
  for (const std::string name : {"one", "two"}) {
    create(deployment(name, 0, "cpu: 3"));
    create("apiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\nmetadata: {name: " +
           name + ", namespace: default, annotations: {millwright.io/keep-for-owner: \"true\"}}\n" +
           "spec: {scalableRef: {apiGroup: apps, kind: Deployment, name: " + name +
           "}, replicas: 1}\n");
    ASSERT_TRUE(soon([&] { return fits(name); }));
  }
  ASSERT_TRUE(soon([&] { return reserved() == 2; }));
  ASSERT_EQ(nodes().size(), 2U) << "each fills a node";
  for (const std::string name : {"one", "two"}) {
    edit(model::kDeploymentResource, name, [](json::value& object) {
      object.at_pointer("/spec/template/spec/containers/0/resources/requests").as_object()["cpu"] =
          "100m";
    });
  }
  EXPECT_TRUE(soon([&] { return nodes().size() == 1 && reserved() == 2; }));
  cluster_.loop.run_for(minutes(30));
  EXPECT_EQ(nodes().size(), 1U);
  EXPECT_EQ(reserved(), 2);
  EXPECT_LE(claims(), 4U) << "settled";
}

TEST_F(Buffers, PriorityDecidesWhoElseMayTakeTheRoom) {
  create(kPriorities);
  create(pool("default", ""));
  create(deployment("web", 0, "cpu: 1", of_class("high")));
  create(kBuffer);
  keep_for_owner();
  ASSERT_TRUE(soon([&] { return fits() && reserved() == 2; }));
  create(deployment("ordinary", 2, "cpu: 1"));
  ASSERT_TRUE(soon([&] { return running("ordinary") == 2; }));
  cluster_.loop.run_for(minutes(5));
  EXPECT_EQ(reserved(), 2);
  const auto created = cluster_.loop.now();
  create(deployment("urgent", 2, "cpu: 1", of_class("urgent")));
  ASSERT_TRUE(soon([&] { return running("urgent") == 2; }));
  EXPECT_LT(cluster_.loop.now() - created, seconds(10)) << "they took the room";
  EXPECT_TRUE(soon([&] { return fits() && reserved() == 2; })) << "and the buffer got other room";
  cluster_.loop.run_for(minutes(5));
  const auto scaled = cluster_.loop.now();
  scale("web", 2);
  ASSERT_TRUE(soon([&] { return running("web") == 2; }));
  EXPECT_LT(cluster_.loop.now() - scaled, seconds(10));
}

TEST_F(Buffers, TheRoomOfAPodTemplateIsForPodsOfItsPriority) {
  create(kPriorities);
  create(pool("default", ""));
  create(kTemplateBuffer);
  keep_for_owner();
  ASSERT_TRUE(soon([&] { return fits() && reserved() == 2; }));
  create(deployment("low", 1, "cpu: 1", of_class("low")));
  create(deployment("ordinary", 1, "cpu: 1"));
  ASSERT_TRUE(soon([&] { return running("low") == 1 && running("ordinary") == 1; }))
      << "they find room beside it or get a node";
  cluster_.loop.run_for(minutes(5));
  EXPECT_EQ(reserved(), 2);
  const auto created = cluster_.loop.now();
  create(deployment("job", 2, "cpu: 1", of_class("high")));
  ASSERT_TRUE(soon([&] { return running("job") == 2; }));
  EXPECT_LT(cluster_.loop.now() - created, seconds(10));
  EXPECT_TRUE(soon([&] { return fits() && reserved() == 2; }));
  cluster_.loop.run_for(minutes(30));
  EXPECT_EQ(reserved(), 2);
  EXPECT_LE(claims(), 5U) << "settled";
}

class WithoutGates : public Semantics {
 protected:
  WithoutGates()
      : Semantics([] {
          app::EmbeddedOptions options;
          options.profiles = {cloud::Profile::Kwok};
          return options;
        }()) {}
};

TEST_F(WithoutGates, NoneOfThemDoesAnything) {
  create(pool("default", ""));
  create(pool("static", "  replicas: 2\n"));
  create(deployment("web", 0, "cpu: 1"));
  create(kBuffer);
  cluster_.loop.run_for(minutes(5));
  EXPECT_EQ(claims(), 0U);
}

}  // namespace
}  // namespace millwright::test
