// Features behind gates, at work in a whole cluster in virtual time: static pools, overlays and
// capacity buffers.

#include "millwright/model/codec.hpp"
#include "millwright/scheduling/solve.hpp"
#include "support/virtual_cluster.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::test {
namespace {

namespace json = boost::json;
using std::chrono::minutes;
using std::chrono::seconds;

app::EmbeddedOptions gated() {
  app::EmbeddedOptions options;
  options.profiles = {cloud::Profile::Kwok};
  options.controllers.static_capacity = true;
  options.controllers.node_overlay = true;
  options.controllers.capacity_buffer = true;
  return options;
}

class Semantics : public testing::Test {
 protected:
  explicit Semantics(app::EmbeddedOptions options = gated()) : cluster_(std::move(options)) {
    create(R"(
apiVersion: karpenter.kwok.sh/v1alpha1
kind: KWOKNodeClass
metadata: {name: default}
)");
  }

  sandbox::ApiServer& api() { return cluster_.cluster->world().api(); }

  void create(const std::string& yaml) {
    const auto documents = model::parse_yaml(yaml);
    ASSERT_TRUE(documents) << documents.error().message;
    for (const auto& document : *documents) {
      const auto* resource = model::find_by_kind(std::string(document.at("apiVersion").as_string()),
                                                 std::string(document.at("kind").as_string()));
      ASSERT_NE(resource, nullptr);
      const auto created = api().create(*resource, document);
      ASSERT_TRUE(created) << created.error().message;
    }
  }
  static std::string pool(const std::string& name, const std::string& more) {
    return "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " + name +
           "}\nspec:\n"
           "  template:\n    spec:\n"
           "      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}\n"
           "      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: "
           "[on-demand]}]\n" +
           more;
  }
  static std::string deployment(const std::string& name, int replicas, const std::string& requests,
                                const std::string& more = {}) {
    return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name +
           ", namespace: default}\nspec:\n  replicas: " + std::to_string(replicas) +
           "\n  selector: {matchLabels: {app: " + name +
           "}}\n  template:\n    metadata: {labels: {app: " + name + "}}\n    spec:\n" + more +
           "      containers: [{name: work, image: work, resources: {requests: {" + requests +
           "}}}]\n";
  }
  void edit(const model::Resource& resource, const std::string& name,
            const std::function<void(json::value&)>& change) {
    const model::ObjectKey key{.namespace_ = resource.namespaced ? "default" : "", .name = name};
    const auto updated = api().update(resource, key, change);
    ASSERT_TRUE(updated) << updated.error().message;
  }
  json::value object(const model::Resource& resource, const std::string& name) {
    const model::ObjectKey key{.namespace_ = resource.namespaced ? "default" : "", .name = name};
    auto found = api().get(resource, key);
    return found ? **found : json::value();
  }
  // "True RequiresNewCapacity" or "".
  std::string condition(const model::Resource& resource, const std::string& name,
                        std::string_view type) {
    const auto found = object(resource, name);
    const auto* list = model::find_path(found, "status.conditions");
    if (list == nullptr) {
      return {};
    }
    for (const auto& each : list->as_array()) {
      if (each.at("type").as_string() == type) {
        return json::value_to<std::string>(each.at("status")) + " " +
               json::value_to<std::string>(each.at("reason"));
      }
    }
    return {};
  }

  scheduling::SnapshotPtr snapshot() { return cluster_.cluster->engine().state().snapshot(); }
  // Nodes of the pool that are up and stay.
  std::vector<scheduling::NodeRecordPtr> nodes(std::string_view pool = "default") {
    std::vector<scheduling::NodeRecordPtr> result;
    for (const auto& record : snapshot()->nodes) {
      if (record->node_pool() == pool && record->node && record->initialized() &&
          !record->marked_for_deletion) {
        result.push_back(record);
      }
    }
    return result;
  }
  std::size_t claims() { return cluster_.cluster->world().recorder().claims().size(); }
  std::size_t running(const std::string& app) {
    std::size_t count = 0;
    for (const auto& [uid, pod] : cluster_.cluster->world().recorder().pods()) {
      count += pod.last->meta.label("app") == app && pod.running && !pod.deleting ? 1 : 0;
    }
    return count;
  }
  bool soon(const std::function<bool()>& holds, base::Duration limit = minutes(10)) {
    return cluster_.loop.run_until(holds, limit);
  }

