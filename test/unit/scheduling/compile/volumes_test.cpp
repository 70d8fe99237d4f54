// Volumes decide where their pod can go: SCH-30..32 and PRV-10 as far as zones and state go.
#include "millwright/scheduling/plan_memory.hpp"
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace millwright::scheduling::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class VolumesTest : public ::testing::Test {
 protected:
  VolumesTest() {
    storage_class("late", "WaitForFirstConsumer");
    storage_class("now", "Immediate");
  }

  void storage_class(const std::string& name, const std::string& mode,
                     std::vector<model::NodeSelectorTerm> topologies = {}) {
    auto item = std::make_shared<model::StorageClass>();
    item->meta.name = name;
    item->provisioner = "ebs.csi.aws.com";
    item->volume_binding_mode = mode;
    item->allowed_topologies = std::move(topologies);
    world_->storage_classes.push_back(item);
  }
  template <class Edit>
  void claim(const std::string& name, const std::string& storage_class, Edit edit) {
    auto item = std::make_shared<model::PersistentVolumeClaim>();
    item->meta.name = name;
    item->meta.namespace_ = "default";
    item->storage_class = storage_class;
    edit(*item);
    world_->volume_claims.push_back(item);
  }
  void claim(const std::string& name, const std::string& storage_class) {
    claim(name, storage_class, [](auto&) {});
  }
  void bound(const std::string& name, std::vector<model::NodeSelectorTerm> terms,
             bool local = false) {
    claim(name, "late", [&](auto& item) {
      item.volume_name = "pv-" + name;
      item.meta.annotations["pv.kubernetes.io/bind-completed"] = "yes";
    });
    auto volume = std::make_shared<model::PersistentVolume>();
    volume->meta.name = "pv-" + name;
    volume->required_node_terms = std::move(terms);
    volume->local_or_host_path = local;
    world_->volumes.push_back(volume);
  }
  static model::NodeSelectorTerm zones(std::vector<std::string> values) {
    return {{need(model::kZoneLabel, Operator::In, std::move(values))}, {}};
  }
  Plan plan(std::vector<PodBuilder> who) {
    ProblemBuilder problem;
    problem.add(pool("default"), three_sizes());
    for (const auto& one : who) {
      problem.add(one);
    }
    return problem.with([&](Problem& p) { p.cluster = world_; }).solve();
  }
  std::vector<std::string> zones_of(const PodBuilder& who) {
    const Plan result = plan({who});
    return result.claims.empty() ? std::vector<std::string>{"refused"}
                                 : values_of(result.claims[0], model::kZoneLabel);
  }
  std::string reason(const PodBuilder& who) {
    const Plan result = plan({who});
    return result.refusals.empty() ? "placed" : result.refusals[0].reason;
  }

  std::shared_ptr<Snapshot> world_ = std::make_shared<Snapshot>();
};

TEST_F(VolumesTest, UnboundAndFreeGoAnywhere) {
  claim("c", "late");
  EXPECT_EQ(reason(pod("p").claim_volume("c")), "placed");
}

TEST_F(VolumesTest, BoundToAZoneGoThere) {
  bound("c", {zones({"test-zone-2"})});
  EXPECT_THAT(zones_of(pod("p").claim_volume("c")), ElementsAre("test-zone-2"));
}

TEST_F(VolumesTest, OfSeveralAlternativesAnyWillDo) {
  bound("c", {zones({"none"}), zones({"test-zone-3"})});
  EXPECT_THAT(zones_of(pod("p").claim_volume("c")), ElementsAre("test-zone-3"));
}

TEST_F(VolumesTest, SeveralVolumesMustMeet) {
  bound("a", {zones({"test-zone-1"}), zones({"test-zone-2"})});
  bound("b", {zones({"test-zone-2"}), zones({"test-zone-3"})});
  EXPECT_THAT(zones_of(pod("p").claim_volume("a").claim_volume("b")), ElementsAre("test-zone-2"));
  bound("c", {zones({"test-zone-1"})});
  EXPECT_THAT(zones_of(pod("p").claim_volume("b").claim_volume("c")), ElementsAre("refused"));
}

