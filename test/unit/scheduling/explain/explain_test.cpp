// A refusal names everything that is in the way in a NodePool, and the least change that would do.
// One case for each thing that can be in the way.
#include "refusal_cases.hpp"

namespace millwright::scheduling::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

PoolBuilder two_zones() {
  return pool(kPool).requires_(need(kZoneKey, Operator::In, {"test-zone-1", "test-zone-2"}));
}

TEST(Explain, NodePoolsThatCanBuyNothing) {
  const auto p = pod(kRefused);
  expect_refusals_and_remedies({
      {"there is none", ProblemBuilder().add(p), "it fits on no node, and no NodePool may grow",
       "create a NodePool, or make an existing one Ready",
       [](Problem& problem) {
         problem.pools.push_back({pool("new"), three_sizes()});
       }},
      {"the cloud offers nothing", simple(p, pool(kPool), types({})),
       "NodePool main: the cloud offers no instance types",
       "let the NodeClass of NodePool main offer instance types", offers(three_sizes())},
      {"no type is like that",
       simple(p, pool(kPool).requires_(need(model::kArchLabel, Operator::In, {"arm64"}))),
       "NodePool main: its requirements filter out all instance types",
       "allow other values of kubernetes.io/arch in NodePool main",
       requires_instead(need(model::kArchLabel, Operator::In, {"amd64"}))},
      {"two of its requirements are in the way",
       simple(p, pool(kPool)
                     .requires_(need(model::kArchLabel, Operator::In, {"arm64"}))
                     .requires_(need(model::kOsLabel, Operator::In, {"windows"}))),
       "its requirements filter out all instance types",
       "allow other values of kubernetes.io/arch and kubernetes.io/os in NodePool main",
       both(requires_instead(need(model::kArchLabel, Operator::Exists)),
            requires_instead(need(model::kOsLabel, Operator::Exists)))},
      {"nothing like that is on sale",
       simple(p, pool(kPool)
                     .requires_(need(kZoneKey, Operator::In, {"test-zone-3"}))
                     .requires_(need(model::kCapacityTypeLabel, Operator::In, {"spot"}))),
       "no instance type that meets its requirements has an available offering",
       "allow other values of karpenter.sh/capacity-type in NodePool main",
       requires_instead(need(model::kCapacityTypeLabel, Operator::In, {"spot", "on-demand"}))},
      {"minValues beyond what there is",
       simple(p, pool(kPool).requires_(need(model::kInstanceTypeLabel, Operator::Exists, {}, 4))),
       "node.kubernetes.io/instance-type wants minValues 4 and has 3",
       "lower minValues of node.kubernetes.io/instance-type to 3 in NodePool main",
       requires_instead(need(model::kInstanceTypeLabel, Operator::Exists, {}, 3))},
      {"minValues beyond what limits leave",
       simple(p, pool(kPool)
                     .requires_(need(model::kInstanceTypeLabel, Operator::Exists, {}, 2))
                     .limit("cpu", "3")),
       "of the instance types that would do and that its limits still admit, "
       "node.kubernetes.io/instance-type wants minValues 2 and has 1",
       "raise the limits of NodePool main, or lower minValues of node.kubernetes.io/instance-type "
       "to 1",
       raises_limit("cpu", "4")},
  });
}

TEST(Explain, Taints) {
  const auto tolerate = [](std::string key, std::string effect) {
    return spec_becomes([=](model::PodSpec& spec) {
      spec.tolerations.push_back({.key = key, .op = "Equal", .value = "a", .effect = effect});
    });
  };
  const auto team = pool(kPool).taint("team", "a", "NoSchedule");
  expect_refusals_and_remedies({
      {"one", simple(pod(kRefused), team), "it does not tolerate taint team=a:NoSchedule",
       "tolerate team=a:NoSchedule", tolerate("team", "NoSchedule")},
      {"two", simple(pod(kRefused), PoolBuilder(team).taint("gpu", "a", "NoExecute")),
       "it does not tolerate taint team=a:NoSchedule and it does not tolerate taint "
       "gpu=a:NoExecute",
       "tolerate team=a:NoSchedule, and tolerate gpu=a:NoExecute",
       both(tolerate("team", "NoSchedule"), tolerate("gpu", "NoExecute"))},
      {"a taint, and too much of something", simple(pod(kRefused).cpu("17"), team),
       "taint team=a:NoSchedule and no instance type has enough for",
       "tolerate team=a:NoSchedule, and fits if cpu <= 15900m",
       both(tolerate("team", "NoSchedule"), requests("cpu", "15900m"))},
  });
}

