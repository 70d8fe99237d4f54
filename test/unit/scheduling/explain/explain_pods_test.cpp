// Refusals that have nothing to do with a NodePool: what cannot be planned at all, volumes, and
// other pods.
#include "refusal_cases.hpp"

namespace millwright::scheduling::testing {
namespace {

TEST(ExplainPods, WhatIsNotPlanned) {
  const auto term = [](model::NodeSelectorTerm required) {
    return pod(kRefused).with(
        [required](model::Pod& p) { p.spec.affinity.required_node_terms = {required}; });
  };
  expect_refusals_and_remedies({
      {"nodes of no NodePool",
       simple(pod(kRefused).requires_term({need(model::kNodePoolLabel, Operator::DoesNotExist)})),
       "it asks for nodes of no NodePool", "remove karpenter.sh/nodepool from its node affinity",
       drops_selector(model::kNodePoolLabel)},
      {"devices", simple(pod(kRefused).with([](model::Pod& p) {
         p.spec.resource_claims = {{.name = "gpu"}};
       })),
       "it needs resource claims (DRA), which are not planned for",
       "request the device as an extended resource",
       spec_becomes([](model::PodSpec& spec) { spec.resource_claims.clear(); })},
      {"a key that is none", simple(pod(kRefused).selects("a b", "c")),
       "its node selector has an invalid label key \"a b\"",
       "remove a b from the pod's node selector", drops_selector("a b")},
      {"a label of ours", simple(pod(kRefused).selects(model::kInitializedLabel, "true")),
       "uses label karpenter.sh/initialized, which is reserved for the autoscaler",
       "remove karpenter.sh/initialized from the pod's node selector",
       drops_selector(model::kInitializedLabel)},
      {"a node by its field", simple(term({{}, {need("metadata.name", Operator::In, {"node-7"})}})),
       "its node affinity uses matchFields", "use matchExpressions",
       spec_becomes([](model::PodSpec& spec) {
         spec.affinity.required_node_terms = {{{need("kubernetes.io/os", Operator::Exists)}, {}}};
       })},
      {"requirements that exclude each other",
       simple(pod(kRefused)
                  .selects(kZoneKey, "test-zone-1")
                  .requires_term({need(kZoneKey, Operator::In, {"test-zone-2"})})),
       "its own requirements exclude each other: topology.kubernetes.io/zone In [test-zone-1] and "
       "topology.kubernetes.io/zone In [test-zone-2]",
       "remove one of the two",
       spec_becomes([](model::PodSpec& spec) { spec.node_selector.clear(); })},
      {"a requirement that nothing meets",
       simple(pod(kRefused).requires_term({need("tier", Operator::Gt, {"high"})})),
       "no value of label tier can meet its node selector", "remove tier from its node selector",
       drops_selector("tier")},
  });
}

// --- Volumes -----------------------------------------------------------------------------------

std::shared_ptr<model::PersistentVolumeClaim> volume_claim(const std::string& storage_class) {
  auto claim = std::make_shared<model::PersistentVolumeClaim>();
  claim->meta.name = "data";
  claim->meta.namespace_ = "default";
  claim->storage_class = storage_class;
  return claim;
}

std::shared_ptr<model::PersistentVolume> volume_in(const std::string& zone) {
  auto volume = std::make_shared<model::PersistentVolume>();
  volume->meta.name = "pv-" + zone;
  volume->required_node_terms = {{{need(kZoneKey, Operator::In, {zone})}, {}}};
  return volume;
}

void bind(model::PersistentVolumeClaim& claim, const std::string& volume) {
  claim.volume_name = volume;
  claim.meta.annotations["pv.kubernetes.io/bind-completed"] = "yes";
}

// StorageClasses "late" and "now", volumes in each of two zones, and the claim.
ProblemEdit has_claim(std::shared_ptr<const model::PersistentVolumeClaim> claim) {
  return world_becomes([=](Snapshot& world) {
    world.volume_claims = {claim};
    for (const char* name : {"late", "now"}) {
      auto storage_class = std::make_shared<model::StorageClass>();
      storage_class->meta.name = name;
      storage_class->volume_binding_mode =
          std::string_view(name) == "late" ? "WaitForFirstConsumer" : "Immediate";
      world.storage_classes.push_back(storage_class);
    }
    world.volumes = {volume_in("test-zone-1"), volume_in("test-zone-9")};
  });
}

template <class Edit>
ProblemEdit claim_becomes(Edit edit) {
  return world_becomes([edit](Snapshot& world) {
    auto copy = std::make_shared<model::PersistentVolumeClaim>(*world.volume_claims.at(0));
    edit(*copy);
    world.volume_claims[0] = copy;
  });
}

TEST(ExplainPods, Volumes) {
  const auto p = pod(kRefused).claim_volume("data");
  const auto with = [&](auto edit, const std::string& storage_class = "late") {
    auto claim = volume_claim(storage_class);
    edit(*claim);
    return simple(p).with(has_claim(claim));
  };
  const auto as_it_is = [](auto&) {};
  const std::string claim = "PersistentVolumeClaim default/data";
  const auto bound = [](const std::string& volume) {
    return [volume](model::PersistentVolumeClaim& c) { bind(c, volume); };
  };
  const auto deleting = [](auto& object) { object.meta.deletion_timestamp = base::TimePoint{}; };
  expect_refusals_and_remedies({
      {"no claim", simple(p).with(world_becomes([](Snapshot&) {})), claim + " does not exist",
       "create " + claim, has_claim(volume_claim("late"))},
      {"nothing is known", simple(p), "its volumes cannot be looked up",
       "wait until the volumes of the cluster are known", has_claim(volume_claim("late"))},
      {"a claim that goes", with(deleting), claim + " is being deleted",
       "create " + claim + " anew once it is gone", has_claim(volume_claim("late"))},
      {"a claim that lost its volume", with([](auto& c) {
         c.phase = "Lost";
         c.volume_name = "pv-old";
       }),
       claim + " has lost its volume pv-old", "create " + claim + " anew with another volume",
       has_claim(volume_claim("late"))},
      {"a claim half bound", with([](auto& c) { c.volume_name = "pv-test-zone-1"; }),
       claim + " is not fully bound yet", "wait until it is bound",
       claim_becomes(bound("pv-test-zone-1"))},
      {"a claim that one pod may use, and another does", with([](auto& c) {
                                                           c.access_modes = {"ReadWriteOncePod"};
                                                         }).with(world_becomes([](Snapshot& world) {
         world.nodes = {node("n").runs(pod("other").claim_volume("data"))};
       })),
       claim + " is ReadWriteOncePod and in use by pod default/other",
       "wait until pod default/other is gone, or delete it",
       world_becomes([](Snapshot& world) { world.nodes = {node("n")}; })},
      {"a claim of no class", with(as_it_is, ""), claim + " is unbound and has no storage class",
       "set storageClassName of " + claim + ", or bind it to a volume",
       claim_becomes([](auto& c) { c.storage_class = "late"; })},
      {"a class that does not exist", with(as_it_is, "fast"),
       claim + " names StorageClass fast, which does not exist", "create StorageClass fast",
       world_becomes([](Snapshot& world) {
         auto made = std::make_shared<model::StorageClass>();
         made->meta.name = "fast";
         made->volume_binding_mode = "WaitForFirstConsumer";
         world.storage_classes.push_back(made);
       })},
      {"a class that binds at once", with(as_it_is, "now"),
       claim + " waits for StorageClass now to bind it at once",
       "use volumeBindingMode WaitForFirstConsumer in StorageClass now, so that the volume follows "
       "the pod",
       world_becomes([](Snapshot& world) {
         auto late = std::make_shared<model::StorageClass>(*world.storage_classes.at(1));
         late->volume_binding_mode = "WaitForFirstConsumer";
         world.storage_classes[1] = late;
       })},
      {"a volume that does not exist", with(bound("pv-test-zone-2")),
       claim + " is bound to volume pv-test-zone-2, which does not exist",
       "create PersistentVolume pv-test-zone-2",
       world_becomes([](Snapshot& world) { world.volumes.push_back(volume_in("test-zone-2")); })},
      {"a volume that goes", with(bound("pv-test-zone-1")).with(world_becomes([&](Snapshot& world) {
         auto going = volume_in("test-zone-1");
         deleting(*going);
         world.volumes[0] = going;
       })),
       "PersistentVolume pv-test-zone-1 is being deleted", "bind " + claim + " to another volume",
       has_claim(volume_claim("late"))},
      {"a volume where nothing is sold", with(bound("pv-test-zone-9")),
       "no instance type meets topology.kubernetes.io/zone In [test-zone-9]",
       "use volumes elsewhere than in topology.kubernetes.io/zone In [test-zone-9]",
       claim_becomes(bound("pv-test-zone-1"))},
      {"a volume elsewhere than the pod wants to be",
       with(bound("pv-test-zone-1")).with(spec_becomes([](model::PodSpec& spec) {
         spec.node_selector[kZoneKey] = "test-zone-2";
       })),
       "its node selector wants topology.kubernetes.io/zone In [test-zone-2], its volumes want "
       "topology.kubernetes.io/zone In [test-zone-1]",
       "remove topology.kubernetes.io/zone from its node selector", drops_selector(kZoneKey)},
  });
}

TEST(ExplainPods, VolumesInDifferentPlaces) {
  auto one = volume_claim("late");
  auto two = volume_claim("late");
  two->meta.name = "logs";
  bind(*one, "pv-test-zone-1");
  bind(*two, "pv-test-zone-9");
  expect_refusals_and_remedies(
      {{"two zones",
        simple(pod(kRefused).claim_volume("data").claim_volume("logs"))
            .with(has_claim(one))
            .with(world_becomes([&](Snapshot& world) { world.volume_claims.push_back(two); })),
        "its volumes are in different places: topology.kubernetes.io/zone In [test-zone-1] and "
        "topology.kubernetes.io/zone In [test-zone-9]",
        "use volumes that one node can reach", world_becomes([](Snapshot& world) {
          auto moved = std::make_shared<model::PersistentVolumeClaim>(*world.volume_claims.at(1));
          moved->volume_name = "pv-test-zone-1";
          world.volume_claims[1] = moved;
        })}});
}

// --- Other pods --------------------------------------------------------------------------------

PodBuilder running(std::string name, std::string node) {
  return web(std::move(name)).with([node](model::Pod& p) { p.spec.node_name = node; });
}

// A full node in the zone, with one such pod.
NodeBuilder full_node(const std::string& zone) {
  return node("n-" + zone)
      .label(model::kZoneLabel, zone)
      .allocatable("pods", "1")
      .runs(running("on-" + zone, "n-" + zone));
}

PodBuilder refused_web() {
  return web(kRefused);
}

TEST(ExplainPods, TopologySpread) {
  const auto spread = refused_web().with(spreads(spread_over(kZoneKey, 1)));
  const auto only_first = pool(kPool).requires_(need(kZoneKey, Operator::In, {"test-zone-1"}));
  const auto loosens =
      spec_becomes([](model::PodSpec& spec) { spec.topology_spread[0].max_skew = 2; });
  expect_refusals_and_remedies({
      {"the other zone is closed to it",
       simple(spread, only_first)
           .add(full_node("test-zone-1"))
           .add(node("n").label(kZoneKey, "test-zone-2").allocatable("pods", "0")),
       "it must be spread over topology.kubernetes.io/zone with maxSkew 1: the least of all "
       "domains "
       "is 0, and it can only go to test-zone-1 with 1",
       "raise maxSkew to 2, or use whenUnsatisfiable: ScheduleAnyway", loosens},
      {"the same, made a wish",
       simple(spread, only_first)
           .add(full_node("test-zone-1"))
           .add(node("n").label(kZoneKey, "test-zone-2").allocatable("pods", "0")),
       "it must be spread over", "raise maxSkew to 2, or use whenUnsatisfiable: ScheduleAnyway",
       spec_becomes([](model::PodSpec& spec) {
         spec.topology_spread[0].when_unsatisfiable = "ScheduleAnyway";
       })},
      {"a key that no node has", simple(refused_web().with(spreads(spread_over("team/rack", 1)))),
       "no instance type that would do has a known team/rack",
       "let a NodePool define team/rack, or drop the constraint",
       labels_template("team/rack", "r1")},
  });
}

TEST(ExplainPods, PodAffinity) {
  const auto beside_db = pod(kRefused).cpu("100m").with(beside(term(kZoneKey, {{"app", "db"}})));
  const auto with_db = refused_web().with(beside(term(model::kHostnameLabel, {{"app", "db"}})));
  const auto db = pod("db").label("app", "db").cpu("100m");
  const auto starts_db = [db](Problem& problem) { problem.pods.push_back(db); };
  const auto only_first = pool(kPool).requires_(need(kZoneKey, Operator::In, {"test-zone-1"}));
  const auto db_node = [&](const std::string& zone, const std::string& places) {
    return node("n")
        .label(kZoneKey, zone)
        .allocatable("pods", places)
        .runs(pod("db").label("app", "db").with([](model::Pod& p) { p.spec.node_name = "n"; }));
  };
  expect_refusals_and_remedies({
      {"nobody to be with", simple(beside_db),
       "it must share topology.kubernetes.io/zone with pods that match app=db, and there are none",
       "start such a pod, correct the selector, or use "
       "preferredDuringSchedulingIgnoredDuringExecution",
       starts_db},
      {"where it cannot go", simple(beside_db, only_first).add(db_node("test-zone-2", "1")),
       "it must share topology.kubernetes.io/zone with pods that match app=db, which are only in "
       "test-zone-2, where it cannot go",
       "let it go to test-zone-2",
       requires_instead(need(kZoneKey, Operator::In, {"test-zone-1", "test-zone-2"}))},
      {"nobody to share a node with", simple(with_db),
       "it must share a node with pods that match app=db, and there are none",
       "start such a pod or correct the selector", starts_db},
      {"no room beside", simple(with_db).add(db_node("test-zone-1", "1")),
       "it must share a node with pods that match app=db, and no node that has one has room for it",
       "use preferredDuringSchedulingIgnoredDuringExecution, or make room on such a node",
       [&](Problem& problem) { problem.nodes = {db_node("test-zone-1", "2")}; }},
  });
}

TEST(ExplainPods, PodAntiAffinity) {
  const auto lonely = refused_web().with(apart(term(kZoneKey)));
  const auto two_zones =
      pool(kPool).requires_(need(kZoneKey, Operator::In, {"test-zone-1", "test-zone-2"}));
  const auto third = requires_instead(need(kZoneKey, Operator::In, {"test-zone-1", "test-zone-3"}));
  const auto hermit = [](const std::string& zone) {
    return node("n-" + zone)
        .label(model::kZoneLabel, zone)
        .allocatable("pods", "1")
        .runs(running("on-" + zone, "n-" + zone).with(apart(term(model::kZoneLabel))));
  };
  expect_refusals_and_remedies({
      {"every zone has one",
       simple(lonely, two_zones).add(full_node("test-zone-1")).add(full_node("test-zone-2")),
       "it must be kept apart by topology.kubernetes.io/zone from pods that match app=web, and "
       "every "
       "domain it can go to (test-zone-1, test-zone-2) has one",
       "allow more values of topology.kubernetes.io/zone, or use "
       "preferredDuringSchedulingIgnoredDuringExecution",
       third},
      {"others keep it out",
       simple(refused_web(), two_zones).add(hermit("test-zone-1")).add(hermit("test-zone-2")),
       "pods whose anti-affinity keeps out pods that match app=web are in every domain of "
       "topology.kubernetes.io/zone that it can go to (test-zone-1, test-zone-2)",
       "allow more values of topology.kubernetes.io/zone, or change their anti-affinity", third},
      {"on a key that the pool does not define, which is no obstacle",
       simple(refused_web().cpu("20").with(apart(term("team/rack"))))
           .add(full_node("test-zone-1").label("team/rack", "r1")),
       "no instance type has enough", "fits if cpu <= 15900m",
       spec_becomes([](model::PodSpec& spec) {
         spec.containers[0].requests[std::string(model::kCpu)] = *model::Quantity::parse("15900m");
       })},
      {"two constraints of which each leaves a zone",
       simple(
           refused_web().with(apart(term(kZoneKey))).with(beside(term(kZoneKey, {{"app", "db"}}))),
           two_zones)
           .add(full_node("test-zone-1"))
           .add(node("d")
                    .label(kZoneKey, "test-zone-1")
                    .allocatable("pods", "1")
                    .runs(pod("db").label("app", "db").with([](model::Pod& p) {
                      p.spec.node_name = "d";
                    }))),
       "its constraints on topology.kubernetes.io/zone leave no domain when taken together",
       "drop one of them",
       spec_becomes([](model::PodSpec& spec) { spec.affinity.required_pod_affinity.clear(); })},
      {"two keys of which each leaves what is not sold with the other",
       simple(refused_web()
                  .with(beside(term(kZoneKey, {{"app", "db"}})))
                  .with(apart(term(model::kCapacityTypeLabel, {{"app", "cache"}}))))
           .add(node("d")
                    .label(kZoneKey, "test-zone-3")
                    .allocatable("pods", "1")
                    .runs(pod("db").label("app", "db").with([](model::Pod& p) {
                      p.spec.node_name = "d";
                    })))
           .add(node("c")
                    .allocatable("pods", "1")
                    .runs(pod("cache").label("app", "cache").with([](model::Pod& p) {
                      p.spec.node_name = "c";
                    }))),
       "its constraints and those of other pods leave only karpenter.sh/capacity-type In [spot], "
       "topology.kubernetes.io/zone In [test-zone-3], which is not on sale together",
       "drop one of its own, or change theirs", spec_becomes([](model::PodSpec& spec) {
         spec.affinity.required_pod_anti_affinity.clear();
       })},
      {"a limit that only matters where it may go",
       simple(refused_web().with(beside(term(kZoneKey, {{"app", "db"}}))),
              pool(kPool).limit("cpu", "8"),
              types({type("small").cpu("2").sold({{"test-zone-1", "on-demand"}}),
                     type("large").cpu("16").sold({{"test-zone-3", "on-demand"}})}))
           .add(node("d")
                    .label(kZoneKey, "test-zone-3")
                    .allocatable("pods", "1")
                    .runs(pod("db").label("app", "db").with([](model::Pod& p) {
                      p.spec.node_name = "d";
                    }))),
       "it would exceed limits.cpu (8)", "raise limits.cpu of NodePool main to 16",
       raises_limit("cpu", "16")},
      {"terms that no pod meets all of",
       simple(refused_web()
                  .with(beside(term(kZoneKey, {{"app", "db"}})))
                  .with(beside(term(kZoneKey, {{"app", "cache"}}))))
           .add(node("d")
                    .label(kZoneKey, "test-zone-1")
                    .allocatable("pods", "1")
                    .runs(pod("db").label("app", "db").with([](model::Pod& p) {
                      p.spec.node_name = "d";
                    }))),
       "it must share topology.kubernetes.io/zone with pods that match app=db and app=cache, and "
       "there are none",
       "start such a pod, correct the selector, or use "
       "preferredDuringSchedulingIgnoredDuringExecution",
       spec_becomes([](model::PodSpec& spec) { spec.affinity.required_pod_affinity.pop_back(); })},
  });
}

}  // namespace
}  // namespace millwright::scheduling::testing