TEST_F(VolumesTest, AllowedTopologiesOfTheClassCount) {
  storage_class("zonal", "WaitForFirstConsumer", {zones({"test-zone-1"}), zones({"test-zone-2"})});
  claim("c", "zonal");
  EXPECT_THAT(zones_of(pod("p").claim_volume("c")), ElementsAre("test-zone-1"));
  EXPECT_THAT(zones_of(pod("p").claim_volume("c").selects(model::kZoneLabel, "test-zone-2")),
              ElementsAre("test-zone-2"));
}

// EBS' driver and that of Alibaba Cloud write keys of their own, which only nodes that run have.
TEST_F(VolumesTest, ZonesByTheKeyOfTheirDriverAreZones) {
  for (const std::string_view key :
       {"topology.ebs.csi.aws.com/zone", "topology.diskplugin.csi.alibabacloud.com/zone"}) {
    const auto in_zone_2 = [key]() -> model::NodeSelectorTerm {
      return {{need(key, Operator::In, {"test-zone-2"})}, {}};
    };
    const std::string name = std::string(key.substr(0, key.find('/')));
    bound("bound-" + name, {in_zone_2()});
    EXPECT_THAT(zones_of(pod("p").claim_volume("bound-" + name)), ElementsAre("test-zone-2"))
        << key;
    storage_class("class-" + name, "WaitForFirstConsumer", {in_zone_2()});
    claim("unbound-" + name, "class-" + name);
    EXPECT_THAT(zones_of(pod("p").claim_volume("unbound-" + name)), ElementsAre("test-zone-2"))
        << key;
  }
}

TEST_F(VolumesTest, AreNeverRelaxedAway) {
  bound("c", {zones({"test-zone-2"})});
  EXPECT_THAT(zones_of(pod("p").claim_volume("c").prefers(
                  1, {need(model::kZoneLabel, Operator::In, {"test-zone-1"})})),
              ElementsAre("test-zone-2"));
}

TEST_F(VolumesTest, TheHostOfALocalVolumeDoesNotBind) {
  bound("c", {{{need(model::kHostnameLabel, Operator::In, {"n"})}, {}}}, true);
  EXPECT_EQ(reason(pod("p").claim_volume("c")), "placed");
  bound("d", {{{need(model::kHostnameLabel, Operator::In, {"n"})}, {}}}, false);
  EXPECT_THAT(reason(pod("p").claim_volume("d")), HasSubstr("no new node can have the name"));
}

TEST_F(VolumesTest, EphemeralOnesAreNamedAfterThePod) {
  claim("p-data", "late");
  const auto who = [](std::string name) {
    return pod(std::move(name)).with([](model::Pod& p) {
      p.spec.volumes.push_back({.name = "data", .ephemeral = true});
    });
  };
  EXPECT_EQ(reason(who("p")), "placed");
  EXPECT_EQ(reason(who("q")), "PersistentVolumeClaim default/q-data does not exist");
}

TEST_F(VolumesTest, InABadStateAreRefusedByName) {
  claim("lost", "late", [](auto& c) { c.phase = "Lost"; });
  claim("dying", "late", [](auto& c) { c.meta.deletion_timestamp = base::TimePoint{}; });
  claim("binding", "late", [](auto& c) { c.volume_name = "v"; });
  claim("orphan", "late", [](auto& c) {
    c.volume_name = "v";
    c.meta.annotations["pv.kubernetes.io/bind-completed"] = "yes";
  });
  claim("classless", "");
  claim("no-such-class", "nowhere");
  claim("immediate", "now");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"missing", "does not exist"},
      {"lost", "has lost its volume"},
      {"dying", "is being deleted"},
      {"binding", "is not fully bound"},
      {"orphan", "v, which does not exist"},
      {"classless", "has no storage class"},
      {"no-such-class", "StorageClass nowhere"},
      {"immediate", "bind it at once"},
  };
  for (const auto& [name, text] : cases) {
    EXPECT_THAT(reason(pod("p").claim_volume(name)), HasSubstr(text)) << name;
    EXPECT_THAT(reason(pod("p").claim_volume(name)), HasSubstr(name)) << name;
  }
}