  VirtualCluster cluster_;
};

TEST_F(Semantics, AStaticPoolKeepsItsNumberWhateverPodsAsk) {
  create(pool("default", "  replicas: 3\n"));
  ASSERT_TRUE(soon([&] { return nodes().size() == 3; }));
  cluster_.loop.run_for(minutes(30));
  EXPECT_EQ(nodes().size(), 3U) << "empty nodes of a static pool stay";
  EXPECT_EQ(claims(), 3U);
  create(deployment("web", 1, "cpu: 500"));
  cluster_.loop.run_for(minutes(5));
  EXPECT_EQ(claims(), 3U) << "no pod makes a static pool grow";
}

TEST_F(Semantics, AStaticPoolIsScaledByItsReplicas) {
  create(pool("default", "  replicas: 1\n"));
  ASSERT_TRUE(soon([&] { return nodes().size() == 1; }));
  const auto scale = [&](int replicas) {
    edit(model::kNodePoolResource, "default",
         [&](json::value& object) { object.at("spec").as_object()["replicas"] = replicas; });
  };
  scale(4);
  ASSERT_TRUE(soon([&] { return nodes().size() == 4; }));
  create(deployment("web", 1, "cpu: 100m"));
  ASSERT_TRUE(soon([&] { return running("web") == 1; }));
  scale(1);
  ASSERT_TRUE(soon([&] { return snapshot()->nodes.size() == 1; }));
  EXPECT_EQ(nodes().size(), 1U);
  EXPECT_EQ(running("web"), 1U) << "the node with a pod is the last to go";
  EXPECT_EQ(claims(), 4U) << "no node was made or removed more than once";
}

TEST_F(Semantics, AStaticPoolStaysWithinItsLimit) {
  create(pool("default", "  replicas: 5\n  limits: {nodes: 2}\n"));
  ASSERT_TRUE(soon([&] { return nodes().size() == 2; }));
  cluster_.loop.run_for(minutes(10));
  EXPECT_EQ(claims(), 2U);
}

TEST_F(Semantics, AStaticNodeThatIsLostIsMadeAnew) {
  create(pool("default", "  replicas: 2\n"));
  ASSERT_TRUE(soon([&] { return nodes().size() == 2; }));
  const auto lost = nodes().front()->claim;
  cluster_.cluster->cloud(cloud::Profile::Kwok)->lose(lost->provider_id);
  EXPECT_TRUE(soon([&] { return claims() == 3 && nodes().size() == 2; }, minutes(30)));
}

TEST_F(Semantics, DriftedStaticNodesAreReplacedOneForOne) {
  create(pool("default", "  replicas: 3\n  disruption: {budgets: [{nodes: \"1\"}]}\n"));
  ASSERT_TRUE(soon([&] { return nodes().size() == 3; }));
  edit(model::kNodePoolResource, "default", [](json::value& object) {
    object.at_pointer("/spec/template").as_object()["metadata"] = {
        {"labels", {{"generation", "two"}}}};
  });
  std::size_t fewest = 3;
  const auto replaced = [&] {
    const auto now = nodes();
    fewest = std::min(fewest, now.size());
    return now.size() == 3 && std::all_of(now.begin(), now.end(), [](const auto& record) {
             return record->claim->meta.label("generation") == "two";
           });
  };
  EXPECT_TRUE(soon(replaced, std::chrono::hours(2)));
  EXPECT_GE(fewest, 2U);
  cluster_.loop.run_for(minutes(10));
  EXPECT_EQ(claims(), 6U) << "each was replaced once";
}

TEST_F(Semantics, AnOverlayDecidesWhatIsBought) {
  create(pool("default", ""));
  create(R"(
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: contract}
spec:
  requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m-64x-amd64-linux]}]
  price: "0.0001"
)");
  ASSERT_TRUE(soon(
      [&] { return condition(model::kNodeOverlayResource, "contract", "Ready") == "True Ready"; }));
  create(deployment("web", 1, "cpu: 100m"));
  ASSERT_TRUE(soon([&] { return running("web") == 1 && nodes().size() == 1; }));
  const auto& claim = *nodes().front()->claim;
  EXPECT_EQ(claim.meta.annotation("karpenter.sh/price-overlay-applied"), "true");
  const auto offered =
      std::find_if(claim.requirements.begin(), claim.requirements.end(),
                   [](const auto& each) { return each.key == "node.kubernetes.io/instance-type"; });
  ASSERT_NE(offered, claim.requirements.end());
  EXPECT_THAT(offered->values, testing::Contains("m-64x-amd64-linux"));
}