// The same remedy for a program, which tries it out.
TEST(Explain, RemediesThatAProgramCanCarryOut) {
  const auto changes_for = [](const ProblemBuilder& problem) {
    const Plan plan = problem.solve();
    return plan.refusals.empty() ? std::vector<Change>() : plan.refusals.front().changes;
  };
  const auto team = pool(kPool).taint("team", "a", "NoSchedule");
  EXPECT_THAT(
      changes_for(simple(pod(kRefused).cpu("17"), team)),
      ::testing::ElementsAre(
          Change{.kind = Change::Kind::Tolerate,
                 .taint = {.key = "team", .value = "a", .effect = "NoSchedule"}},
          Change{.kind = Change::Kind::LowerRequest, .key = "cpu", .amount = quantity("15900m")}));
  EXPECT_THAT(changes_for(simple(pod(kRefused).cpu("3"), pool(kPool).limit("cpu", "1"))),
              ::testing::ElementsAre(Change{.kind = Change::Kind::RaiseLimit,
                                            .node_pool = kPool,
                                            .key = "cpu",
                                            .amount = quantity("4")}));
  EXPECT_THAT(changes_for(simple(pod(kRefused).selects(kZoneKey, "test-zone-3"), two_zones())),
              ::testing::ElementsAre(Change{.kind = Change::Kind::AllowValue,
                                            .node_pool = kPool,
                                            .key = kZoneKey,
                                            .value = "test-zone-3"}));
  // Half of a remedy is none.
  EXPECT_THAT(changes_for(simple(pod(kRefused).selects("team", "b"), team)), SizeIs(0));
}

TEST(Explain, LabelsThatThePoolDoesNotGive) {
  const auto p = pod(kRefused);
  const auto labelled = pool(kPool).label("team", "a");
  expect_refusals_and_remedies({
      {"a zone the pool excludes",
       simple(pod(kRefused).selects(kZoneKey, "test-zone-3"), two_zones()),
       "wanted topology.kubernetes.io/zone In [test-zone-3], offered",
       "allow topology.kubernetes.io/zone test-zone-3 in NodePool main",
       requires_instead(need(kZoneKey, Operator::In, {"test-zone-1", "test-zone-3"}))},
      {"a zone that nobody has", simple(pod(kRefused).selects(kZoneKey, "elsewhere"), two_zones()),
       "wanted topology.kubernetes.io/zone In [elsewhere]",
       "remove topology.kubernetes.io/zone from its node selector", drops_selector(kZoneKey)},
      {"every zone but the pool's",
       simple(pod(kRefused).requires_term(
                  {need(kZoneKey, Operator::NotIn, {"test-zone-1", "test-zone-2"})}),
              two_zones()),
       "wanted topology.kubernetes.io/zone NotIn",
       "allow other values of topology.kubernetes.io/zone in NodePool main",
       requires_instead(need(kZoneKey, Operator::Exists))},
      {"a label nobody sets", simple(pod(kRefused).selects("team", "a")),
       "label \"team\" has no known values", "add label team=a to the template of NodePool main",
       labels_template("team", "a")},
      {"two labels nobody sets", simple(pod(kRefused).selects("team", "a").selects("tier", "b")),
       "label \"team\" has no known values and label \"tier\" has no known values",
       "add label team=a to the template of NodePool main, and add label tier=b to the template of "
       "NodePool main",
       both(labels_template("team", "a"), labels_template("tier", "b"))},
      {"any value of a label nobody sets",
       simple(pod(kRefused).requires_term({need("team", Operator::Exists)})),
       "label \"team\" has no known values", "add label team to the template of NodePool main",
       labels_template("team", "whoever")},
      {"a number on a label nobody sets",
       simple(pod(kRefused).requires_term({need("tier", Operator::Gt, {"3"})})),
       "label \"tier\" has no known values",
       "add a label that meets tier Exists >=4 to the template of NodePool main",
       labels_template("tier", "4")},
      {"a misspelt label",
       simple(pod(kRefused).selects("topology.kubernetes.io/zon", "test-zone-1")),
       "did you mean \"topology.kubernetes.io/zone\"",
       "add label topology.kubernetes.io/zon=test-zone-1 to the template of NodePool main",
       labels_template("topology.kubernetes.io/zon", "test-zone-1")},
      {"another value of a template label", simple(pod(kRefused).selects("team", "b"), labelled),
       "wanted team In [b], offered team In [a]", "change team to a in its node selector",
       spec_becomes([](model::PodSpec& spec) { spec.node_selector["team"] = "a"; })},
      {"anything but the template label",
       simple(pod(kRefused).requires_term({need("team", Operator::DoesNotExist)}), labelled),
       "wanted team DoesNotExist", "remove team from its node selector", drops_selector("team")},
      {"a hostname", simple(pod(kRefused).selects(model::kHostnameLabel, "node-7")),
       "no new node can have the name it asks for (kubernetes.io/hostname In [node-7])",
       "remove kubernetes.io/hostname from its node selector",
       drops_selector(model::kHostnameLabel)},
  });
}