// --- Volumes that one pod may use ---------------------------------------------------------------

class OnePodVolumesTest : public VolumesTest {
 protected:
  OnePodVolumesTest() {
    claim("one", "late", [](auto& c) { c.access_modes = {"ReadWriteOncePod"}; });
    claim("many", "late", [](auto& c) { c.access_modes = {"ReadWriteOnce"}; });
  }
  // A pod that has the claim on a node.
  static PodBuilder user(const std::string& volume) {
    return pod("user").claim_volume(volume).with([](auto& p) { p.spec.node_name = "n"; });
  }
  void runs(const NodeBuilder& where) { world_->nodes = {where}; }
};

TEST_F(OnePodVolumesTest, KeepOthersFromEveryNode) {
  runs(node("n").runs(user("one")));
  const Plan refused = plan({pod("p").claim_volume("one")});
  ASSERT_THAT(refused.refusals, SizeIs(1));
  EXPECT_EQ(refused.refusals[0].reason,
            "PersistentVolumeClaim default/one is ReadWriteOncePod and in use by pod default/user");
  EXPECT_EQ(refused.refusals[0].remedy, "wait until pod default/user is gone, or delete it");
  EXPECT_THAT(refused.claims, IsEmpty());
}

TEST_F(OnePodVolumesTest, AreFreeWhileNobodyElseUsesThem) {
  runs(node("n").runs(user("many")));
  EXPECT_EQ(reason(pod("p").claim_volume("one")), "placed");
  EXPECT_EQ(reason(pod("p").claim_volume("many")), "placed") << "the mode of the claim counts";
  runs(node("n").runs(user("one").with([](auto& p) { p.meta.namespace_ = "elsewhere"; })));
  EXPECT_EQ(reason(pod("p").claim_volume("one")), "placed") << "a claim of another namespace";
}

TEST_F(OnePodVolumesTest, WhoMovesIsItsOwnUser) {
  runs(node("n").runs(user("one")));
  EXPECT_EQ(reason(user("one")), "placed");
  EXPECT_EQ(reason(pod("user").claim_volume("one")), "placed") << "asked about as if it waited";
}

TEST_F(OnePodVolumesTest, UsersThatGoKeepNobodyAway) {
  const auto going = [](auto& p) { p.meta.deletion_timestamp = base::TimePoint{}; };
  runs(node("n").runs(user("one").with(going)));
  EXPECT_EQ(reason(pod("p").claim_volume("one")), "placed");
  runs(node("n").runs(user("one")).with_record([](auto& r) { r.marked_for_deletion = true; }));
  EXPECT_EQ(reason(pod("p").claim_volume("one")), "placed");
}

TEST_F(VolumesTest, OneBadPodDoesNotStopTheOthers) {
  const Plan result = plan({pod("bad").claim_volume("missing"), pod("good")});
  EXPECT_THAT(result.refusals, SizeIs(1));
  EXPECT_EQ(place_of(result, "good"), "claim 0");
}

// --- How many a node can attach (SCH-29, 33) ----------------------------------------------------

class VolumeLimitsTest : public VolumesTest {
 protected:
  VolumeLimitsTest() {
    auto csi_node = std::make_shared<model::CSINode>();
    csi_node->meta.name = "n";
    csi_node->drivers = {{.name = "ebs.csi.aws.com", .allocatable_count = 2}};
    world_->csi_nodes.push_back(csi_node);
    for (const char* name : {"a", "b", "c", "d"}) {
      claim(name, "late");
    }
  }
  std::size_t bought(const NodeBuilder& where, std::vector<PodBuilder> who) {
    ProblemBuilder problem;
    problem.add(pool("default"), three_sizes()).add(where);
    for (const auto& one : who) {
      problem.add(one);
    }
    return problem.with([&](Problem& p) { p.cluster = world_; }).solve().claims.size();
  }
};