TEST_F(Semantics, ConflictingOverlaysAreToldSo) {
  create(pool("default", ""));
  for (const std::string name : {"a", "b"}) {
    create("apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: " + name +
           "}\nspec: {requirements: [], priceAdjustment: \"-10%\"}\n");
  }
  ASSERT_TRUE(soon([&] {
    return condition(model::kNodeOverlayResource, "a", "ValidationSucceeded") == "False Conflict";
  }));
  EXPECT_TRUE(
      soon([&] { return condition(model::kNodeOverlayResource, "b", "Ready") == "True Ready"; }));
  edit(model::kNodeOverlayResource, "a",
       [](json::value& object) { object.at("spec").as_object()["weight"] = 5; });
  EXPECT_TRUE(
      soon([&] { return condition(model::kNodeOverlayResource, "a", "Ready") == "True Ready"; }));
}

TEST_F(Semantics, AResourceOfAnOverlayIsBoughtOnceAndCountedFromTheLaunchOn) {
  create(pool("default", ""));
  create(R"(
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: devices}
spec:
  requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}]
  capacity: {example.com/device: 4}
)");
  create(deployment("web", 2, "cpu: 100m, example.com/device: 2"));
  ASSERT_TRUE(soon([&] { return claims() == 1; }));
  ASSERT_TRUE(soon([&] {
    const auto& records = snapshot()->nodes;
    return !records.empty() && model::is_true(records.front()->claim->conditions, "Launched");
  }));
  const auto& record = *snapshot()->nodes.front();
  EXPECT_EQ(model::get(record.claim->allocatable, "example.com/device"),
            model::Quantity::from_units(4));
  EXPECT_EQ(record.claim->meta.annotation("karpenter.sh/capacity-overlay-applied"), "true");
  cluster_.loop.run_for(minutes(2));
  EXPECT_EQ(claims(), 1U);
}

// --- capacity buffers

constexpr const char* kBuffer = R"(
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: room, namespace: default}
spec:
  scalableRef: {apiGroup: apps, kind: Deployment, name: web}
  replicas: 2
)";

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

class LegacyObjects : public Semantics {
 protected:
  LegacyObjects()
      : Semantics([] {
          auto options = gated();
          options.profiles = {cloud::Profile::Kwok, cloud::Profile::Aws};
          return options;
        }()) {}
};

TEST_F(LegacyObjects, AreTranslatedAgainWhenTheirNodePoolIsDeletedByHand) {
  create(R"(
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: default}
spec:
  subnetSelector: {karpenter.sh/discovery: cluster}
  securityGroupSelector: {karpenter.sh/discovery: cluster}
---
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: default}
spec:
  providerRef: {name: default}
)");
  const auto exist = [&] {
    return object(model::kNodePoolResource, "default").is_object() &&
           object(model::kEc2NodeClassResource, "default").is_object();
  };
  ASSERT_TRUE(soon(exist));
  cluster_.loop.run_for(minutes(1));
  const model::ObjectKey key{.namespace_ = {}, .name = "default"};
  ASSERT_TRUE(api().remove(model::kNodePoolResource, key));
  ASSERT_TRUE(api().remove(model::kEc2NodeClassResource, key));
  EXPECT_TRUE(soon([&] { return !exist(); }));
  EXPECT_TRUE(soon(exist, minutes(1)));
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