TEST(Explain, AnotherNodePoolByName) {
  const auto p = pod(kRefused).selects(model::kNodePoolLabel, "batch");
  const auto ready = [](model::ConditionStatus status) {
    return [status](model::NodePool& batch) {
      batch.conditions = {{.type = "Ready", .status = status}};
    };
  };
  const std::string reason = "wanted karpenter.sh/nodepool In [batch], offered";
  const std::string drop = "remove karpenter.sh/nodepool from its node selector";
  expect_refusals_and_remedies({
      {"that does not exist", simple(p), reason, "create NodePool batch, or " + drop,
       [](Problem& problem) {
         problem.pools.push_back({pool("batch"), three_sizes()});
       }},
      {"that does not exist, so any may do", simple(p), reason, "create NodePool batch, or " + drop,
       drops_selector(model::kNodePoolLabel)},
      {"that is not Ready",
       simple(p).add(pool("batch").with(ready(model::ConditionStatus::False)), three_sizes()),
       reason, "make NodePool batch Ready, or " + drop,
       [](Problem& problem) { problem.pools[1].pool = pool("batch"); }},
      {"that has a fixed size",
       simple(p).add(pool("batch").with([](model::NodePool& batch) { batch.replicas = 2; }),
                     three_sizes()),
       reason, drop, drops_selector(model::kNodePoolLabel)},
  });
}

TEST(Explain, CombinationsThatNobodyMakesOrSells) {
  expect_refusals_and_remedies({
      {"an architecture that no type has",
       simple(pod(kRefused).selects(model::kArchLabel, "arm64")),
       "no instance type meets kubernetes.io/arch In [arm64]",
       "remove kubernetes.io/arch from its node selector", drops_selector(model::kArchLabel)},
      {"a zone and a capacity type that are not sold together",
       simple(pod(kRefused)
                  .selects(kZoneKey, "test-zone-3")
                  .selects(model::kCapacityTypeLabel, "spot")),
       "have no available offering for karpenter.sh/capacity-type In [spot], "
       "topology.kubernetes.io/zone In [test-zone-3]",
       "remove karpenter.sh/capacity-type from its node selector, or wait for capacity",
       drops_selector(model::kCapacityTypeLabel)},
      {"large machines on other terms only",
       simple(pod(kRefused)
                  .cpu("3")
                  .selects(kZoneKey, "test-zone-1")
                  .selects(model::kCapacityTypeLabel, "on-demand"),
              pool(kPool),
              types({type("small").cpu("2"),
                     type("large").cpu("16").sold(
                         {{"test-zone-1", "spot"}, {"test-zone-2", "on-demand"}})})),
       "the instance types that would do have no available offering for",
       "remove karpenter.sh/capacity-type from its node selector, or wait for capacity",
       drops_selector(model::kCapacityTypeLabel)},
      {"nothing of any kind",
       simple(pod(kRefused).cpu("3"), pool(kPool),
              types({type("small").cpu("2"), type("large").cpu("16").unavailable()})),
       "no instance type that is on sale has enough for", "fits if cpu <= 1900m",
       requests("cpu", "1900m")},
  });
}

