#include "millwright/cluster/state.hpp"

#include "millwright/model/device_pools.hpp"
#include "millwright/scheduling/solve.hpp"
#include "unit/cluster/describe.hpp"
#include "unit/cluster/objects.hpp"
#include "unit/cluster/state_kit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace millwright::cluster {
namespace {

using testing::at;
using testing::ClaimBuilder;
using testing::describe;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::NodeBuilder;
using testing::PodBuilder;
using testing::record_of;

TEST(State, CountsBoundPodsAndForgetsThemWhenTheyEnd) {
  Ledger ledger;
  State state(ledger);
  state.upsert(NodeBuilder("n").build());
  state.upsert(PodBuilder("b").on("n").requests(200, 100).build());
  state.upsert(PodBuilder("a").on("n").requests(100).owned_by_daemon_set().build());
  auto record = record_of(state, "n");
  ASSERT_EQ(record->pods.size(), 2U);
  EXPECT_EQ(record->pods[0]->meta.name, "a");
  EXPECT_EQ(model::to_string(record->pod_requests), "{cpu: 300m, memory: 100Mi, pods: 2}");
  EXPECT_EQ(model::to_string(record->daemon_requests), "{cpu: 100m, pods: 1}");
  state.upsert(PodBuilder("b").on("n").requests(200, 100).phase("Failed").build());
  EXPECT_EQ(model::to_string(record_of(state, "n")->pod_requests), "{cpu: 100m, pods: 1}");
  state.remove<model::Pod>({"default", "a"}, {.uid = "uid-a"});
  record = record_of(state, "n");
  EXPECT_THAT(record->pods, IsEmpty());
  EXPECT_THAT(record->pod_requests, IsEmpty());
  EXPECT_THAT(record->daemon_requests, IsEmpty());
}

TEST(State, TellsOnceThatItsListsAreComplete) {
  Ledger ledger;
  State state(ledger);
  int told = 0;
  state.on_synced([&] {
    ++told;
    EXPECT_TRUE(state.snapshot()->synced);
  });
  state.upsert(NodeBuilder("n").build());
  EXPECT_EQ(told, 0);
  state.set_synced(true);
  state.set_synced(true);
  EXPECT_EQ(told, 1);
}

TEST(State, RemovesAPodOnlyWhenItIsTheOneThatIsKnown) {
  Ledger ledger;
  State state(ledger);
  state.upsert(PodBuilder("db-0").uid("new").build());
  state.remove<model::Pod>({"default", "db-0"}, {.uid = "old"});
  EXPECT_EQ(state.snapshot()->pending_pods.size(), 1U);
  state.remove<model::Pod>({"default", "db-0"});
  EXPECT_EQ(state.snapshot()->pending_pods.size(), 0U);
}

TEST(State, TotalsRecoverFromSumsTooLargeToHold) {
  Ledger ledger;
  State state(ledger);
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max() - 10;
  state.upsert(NodeBuilder("n").build());
  state.upsert(PodBuilder("huge").on("n").requests(huge).build());
  state.upsert(PodBuilder("small").on("n").requests(500).build());
  state.remove<model::Pod>({"default", "huge"});
  EXPECT_EQ(model::to_string(record_of(state, "n")->pod_requests), "{cpu: 500m, pods: 1}");
}

TEST(State, ListsWaitingPodsByNameThenNamespace) {
  Ledger ledger;
  State state(ledger);
  state.upsert(PodBuilder("b").in("x").build());
  state.upsert(PodBuilder("a").in("z").uid("1").build());
  state.upsert(PodBuilder("a").in("y").uid("2").build());
  state.upsert(PodBuilder("done").phase("Succeeded").build());
  state.upsert(PodBuilder("bound").on("n").build());
  std::vector<std::string> keys;
  for (const auto& pod : state.snapshot()->pending_pods) {
    keys.push_back(model::key_of(pod->meta).to_string());
  }
  EXPECT_THAT(keys, ElementsAre("y/a", "z/a", "x/b"));
}

TEST(State, SnapshotsNeverChangeAndShareWhatDidNot) {
  Ledger ledger;
  State state(ledger);
  for (int i = 0; i < 50; ++i) {
    state.upsert(NodeBuilder("n" + std::to_string(100 + i)).build());
  }
  const auto before = state.snapshot();
  const std::string text = describe(*before);
  EXPECT_EQ(state.snapshot(), before);
  state.upsert(PodBuilder("p").on("n120").requests(1).build());
  state.upsert(NodeBuilder("n099").build());
  state.remove<model::Node>({"", "n130"});
  ledger.fence({"n110", "Empty", at(0)});
  const auto after = state.snapshot();
  EXPECT_EQ(describe(*before), text);
  EXPECT_GT(after->generation, before->generation);
  std::size_t shared = 0;
  for (const auto& record : after->nodes) {
    shared +=
        static_cast<std::size_t>(std::count(before->nodes.begin(), before->nodes.end(), record));
  }
  EXPECT_EQ(shared, 47U);  // all but the new, the removed, the fenced and the pod's node
  EXPECT_TRUE(std::is_sorted(after->nodes.begin(), after->nodes.end(),
                             [](const auto& a, const auto& b) { return a->name() < b->name(); }));
}

TEST(State, RepeatedAndOlderEventsChangeNothing) {
  Ledger ledger;
  State state(ledger);
  int changes = 0;
  state.on_change([&changes](Kind, const model::ObjectKey&) { ++changes; });
  state.upsert(NodeBuilder("n").version(5).allocatable(1000).build());
  state.upsert(PodBuilder("p").version(6).build());
  const auto before = state.snapshot();
  state.upsert(NodeBuilder("n").version(5).allocatable(1000).build());
  state.upsert(NodeBuilder("n").version(4).build());
  state.upsert(PodBuilder("p").version(6).build());
  state.remove<model::Node>({"", "unknown"});
  state.remove<model::DaemonSet>({"default", "unknown"});
  EXPECT_EQ(state.snapshot(), before);
  EXPECT_EQ(changes, 2);
}

std::shared_ptr<const model::Workload> replica_set(const std::string& name, std::int32_t pods,
                                                   const std::string& version) {
  model::Workload set{.kind = "ReplicaSet", .meta = {}, .pods = pods, .at_once = true};
  set.meta.name = name;
  set.meta.namespace_ = "default";
  set.meta.uid = "uid-" + name;
  set.meta.resource_version = version;
  return std::make_shared<const model::Workload>(std::move(set));
}

TEST(State, ReportsAWorkloadOnlyWhenItWantsOtherPods) {
  Ledger ledger;
  State state(ledger);
  std::vector<std::string> changes;
  state.on_change([&changes](Kind kind, const model::ObjectKey& key) {
    EXPECT_EQ(kind, Kind::Workload);
    changes.push_back(key.to_string());
  });
  state.upsert(replica_set("old", 0, "1"));
  state.upsert(replica_set("a", 2, "2"));
  state.upsert(replica_set("a", 2, "3"));  // its status changed
  EXPECT_THAT(changes, ElementsAre("default/a"));
  const auto before = state.snapshot();
  state.upsert(replica_set("a", 2, "4"));
  EXPECT_EQ(state.snapshot(), before);
  state.upsert(replica_set("a", 3, "5"));
  state.upsert(replica_set("b", 1, "6"));
  state.remove<model::Workload>({"default", "b"}, {.uid = "uid-b", .kind = "StatefulSet"});
  state.remove<model::Workload>({"default", "b"}, {.uid = "uid-b", .kind = "ReplicaSet"});
  state.remove<model::Workload>({"default", "b"}, {.uid = "uid-b", .kind = "ReplicaSet"});
  state.upsert(replica_set("a", 0, "7"));
  EXPECT_THAT(changes,
              ElementsAre("default/a", "default/a", "default/b", "default/b", "default/a"));
}

TEST(State, ReportsAQuotaOnlyWhenItAdmitsOtherPods) {
  Ledger ledger;
  State state(ledger);
  int changes = 0;
  state.on_change([&changes](Kind kind, const model::ObjectKey& key) {
    EXPECT_EQ(kind, Kind::ResourceQuota);
    EXPECT_EQ(key.to_string(), "default/q");
    ++changes;
  });
  auto quota = std::make_shared<model::ResourceQuota>();
  quota->meta.name = "q";
  quota->meta.namespace_ = "default";
  quota->hard = testing::resources(1000);
  const auto put = [&] {
    state.upsert(std::make_shared<const model::ResourceQuota>(*quota));
    return changes;
  };
  EXPECT_EQ(put(), 1);
  quota->meta.resource_version = "2";
  EXPECT_EQ(put(), 1);
  quota->hard = testing::resources(900);
  EXPECT_EQ(put(), 2);
  state.remove<model::ResourceQuota>({"default", "q"});
  state.remove<model::ResourceQuota>({"default", "q"});
  EXPECT_EQ(changes, 3);
}

TEST(State, LearnsAttachLimitsFromCsiNodesOfAType) {
  Ledger ledger;
  State state(ledger);
  const auto node = [&](const std::string& name, const std::string& type) {
    auto object = std::make_shared<model::Node>();
    object->meta.name = name;
    object->meta.labels[std::string(model::kInstanceTypeLabel)] = type;
    state.upsert(std::shared_ptr<const model::Node>(object));
  };
  const auto drivers = [&](const std::string& name, std::optional<std::int32_t> count) {
    auto object = std::make_shared<model::CSINode>();
    object->meta.name = name;
    object->drivers = {{.name = "disk", .allocatable_count = count}};
    state.upsert(std::shared_ptr<const model::CSINode>(object));
  };
  using Limits = scheduling::VolumeLimits;
  const auto known = [&] {
    const auto limits = state.snapshot()->volume_limits;
    return limits == nullptr ? Limits() : *limits;
  };
  EXPECT_EQ(known(), Limits());
  node("a", "large");
  EXPECT_EQ(known(), Limits()) << "its drivers have said nothing yet";
  drivers("a", 25);
  EXPECT_EQ(known(), (Limits{{"large", {{"disk", 25}}}}));
  drivers("b", 20);
  EXPECT_EQ(known(), (Limits{{"large", {{"disk", 25}}}})) << "no Node says what type b is";
  node("b", "large");
  EXPECT_EQ(known(), (Limits{{"large", {{"disk", 20}}}})) << "the least counts";
  const auto before = state.snapshot()->volume_limits;
  node("b", "large");
  EXPECT_EQ(state.snapshot()->volume_limits, before) << "the same object while nothing changes";
  state.remove<model::CSINode>({"", "b"});
  EXPECT_EQ(known(), (Limits{{"large", {{"disk", 25}}}}));
  state.remove<model::Node>({"", "a"});
  state.remove<model::CSINode>({"", "a"});
  EXPECT_EQ(known(), (Limits{{"large", {{"disk", 25}}}})) << "kept without nodes";
  drivers("c", std::nullopt);
  node("c", "large");
  EXPECT_EQ(known(), (Limits{{"large", {}}})) << "now the driver says that there is none";
}

TEST(State, ShowsWhatDriversPublishedOnNodesOfAType) {
  Ledger ledger;
  State state(ledger);
  auto slice = std::make_shared<model::ResourceSlice>();
  slice->meta.name = "s";
  slice->node_name = "a";
  slice->slices_in_pool = 1;
  slice->devices = {{.name = "0"}};
  state.upsert(model::ResourceSlicePtr(slice));
  EXPECT_EQ(state.snapshot()->published_devices, nullptr);
  auto node = std::make_shared<model::Node>();
  node->meta.name = "a";
  node->meta.labels[std::string(model::kInstanceTypeLabel)] = "large";
  state.upsert(std::shared_ptr<const model::Node>(node));
  const auto published = state.snapshot()->published_devices;
  ASSERT_NE(published, nullptr);
  EXPECT_EQ(published->at("large").size(), 1U);
  EXPECT_EQ(state.find_slice("s"), slice);
  state.remove<model::ResourceSlice>({"", "s"});
  state.remove<model::Node>({"", "a"});
  EXPECT_EQ(state.snapshot()->published_devices, published);
  EXPECT_EQ(state.find_slice("s"), nullptr);
}

TEST(State, ReportsEachChangeWithItsKind) {
  Ledger ledger;
  State state(ledger);
  std::vector<std::pair<Kind, model::ObjectKey>> heard;
  state.on_change([&](Kind kind, const model::ObjectKey& key) { heard.emplace_back(kind, key); });
  const auto named = [](auto object, const std::string& name, const std::string& ns = {}) {
    object.meta.name = name;
    object.meta.namespace_ = ns;
    return std::make_shared<const decltype(object)>(object);
  };
  state.upsert(named(model::NodePool{}, "np"));
  state.upsert(named(model::NodeClass{.kind = "EC2NodeClass"}, "nc"));
  state.upsert(named(model::DaemonSet{}, "ds", "ns"));
  state.upsert(named(model::PodDisruptionBudget{}, "pdb", "ns"));
  state.upsert(named(model::PersistentVolumeClaim{}, "pvc", "ns"));
  state.upsert(named(model::PersistentVolume{}, "pv"));
  state.upsert(named(model::StorageClass{}, "sc"));
  state.upsert(named(model::CSINode{}, "cn"));
  state.upsert(named(model::VolumeAttachment{}, "va"));
  state.upsert(named(model::DeviceClass{}, "dc"));
  state.upsert(named(model::ResourceClaim{}, "rc", "ns"));
  state.upsert(named(model::ResourceClaimTemplate{}, "rct", "ns"));
  state.upsert(named(model::ResourceSlice{}, "rs"));
  state.upsert(named(model::Namespace{}, "space"));
  EXPECT_EQ(describe(*state.snapshot()),
            "pool np/#\nclass nc/#\ndaemonset ds/ns#\nbudget pdb/ns#\npvc pvc/ns#\npv pv/#\n"
            "storageclass sc/#\ncsinode cn/#\nattachment va/#\n"
            "deviceclass dc/#\nclaim rc/ns#\nclaimtemplate rct/ns#\nslice rs/#\n"
            "namespace space/#\n");
  state.remove<model::NodePool>({"", "np"});
  state.remove<model::NodeClass>({"", "nc"},
                                 {.kind = "ECSNodeClass"});  // another kind's object of that name
  state.remove<model::NodeClass>({"", "nc"}, {.kind = "EC2NodeClass"});
  state.remove<model::DaemonSet>({"ns", "ds"});
  state.remove<model::PodDisruptionBudget>({"ns", "pdb"});
  state.remove<model::PersistentVolumeClaim>({"ns", "pvc"});
  state.remove<model::PersistentVolume>({"", "pv"});
  state.remove<model::StorageClass>({"", "sc"});
  state.remove<model::CSINode>({"", "cn"});
  state.remove<model::VolumeAttachment>({"", "va"});
  state.remove<model::DeviceClass>({"", "dc"});
  state.remove<model::ResourceClaim>({"ns", "rc"});
  state.remove<model::ResourceClaimTemplate>({"ns", "rct"});
  state.remove<model::ResourceSlice>({"", "rs"});
  state.remove<model::Namespace>({"", "space"});
  EXPECT_EQ(describe(*state.snapshot()), "");
  EXPECT_EQ(heard.size(), 28U);
  EXPECT_EQ(heard[1], std::pair(Kind::NodeClass, model::ObjectKey{"", "nc"}));
  EXPECT_EQ(heard[16], std::pair(Kind::DaemonSet, model::ObjectKey{"ns", "ds"}));
}

TEST(State, ClassesOfOneNameAndKindAreAsManyAsTheirGroups) {
  Ledger ledger;
  State state(ledger);
  const auto put = [&](const std::string& group, const std::string& version) {
    model::NodeClass node_class{.api_version = group + "/v1alpha1", .kind = "ECSNodeClass"};
    node_class.meta.name = "default";
    node_class.meta.uid = "uid-" + group;
    node_class.meta.resource_version = version;
    state.upsert(std::make_shared<const model::NodeClass>(std::move(node_class)));
  };
  const auto known = [&] {
    std::vector<std::string> classes;
    for (const auto& node_class : state.snapshot()->node_classes) {
      classes.push_back(model::reference_to(*node_class).text() + " " +
                        node_class->meta.resource_version);
    }
    return classes;
  };
  put("karpenter.k8s.alibabacloud", "7");
  put("karpenter.alibabacloud.com", "3");
  put("karpenter.k8s.alibabacloud", "9");
  EXPECT_THAT(known(), ElementsAre("ECSNodeClass.karpenter.alibabacloud.com/default 3",
                                   "ECSNodeClass.karpenter.k8s.alibabacloud/default 9"));
  const auto remove_from = [&](std::string_view group) {
    state.remove<model::NodeClass>({"", "default"}, {.kind = "ECSNodeClass", .group = group});
  };
  remove_from("example.com");
  EXPECT_EQ(known().size(), 2U);
  remove_from("karpenter.alibabacloud.com");
  EXPECT_THAT(known(), ElementsAre("ECSNodeClass.karpenter.k8s.alibabacloud/default 9"));
  remove_from("karpenter.k8s.alibabacloud");
  EXPECT_THAT(known(), ElementsAre());
}

TEST(State, ACallbackMayChangeTheState) {
  Ledger ledger;
  State state(ledger);
  std::vector<Kind> kinds;
  state.on_change([&](Kind kind, const model::ObjectKey& key) {
    kinds.push_back(kind);
    if (kind == Kind::Pod) {
      state.assume(ClaimBuilder("for-" + key.name).build());
    }
  });
  state.upsert(PodBuilder("p").build());
  EXPECT_THAT(kinds, ElementsAre(Kind::Pod, Kind::NodeClaim));
  EXPECT_NE(record_of(state, "for-p"), nullptr);
}

TEST(State, NodeTotalsEqualTheSumOfTheirPodsAfterAnyHistory) {
  const bool held = rc::check([] {
    Ledger ledger;
    State state(ledger);
    std::map<std::string, std::shared_ptr<const model::Pod>> model;
    for (int i = 0; i < 4; ++i) {
      state.upsert(NodeBuilder("n" + std::to_string(i)).build());
    }
    const auto steps = *rc::gen::arbitrary<
        std::vector<std::tuple<std::uint8_t, std::uint8_t, std::uint8_t, std::uint16_t>>>();
    int version = 0;
    for (const auto& [kind, pod, node, cpu] : steps) {
      const std::string name = "p" + std::to_string(pod % 8);
      if (kind % 4 == 0) {
        state.remove<model::Pod>({"default", name});
        model.erase(name);
        continue;
      }
      PodBuilder builder(name);
      builder.version(++version).requests(cpu).phase(kind % 7 == 0 ? "Succeeded" : "Running");
      if (node % 5 != 4) {
        builder.on("n" + std::to_string(node % 5));
      }
      if (kind % 3 == 0) {
        builder.owned_by_daemon_set();
      }
      state.upsert(model[name] = builder.build());
      if (cpu % 3 == 0) {
        state.snapshot();
      }
    }
    const auto snapshot = state.snapshot();
    for (const auto& record : snapshot->nodes) {
      model::ResourceList expected;
      std::size_t count = 0;
      for (const auto& [name, pod] : model) {
        if (pod->spec.node_name == record->name() && !model::is_terminal(*pod)) {
          model::add_to(expected, scheduling::effective_requests(*pod));
          ++count;
        }
      }
      std::erase_if(expected, [](const auto& entry) { return entry.second.is_zero(); });
      RC_ASSERT(record->pods.size() == count);
      RC_ASSERT(record->pod_requests == expected);
    }
    RC_ASSERT(
        snapshot->pending_pods.size() ==
        static_cast<std::size_t>(std::count_if(model.begin(), model.end(), [](const auto& entry) {
          return entry.second->spec.node_name.empty() && !model::is_terminal(*entry.second);
        })));
  });
  EXPECT_TRUE(held);
}

TEST(State, IsNotSyncedWhileItIsStale) {
  Ledger ledger;
  State state(ledger, [] { return at(7); });
  state.set_fresh(false);
  state.set_synced(true);
  EXPECT_FALSE(state.snapshot()->synced);
  state.set_fresh(true);
  EXPECT_TRUE(state.snapshot()->synced);
  EXPECT_EQ(state.snapshot()->stale_since, std::nullopt);
  state.set_fresh(false);
  EXPECT_FALSE(state.snapshot()->synced);
  EXPECT_EQ(state.snapshot()->stale_since, at(7));
}

}  // namespace
}  // namespace millwright::cluster