TEST_F(VolumeLimitsTest, SendFurtherPodsElsewhere) {
  EXPECT_EQ(bought(node("n"), {pod("p").claim_volume("a"), pod("q").claim_volume("b")}), 0u);
  EXPECT_EQ(bought(node("n"), {pod("p").claim_volume("a"), pod("q").claim_volume("b"),
                               pod("r").claim_volume("c")}),
            1u);
  EXPECT_EQ(bought(node("n"), {pod("p").claim_volume("a").claim_volume("b").claim_volume("c")}),
            1u);
}

TEST_F(VolumeLimitsTest, CountVolumesOfBoundPods) {
  EXPECT_EQ(bought(node("n").runs(pod("b").claim_volume("a").claim_volume("b")),
                   {pod("p").claim_volume("c")}),
            1u);
}

TEST_F(VolumeLimitsTest, CountASharedVolumeOnce) {
  EXPECT_EQ(bought(node("n").runs(pod("b").claim_volume("a").claim_volume("b")),
                   {pod("p").claim_volume("a")}),
            0u);
}

TEST_F(VolumeLimitsTest, DoNotCountOtherDrivers) {
  auto other = std::make_shared<model::StorageClass>();
  other->meta.name = "other";
  other->provisioner = "nfs.example.com";
  other->volume_binding_mode = "WaitForFirstConsumer";
  world_->storage_classes.push_back(other);
  claim("e", "other");
  EXPECT_EQ(bought(node("n").runs(pod("b").claim_volume("a").claim_volume("b")),
                   {pod("p").claim_volume("e")}),
            0u);
}

TEST_F(VolumeLimitsTest, UnifyInTreeNames) {
  auto in_tree = std::make_shared<model::StorageClass>();
  in_tree->meta.name = "in-tree";
  in_tree->provisioner = "kubernetes.io/aws-ebs";
  in_tree->volume_binding_mode = "WaitForFirstConsumer";
  world_->storage_classes.push_back(in_tree);
  claim("f", "in-tree");
  EXPECT_EQ(bought(node("n").runs(pod("b").claim_volume("a").claim_volume("b")),
                   {pod("p").claim_volume("f")}),
            1u);
}

// --- How many a machine to buy can attach --------------------------------------------------------

constexpr const char* kDriver = "ebs.csi.aws.com";

class NewMachineVolumesTest : public VolumesTest {
 protected:
  NewMachineVolumesTest() {
    for (int i = 0; i < 60; ++i) {
      claim("v" + std::to_string(i), "late");
    }
  }
  // Pods p0, p1, ... with a volume each.
  static std::vector<PodBuilder> with_volumes(int count) {
    std::vector<PodBuilder> result;
    for (int i = 0; i < count; ++i) {
      result.push_back(
          pod("p" + std::to_string(i)).cpu("10m").claim_volume("v" + std::to_string(i)));
    }
    return result;
  }
  void learned(const std::string& type, std::int32_t limit) {
    world_->volume_limits =
        std::make_shared<const VolumeLimits>(VolumeLimits{{type, {{kDriver, limit}}}});
  }
  Problem problem(InstanceTypes types, const std::vector<PodBuilder>& who) {
    ProblemBuilder builder;
    builder.add(pool("default"), std::move(types));
    for (const auto& one : who) {
      builder.add(one);
    }
    Problem made;
    builder.with([&](Problem& p) {
      p.cluster = world_;
      made = p;
    });
    return made;
  }
  static TypeBuilder roomy(const std::string& name) {
    return type(name).cpu("16").memory("32Gi").max_pods("110");
  }
  static InstanceTypes one_type(std::int32_t limit) {
    return types({roomy("t").attaches(kDriver, limit)});
  }
  std::vector<std::size_t> sizes(InstanceTypes types, const std::vector<PodBuilder>& who) {
    std::vector<std::size_t> result;
    for (const auto& claim : solve(problem(std::move(types), who)).claims) {
      result.push_back(claim.pod_uids.size());
    }
    std::sort(result.begin(), result.end());
    return result;
  }
};