TEST(Explain, TooMuchOfAResource) {
  const auto wide_and_deep = types({type("wide").cpu("16").memory("1Gi").no_overhead(),
                                    type("deep").cpu("1").memory("64Gi").no_overhead()});
  expect_refusals_and_remedies({
      {"CPU", simple(pod(kRefused).cpu("17")), "no instance type has enough for {cpu: 17, pods: 1}",
       "fits if cpu <= 15900m", requests("cpu", "15900m")},
      {"CPU for what it selects",
       simple(pod(kRefused).cpu("3").selects(model::kInstanceTypeLabel, "small")),
       "no instance type that meets node.kubernetes.io/instance-type In [small] has enough",
       "fits if cpu <= 1900m", requests("cpu", "1900m")},
      {"memory", simple(pod(kRefused).memory("40Gi")), "has enough for",
       "fits if memory <= 32758Mi", requests("memory", "32758Mi")},
      {"one of two, of which it keeps more",
       simple(pod(kRefused).cpu("8").memory("2Gi"), pool(kPool), wide_and_deep), "has enough for",
       "fits if memory <= 1Gi", requests("memory", "1Gi")},
      {"both", simple(pod(kRefused).cpu("17").memory("80Gi"), pool(kPool), wide_and_deep),
       "has enough for", "fits if cpu <= 1 and memory <= 64Gi",
       both(requests("cpu", "1"), requests("memory", "64Gi"))},
      {"a device that no type has", simple(pod(kRefused).requests("example.com/fpga", "1")),
       "has enough for", "remove its request for example.com/fpga",
       spec_becomes(
           [](model::PodSpec& spec) { spec.containers[0].requests.erase("example.com/fpga"); })},
      {"a misread unit", simple(pod(kRefused).cpu("100M")), "has enough for",
       "check its cpu request: \"m\" is a thousandth, \"M\" a million", requests("cpu", "100m")},
      {"places for pods",
       simple(pod(kRefused), pool(kPool), types({type("crowded").max_pods("0")})), "has enough for",
       "allow more pods per node in NodePool main", offers(types({type("crowded").max_pods("1")}))},
      {"what DaemonSets leave",
       simple(pod(kRefused)).add(daemon_set("agent", pod("agent").cpu("20"))), "has enough for",
       "lower the requests of the DaemonSets that run in NodePool main",
       [](Problem& problem) {
         problem.daemon_sets = {daemon_set("agent", pod("agent").cpu("1"))};
       }},
      {"a preference, which is not to blame",
       simple(pod(kRefused).cpu("20").prefers(1, {need("absent", Operator::Exists)})),
       "has enough for", "fits if cpu <= 15900m", requests("cpu", "15900m")},
  });
}

TEST(Explain, HostPorts) {
  expect_refusals_and_remedies(
      {{"of a DaemonSet",
        simple(pod(kRefused).host_port(80)).add(daemon_set("proxy", pod("proxy").host_port(80))),
        "a DaemonSet takes host port *:80/TCP everywhere", "use another host port than *:80/TCP",
        spec_becomes([](model::PodSpec& spec) { spec.containers[0].ports[0].host_port = 81; })}});
}

TEST(Explain, MinValuesForWhatThePodNeeds) {
  const auto flexible =
      pool(kPool).requires_(need(model::kInstanceTypeLabel, Operator::Exists, {}, 3));
  expect_refusals_and_remedies({
      {"too few types are large enough", simple(pod(kRefused).cpu("3"), flexible),
       "of the instance types that would do, node.kubernetes.io/instance-type wants minValues 3 "
       "and "
       "has 2",
       "lower minValues of node.kubernetes.io/instance-type to 2 in NodePool main",
       requires_instead(need(model::kInstanceTypeLabel, Operator::Exists, {}, 2))},
      {"the cut to the cheapest leaves too few",
       simple(pod(kRefused), flexible).with([](Problem& p) { p.options.max_instance_types = 2; }),
       "of the 2 cheapest instance types, node.kubernetes.io/instance-type wants minValues 3 and "
       "has 2",
       "lower minValues of node.kubernetes.io/instance-type to 2 in NodePool main",
       requires_instead(need(model::kInstanceTypeLabel, Operator::Exists, {}, 2))},
  });
}

