// CapacityBuffers (feature gate CapacityBuffer) at work in a whole cluster in virtual time; and
// that no gate means no effect.
#include "sandbox/semantics/semantics_fixture.hpp"

namespace millwright::test {
namespace {

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