TEST_F(NewMachineVolumesTest, LimitPodsByWhatIsKnown) {
  struct Case {
    const char* what;
    InstanceTypes types;
    std::int32_t learned;  // of type t; negative: nothing
    int pods;
    std::size_t claims;
  };
  const auto unlimited = types({roomy("t")});
  const auto of_another = types({roomy("t").attaches("disk.example.com", 2)});
  const std::vector<Case> cases{
      {"nothing is known", unlimited, -1, 40, 1},
      {"another driver's limit", of_another, -1, 40, 1},
      {"the cloud's figure", one_type(25), -1, 40, 2},
      {"just as many as fit", one_type(40), -1, 40, 1},
      {"what CSINodes said", unlimited, 25, 40, 2},
      {"CSINodes said less than the cloud", one_type(39), 20, 40, 2},
      {"CSINodes said more than the cloud", one_type(10), 40, 40, 1},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    world_->volume_limits = nullptr;
    if (each.learned >= 0) {
      learned("t", each.learned);
    }
    const auto claims = sizes(each.types, with_volumes(each.pods));
    EXPECT_THAT(claims, SizeIs(each.claims));
    EXPECT_EQ(std::accumulate(claims.begin(), claims.end(), std::size_t{0}), 40U);
  }
}

TEST_F(NewMachineVolumesTest, NoMachineGetsMoreThanItsLimit) {
  EXPECT_LE(sizes(one_type(25), with_volumes(60)).back(), 25U);
}

TEST_F(NewMachineVolumesTest, TypesThatAttachTooFewAreNoOptions) {
  const auto sold = types({roomy("few").attaches(kDriver, 2), roomy("many").attaches(kDriver, 9),
                           roomy("unknown").cpu("15")});
  const Plan plan = solve(problem(sold, with_volumes(3)));
  ASSERT_THAT(plan.claims, SizeIs(1));
  EXPECT_THAT(plan.claims[0].instance_types, ::testing::UnorderedElementsAre("many", "unknown"));
}

TEST_F(NewMachineVolumesTest, ASharedVolumeCountsOnce) {
  std::vector<PodBuilder> who;
  for (int i = 0; i < 12; ++i) {
    who.push_back(
        pod("p" + std::to_string(i)).cpu("10m").claim_volume("v" + std::to_string(i % 3)));
  }
  EXPECT_THAT(sizes(one_type(3), who), ElementsAre(12));
  EXPECT_THAT(sizes(one_type(2), who), SizeIs(2));
  EXPECT_THAT(sizes(one_type(1), who), ElementsAre(4, 4, 4));
}

TEST_F(NewMachineVolumesTest, APodOfTooManyIsRefusedWithTheReason) {
  const auto who = pod("p").claim_volume("v0").claim_volume("v1").claim_volume("v2");
  const Plan plan = solve(problem(one_type(2), {who}));
  ASSERT_THAT(plan.refusals, SizeIs(1));
  EXPECT_THAT(plan.refusals[0].reason, HasSubstr("3 volumes of ebs.csi.aws.com"));
  EXPECT_EQ(plan.refusals[0].remedy, "fits if volumes of ebs.csi.aws.com <= 2");
  EXPECT_THAT(solve(problem(one_type(3), {who})).refusals, IsEmpty());
}

TEST_F(NewMachineVolumesTest, ANodeThatStartsIsTakenToBeAsOthersOfItsType) {
  const auto room_for = [&](const NodeBuilder& where, std::int32_t kept) {
    ProblemBuilder builder;
    builder.add(pool("default"), one_type(2)).add(where);
    for (const auto& one : with_volumes(3)) {
      builder.add(one);
    }
    builder.with([&](Problem& p) {
      p.cluster = world_;
      p.kept.push_back({.target = "n", .volumes = {{kDriver, kept}}});
    });
    const Plan plan = builder.solve();
    std::size_t bought = 0;
    for (const auto& claim : plan.claims) {
      bought += claim.pod_uids.size();
    }
    return 3 - bought;
  };
  const auto starting = [] {
    return node("n").label(model::kInstanceTypeLabel, "t").uninitialized();
  };
  EXPECT_EQ(room_for(starting(), 0), 2U);
  EXPECT_EQ(room_for(starting(), 1), 1U) << "the rest is kept for others";
  EXPECT_EQ(room_for(starting().runs(pod("b").claim_volume("v9")), 0), 1U);
  EXPECT_EQ(room_for(node("n").label(model::kInstanceTypeLabel, "t"), 0), 3U)
      << "an initialised node without a CSINode has no limit for kube-scheduler either";
}