TEST(Explain, MinValuesForTheOneDomainOfAPod) {
  const auto zones = [](std::int32_t least) {
    return need(kZoneKey, Operator::In, {"test-zone-1", "test-zone-2"}, least);
  };
  expect_refusals_and_remedies({
      {"by its own requirement",
       simple(pod(kRefused).selects(kZoneKey, "test-zone-1"), pool(kPool).requires_(zones(2))),
       "of the instance types that would do, topology.kubernetes.io/zone wants minValues 2 and has "
       "1",
       "lower minValues of topology.kubernetes.io/zone to 1 in NodePool main",
       requires_instead(zones(1))},
      {"by a spread constraint",
       simple(web(kRefused).with(spreads(spread_over(kZone, 1))), pool(kPool).requires_(zones(2))),
       "topology.kubernetes.io/zone wants minValues 2, and a spread constraint of the pod ties "
       "its node to one value",
       "lower minValues of topology.kubernetes.io/zone to 1 in NodePool main",
       requires_instead(zones(1))},
  });
}

TEST(Explain, Limits) {
  const auto nodes = pool(kPool).limit("nodes", "1");
  expect_refusals_and_remedies({
      {"one", simple(pod(kRefused), pool(kPool).limit("cpu", "1")),
       "it would exceed limits.cpu (1)", "raise limits.cpu of NodePool main to 2",
       raises_limit("cpu", "2")},
      {"two", simple(pod(kRefused), pool(kPool).limit("cpu", "1").limit("memory", "1Gi")),
       "limits.cpu (1) and limits.memory (1Gi)",
       "raise limits.cpu of NodePool main to 2 and limits.memory of NodePool main to 4Gi",
       both(raises_limit("cpu", "2"), raises_limit("memory", "4Gi"))},
      {"the least raise, not the cheapest type",
       simple(pod(kRefused), pool(kPool).limit("cpu", "1"),
              types({type("small").cpu("2").price(2), type("large").cpu("16").price(1)})),
       "it would exceed limits.cpu (1)", "raise limits.cpu of NodePool main to 2",
       raises_limit("cpu", "2")},
      {"nodes", simple(pod(kRefused).cpu("1"), nodes).add(pod("first").cpu("15")),
       "it would exceed limits.nodes (1)", "raise limits.nodes of NodePool main to 2",
       raises_limit("nodes", "2")},
  });
}

TEST(Explain, Reservations) {
  auto one = offering("test-zone-1", "reserved", 0.1);
  one.requirements.add(in("provider.example.com/reservation-id", {"r-1"}));
  model::register_well_known_label("provider.example.com/reservation-id");
  one.reservation_capacity = 0;
  const auto kept = types({type("kept").cpu("4").sold(one)});
  expect_refusals_and_remedies({
      {"that the pod insists on",
       simple(pod(kRefused).selects(model::kCapacityTypeLabel, "reserved"), pool(kPool), kept),
       "its reservations are all taken", "remove karpenter.sh/capacity-type from its node selector",
       drops_selector(model::kCapacityTypeLabel)},
      {"that the pool insists on",
       simple(pod(kRefused),
              pool(kPool).requires_(need(model::kCapacityTypeLabel, Operator::In, {"reserved"})),
              kept),
       "its reservations are all taken",
       "allow karpenter.sh/capacity-type on-demand or spot in NodePool main",
       requires_instead(need(model::kCapacityTypeLabel, Operator::In, {"reserved", "on-demand"}))},
  });
}

TEST(Explain, ListsEveryPoolAndRemediesTheClosest) {
  const Plan plan = ProblemBuilder()
                        .add(pool("a").taint("k", "v", "NoSchedule"), three_sizes())
                        .add(pool("b").limit("cpu", "1"), three_sizes())
                        .add(pod("p"))
                        .solve();
  ASSERT_THAT(plan.refusals, SizeIs(1));
  EXPECT_EQ(plan.refusals[0].reason,
            "NodePool b: it would exceed limits.cpu (1); "
            "NodePool a: it does not tolerate taint k=v:NoSchedule");
  EXPECT_EQ(plan.refusals[0].remedy, "raise limits.cpu of NodePool b to 2");
}

TEST(Explain, OneChangeIsSmallerThanTwo) {
  const Plan plan =
      ProblemBuilder()
          .add(pool("a").taint("k", "v", "NoSchedule"), three_sizes())
          .add(pool("b").limit("cpu", "1").taint("l", "w", "NoSchedule"), three_sizes())
          .add(pod("p"))
          .solve();
  EXPECT_EQ(plan.refusals.at(0).remedy, "tolerate k=v:NoSchedule");
}

}  // namespace
}  // namespace millwright::scheduling::testing