TEST_F(NewMachineVolumesTest, WhatIsLearnedBetweenPlansCounts) {
  PlanMemory memory;
  const auto sold = types({roomy("t")});
  Problem first = problem(sold, with_volumes(40));
  EXPECT_THAT(solve(first, memory).claims, SizeIs(1));
  world_ = std::make_shared<Snapshot>(*world_);
  learned("t", 39);
  EXPECT_THAT(solve(problem(sold, with_volumes(40)), memory).claims, SizeIs(2));
  world_ = std::make_shared<Snapshot>(*world_);
  learned("t", 15);
  EXPECT_THAT(solve(problem(sold, with_volumes(40)), memory).claims, SizeIs(3));
}

TEST_F(VolumesTest, AnExistingNodeOfAnyAlternativeComesBeforeANewOne) {
  bound("a", {zones({"test-zone-1"}), zones({"test-zone-2"})});
  const Plan result = ProblemBuilder()
                          .add(pool("default"), three_sizes())
                          .add(node("n").label(model::kZoneLabel, "test-zone-2"))
                          .add(pod("p").claim_volume("a"))
                          .with([&](Problem& p) { p.cluster = world_; })
                          .solve();
  EXPECT_EQ(place_of(result, "p"), "n");
}

TEST_F(VolumesTest, TheCheapestAlternativeIsBought) {
  bound("a", {zones({"test-zone-1"}), zones({"test-zone-2"})});
  const auto sold = types({type("t")
                               .sold(std::vector<std::pair<std::string, std::string>>{})
                               .sold(offering("test-zone-1", "on-demand", 2))
                               .sold(offering("test-zone-2", "on-demand", 1))});
  const Plan result = ProblemBuilder()
                          .add(pool("default"), sold)
                          .add(pod("p").claim_volume("a"))
                          .with([&](Problem& p) { p.cluster = world_; })
                          .solve();
  ASSERT_THAT(result.claims, SizeIs(1));
  EXPECT_THAT(values_of(result.claims[0], model::kZoneLabel), ElementsAre("test-zone-2"));
}

TEST_F(VolumesTest, BoundZonesCountForSpreadWithMinDomains) {
  for (const char* zone : {"test-zone-1", "test-zone-2", "test-zone-3"}) {
    bound(std::string("in-") + zone, {zones({zone})});
  }
  const auto spread = [](const char* zone) {
    return pod(zone)
        .label("app", "db")
        .claim_volume(std::string("in-") + zone)
        .with([](model::Pod& p) {
          p.spec.topology_spread.push_back(
              {.topology_key = std::string(model::kZoneLabel),
               .when_unsatisfiable = "DoNotSchedule",
               .label_selector = model::LabelSelector{.match_labels = {{"app", "db"}}},
               .min_domains = 3});
        });
  };
  const Plan result = plan({spread("test-zone-1"), spread("test-zone-2"), spread("test-zone-3")});
  EXPECT_THAT(result.refusals, IsEmpty());
  for (const char* zone : {"test-zone-1", "test-zone-2", "test-zone-3"}) {
    EXPECT_THAT(values_of(*claim_of(result, zone), model::kZoneLabel), ElementsAre(zone));
  }
}

TEST(Volumes, WithoutSurroundingsAreRefused) {
  const Plan plan =
      ProblemBuilder().add(pool("default"), three_sizes()).add(pod("p").claim_volume("c")).solve();
  EXPECT_THAT(plan.claims, IsEmpty());
}

}  // namespace
}  // namespace millwright::scheduling::testing
