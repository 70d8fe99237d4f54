// Why nodes are given back while everybody is well, and what keeps them.

#include "millwright/model/codec.hpp"
#include "millwright/telemetry/decision_log.hpp"
#include "sandbox/lifecycle/lifecycle_fixture.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace millwright::test {
namespace {

using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class Disruption : public LifecycleFixture {
 protected:
  void up(const std::string& disruption, const WorkloadText& workload = {}, PoolText pool = {}) {
    start();
    apply_class();
    pool.disruption = disruption;
    apply_pool(pool);
    deploy(workload);
    ASSERT_TRUE(wait_running(workload.name, static_cast<std::size_t>(workload.replicas)));
    first_ = node_names();
  }

  std::set<std::string> node_names() {
    std::set<std::string> names;
    for (const auto& node : nodes()) {
      names.insert(node->meta.name);
    }
    return names;
  }

  bool is_replaced() {
    const auto names = node_names();
    return !names.empty() && std::none_of(names.begin(), names.end(),
                                          [&](const auto& name) { return first_.contains(name); });
  }

  // The fewest pods of the app that ran at once while `until` was waited for.
  std::size_t least_running(const std::string& app, const Predicate& until, base::Duration limit) {
    std::size_t least = std::numeric_limits<std::size_t>::max();
    EXPECT_TRUE(wait(
        [&] {
          least = std::min(least, running(app));
          return until();
        },
        limit));
    return least;
  }

  void protect_all() {
    apply(R"(
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: keep, namespace: default}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
)");
    run_for(seconds(5));
  }

  void annotate_pool(const std::string& key, const std::string& value) {
    change(model::kNodePoolResource, "default", [&](boost::json::value& pool) {
      auto& annotations = pool.at("metadata").as_object()["annotations"];
      if (!annotations.is_object()) {
        annotations.emplace_object();
      }
      annotations.as_object()[key] = value;
    });
  }

  // Begun so far for the reason.
  double decisions(const std::string& reason) {
    double sum = 0;
    std::istringstream page(metrics());
    for (std::string line; std::getline(page, line);) {
      if (line.starts_with("karpenter_voluntary_disruption_decisions_total{") &&
          line.find("reason=\"" + reason + "\"") != std::string::npos) {
        sum += std::stod(line.substr(line.rfind(' ')));
      }
    }
    return sum;
  }

  // Nodes whose pods have gone. Their budget keeps them until open_budget().
  void have_empty_nodes(int count) {
    up("{consolidationPolicy: WhenEmpty, consolidateAfter: 10s, budgets: [{nodes: \"0\"}]}",
       {.replicas = count,
        .pod_metadata = "",
        .pod_spec = "      topologySpreadConstraints:\n"
                    "      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, "
                    "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}"});
    ASSERT_THAT(node_names(), SizeIs(count));
    scale("web", 0);
    run_for(minutes(2));
    ASSERT_EQ(node_names(), first_);
  }

  void open_budget(const std::string& nodes) {
    change(model::kNodePoolResource, "default", [&](boost::json::value& pool) {
      auto& budgets = pool.at("spec").at("disruption").at("budgets").as_array();
      budgets.at(0).as_object()["nodes"] = nodes;
    });
  }

  struct Also {
    bool large_node;  // that has lost most of its pods
  };
  // Two nodes with a pod of "web" each have lost another pod, and the node of "anchor" has room for
  // both. All may go from now on.
  void two_nodes_of_web_and_room_on_a_third(Also also) {
    const auto keep_apart = [](const std::string& app) {
      return "      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
             "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: " +
             app + "}}}]}}";
    };
    up("{consolidateAfter: 10s, budgets: [{nodes: \"0\"}]}",
       {.name = "pad", .replicas = 2, .cpu = "2500m", .pod_spec = keep_apart("pad")});
    deploy({.name = "web", .replicas = 2});
    ASSERT_TRUE(wait_running("web", 2));
    ASSERT_THAT(node_names(), SizeIs(2));
    deploy({.name = "anchor",
            .cpu = "5",
            .pod_metadata = "      annotations: {karpenter.sh/do-not-disrupt: \"true\"}"});
    ASSERT_TRUE(wait_running("anchor", 1));
    if (also.large_node) {
      deploy({.name = "many", .replicas = 2, .cpu = "13"});
      ASSERT_TRUE(wait_running("many", 2));
    }
    first_ = node_names();
    ASSERT_THAT(first_, SizeIs(also.large_node ? 4 : 3));
    scale("pad", 0);
    if (also.large_node) {
      scale("many", 1);
    }
    run_for(minutes(5));
    ASSERT_EQ(node_names(), first_);
    open_budget("100%");
  }

  // One node whose pods are about to move to a smaller one, which has just been asked for.
  void have_a_smaller_node_begun() {
    up("{consolidateAfter: 30s}", {.replicas = 12});
    ASSERT_THAT(first_, SizeIs(1));
    scale("web", 2);
    ASSERT_TRUE(wait([&] { return claims().size() == 2; }));
    ASSERT_EQ(node_names(), first_);
  }

  void protect(const model::Resource& resource, const std::string& name,
               const std::string& name_space = {}) {
    change(
        resource, name,
        [](boost::json::value& object) {
          auto& annotations = object.at("metadata").as_object()["annotations"];
          if (!annotations.is_object()) {
            annotations.emplace_object();
          }
          annotations.as_object()[model::kDoNotDisruptAnnotation] = "true";
        },
        name_space);
  }

  // The node stays, open and with its pods, and the smaller one has come in vain.
  void expect_taken_back(const std::string& why) {
    run_for(minutes(30));
    ASSERT_EQ(node_names(), first_) << inventory();
    EXPECT_FALSE(is_tainted(*nodes().front()));
    EXPECT_FALSE(claims().front()->meta.is_deleting());
    EXPECT_EQ(running("web"), 2U);
    const auto all = LifecycleFixture::decisions().all();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const auto& decision) {
      return decision->kind == telemetry::DecisionKind::TakenBack &&
             decision->message.find(why) != std::string::npos;
    }));
  }

  static bool is_tainted(const model::Node& node) {
    return std::any_of(node.taints.begin(), node.taints.end(),
                       [](const auto& taint) { return taint.key == model::kDisruptedTaint; });
  }

  std::set<std::string> tainted() {
    std::set<std::string> names;
    for (const auto& node : nodes()) {
      if (is_tainted(*node)) {
        names.insert(node->meta.name);
      }
    }
    return names;
  }

  // A pod that kube-scheduler is about to bind to the node, and does not for an hour.
  void keep_in_doubt(const std::string& node) {
    cluster::Pass slow;
    slow.pod_uid = "uid-slow";
    slow.at = now();
    slow.until = now() + hours(1);
    slow.node_hashes = {cluster::Ledger::node_hash(node)};
    ledger().attempted(slow);
  }

  std::set<std::string> first_;
};

TEST_F(Disruption, AnEmptyNodeGoesAfterConsolidateAfterAndNotBefore) {
  up("{consolidationPolicy: WhenEmpty, consolidateAfter: 5m}");
  scale("web", 0);
  run_for(minutes(4));
  EXPECT_EQ(node_names(), first_);
  EXPECT_TRUE(wait_empty(minutes(4))) << inventory();
}

TEST_F(Disruption, EmptyNodesGoTogether) {
  have_empty_nodes(4);
  open_budget("100%");
  EXPECT_TRUE(wait_empty()) << inventory();
  EXPECT_EQ(decisions("empty"), 1);
}

TEST_F(Disruption, AnEmptyNodeThatMustWaitKeepsNoOther) {
  have_empty_nodes(4);
  open_budget("100%");
  const std::string node = *first_.begin();
  keep_in_doubt(node);
  ASSERT_TRUE(wait([&] { return node_names().size() == 1; }, minutes(2))) << inventory();
  EXPECT_EQ(*node_names().begin(), node);
  EXPECT_FALSE(ledger().view()->fences_by_node.contains(node));
  ledger().end_attempt("uid-slow");
  EXPECT_TRUE(wait_empty()) << inventory();
}

TEST_F(Disruption, WhenEmptyLeavesANodeThatIsHardlyUsed) {
  up("{consolidationPolicy: WhenEmpty, consolidateAfter: 30s}", {.replicas = 12});
  scale("web", 1);
  run_for(hours(1));
  EXPECT_THAT(node_names(), SizeIs(1));
  EXPECT_TRUE(first_.contains(*node_names().begin()));
}

TEST_F(Disruption, ASmallerNodeIsThereBeforeTheLargerOneIsDrained) {
  up("{consolidateAfter: 30s}", {.replicas = 12});
  scale("web", 2);
  EXPECT_EQ(least_running(
                "web", [&] { return running("web") == 2; }, minutes(5)),
            2U);
  ASSERT_TRUE(wait([&] { return is_replaced() && node_names().size() == 1; }, hours(1)));
  for (const auto& [uid, old] : recorder().nodes()) {
    if (first_.contains(old.last->meta.name)) {
      for (const auto& [other_uid, fresh] : recorder().nodes()) {
        if (!first_.contains(fresh.last->meta.name) && old.drained_from) {
          EXPECT_LE(*fresh.ready, *old.drained_from);
        }
      }
    }
  }
  EXPECT_TRUE(wait_running("web", 2));
}

TEST_F(Disruption, APodThatIsProtectedWhileAReplacementStartsKeepsItsNode) {
  have_a_smaller_node_begun();
  protect(model::kPodResource, pods("web").front()->meta.name, "default");
  expect_taken_back("pod default/" + pods("web").front()->meta.name +
                    " has the annotation karpenter.sh/do-not-disrupt");
}

TEST_F(Disruption, ANodeThatIsProtectedWhileAReplacementStartsStays) {
  have_a_smaller_node_begun();
  protect(model::kNodeResource, *first_.begin());
  expect_taken_back("its node has the annotation karpenter.sh/do-not-disrupt");
}

// A person deletes both NodeClaims, first that of the node that was chosen.
TEST_F(Disruption, ANodeThatIsDeletedWhileItsReplacementStartsIsNotOpenedAgain) {
  have_a_smaller_node_begun();
  std::size_t opened = 0;
  bool closed = false;
  const auto watch = api().watch(model::kNodeResource, [&](const sandbox::Event& event) {
    const auto node = model::decode<model::Node>(*event.object);
    if (node && first_.contains(node->meta.name)) {
      opened += closed && !is_tainted(*node) ? 1 : 0;
      closed = is_tainted(*node);
    }
  });
  std::string chosen;
  std::string replacement;
  for (const auto& claim : claims()) {
    (claim->node_name == *first_.begin() ? chosen : replacement) = claim->meta.name;
  }
  ASSERT_TRUE(wait([&] { return closed; }));
  remove(model::kNodeClaimResource, chosen);
  run_for(std::chrono::milliseconds(100));
  remove(model::kNodeClaimResource, replacement);
  EXPECT_TRUE(wait([&] { return is_replaced() && running("web") == 2; }, minutes(30)))
      << inventory();
  EXPECT_EQ(opened, 0U);
}

// Both go in one command, and all pods fit on the third node at once.
TEST_F(Disruption, NobodyIsWhollyAwayWhileNodesGoTogether) {
  two_nodes_of_web_and_room_on_a_third({.large_node = false});
  EXPECT_GE(least_running(
                "web", [&] { return node_names().size() == 1 && running("web") == 2; }, hours(1)),
            1U);
  EXPECT_EQ(decisions("underutilized"), 1);
}

// "web" has room elsewhere; what is left on the large node needs a smaller one.
TEST_F(Disruption, NodesWhosePodsHaveRoomGoBeforeAReplacementIsThere) {
  two_nodes_of_web_and_room_on_a_third({.large_node = true});
  ASSERT_TRUE(wait([&] { return node_names().size() == 2 && running("web") == 2; }, hours(1)));
  EXPECT_EQ(decisions("underutilized"), 1);
  std::vector<base::TimePoint> drained;
  std::optional<base::TimePoint> replaced;
  for (const auto& [uid, node] : recorder().nodes()) {
    if (node.drained_from) {
      drained.push_back(*node.drained_from);
    } else if (!first_.contains(node.last->meta.name)) {
      replaced = node.ready;
    }
  }
  ASSERT_TRUE(replaced);
  ASSERT_THAT(drained, SizeIs(3));
  std::sort(drained.begin(), drained.end());
  EXPECT_LT(drained[0], *replaced);
  EXPECT_GE(drained[2], *replaced);
}

TEST_F(Disruption, NoPurchaseWaitsForADecisionAboutRemovals) {
  up("{consolidateAfter: 30s}", {.replicas = 12});
  compute().pause_background();
  scale("web", 2);
  ASSERT_TRUE(wait([&] { return compute().held() > 0; }));
  deploy({.name = "api", .replicas = 40});
  EXPECT_TRUE(wait_running("api", 40));
  EXPECT_EQ(compute().held(), 1U) << "still being decided";
  EXPECT_FALSE(is_replaced());
  compute().resume_background();
  run_for(minutes(1));
  EXPECT_TRUE(wait_running("web", 2));
}

TEST_F(Disruption, ABudgetOfNoneKeepsEveryNode) {
  up("{consolidateAfter: 10s, budgets: [{nodes: \"0\"}]}", {.replicas = 4});
  scale("web", 0);
  run_for(hours(3));
  EXPECT_EQ(node_names(), first_);
}

TEST_F(Disruption, ABudgetWithAScheduleOpensWhenItEnds) {
  // The cluster's clock starts at midnight UTC, a multiple of whole days after the epoch.
  up("{consolidateAfter: 10s, budgets: [{nodes: \"0\", schedule: \"0 0 * * *\", duration: 6h}]}",
     {.replicas = 4});
  scale("web", 0);
  run_for(hours(5));
  EXPECT_EQ(node_names(), first_);
  EXPECT_TRUE(wait_empty(minutes(90))) << inventory();
}

TEST_F(Disruption, AWindowByOtherClocksOpensWhenTheseShowItsTime) {
  up("{consolidateAfter: 10s}", {.replicas = 4});
  annotate_pool("millwright.io/disruption-windows", "0 8 * * * for 1h in Africa/Johannesburg");
  scale("web", 0);
  run_for(hours(5));
  EXPECT_EQ(node_names(), first_);
  EXPECT_THAT(events("Unconsolidatable"),
              testing::Contains(testing::HasSubstr("lets no Empty node go before")));
  EXPECT_TRUE(wait_empty(minutes(90))) << inventory();
}

TEST_F(Disruption, APodThatMustNotBeDisruptedKeepsItsNode) {
  up("{consolidateAfter: 10s}",
     {.replicas = 1,
      .cpu = "900m",
      .pod_metadata = "      annotations: {karpenter.sh/do-not-disrupt: \"true\"}"});
  deploy({.name = "filler", .replicas = 10});
  ASSERT_TRUE(wait_running("filler", 10));
  scale("filler", 0);
  run_for(hours(1));
  ASSERT_FALSE(pods("web").empty());
  EXPECT_TRUE(first_.contains(pods("web").front()->spec.node_name));
}

TEST_F(Disruption, ANodeThatMustNotBeDisruptedStaysThoughEmpty) {
  up("{consolidateAfter: 10s}");
  protect(model::kNodeResource, *first_.begin());
  scale("web", 0);
  run_for(hours(1));
  EXPECT_EQ(node_names(), first_);
}

TEST_F(Disruption, AnExpiredNodeIsEndedAndItsPodsRunElsewhere) {
  up("{consolidateAfter: Never}", {.replicas = 2}, {.template_extra = "      expireAfter: 2h"});
  run_for(minutes(110));
  EXPECT_EQ(node_names(), first_);
  EXPECT_TRUE(wait([&] { return is_replaced(); }, minutes(30)));
  EXPECT_TRUE(wait_running("web", 2));
}

TEST_F(Disruption, AnExpiredNodeWaitsForAWindow) {
  up("{consolidateAfter: Never}", {.replicas = 2}, {.template_extra = "      expireAfter: 2h"});
  annotate_pool("millwright.io/expiration-windows", "0 6 * * * for 1h");
  run_for(hours(5) + minutes(40));
  EXPECT_EQ(node_names(), first_);
  EXPECT_THAT(events("DisruptionBlocked"),
              testing::Contains(testing::HasSubstr("It has expired and goes at")));
  EXPECT_TRUE(wait([&] { return is_replaced(); }, hours(1)));
  EXPECT_TRUE(wait_running("web", 2));
}

TEST_F(Disruption, AChangedTemplateReplacesNodesWithoutAPodMissing) {
  up("{consolidateAfter: Never}", {.replicas = 3});
  protect_all();
  change(model::kNodePoolResource, "default", [](boost::json::value& pool) {
    auto& metadata = pool.at("spec").at("template").as_object()["metadata"];
    metadata = boost::json::object{{"labels", {{"team", "blue"}}}};
  });
  const auto least = least_running(
      "web", [&] { return is_replaced() && running("web") == 3; }, hours(2));
  EXPECT_GE(least, 2U) << "the budget of the pods allows one away";
  for (const auto& node : nodes()) {
    EXPECT_EQ(node->meta.labels.at("team"), "blue");
  }
}

// Between the decision and the replacement.
TEST_F(Disruption, ATemplateThatIsChangedOnceMoreMeanwhileIsThatOfAllNodesInTheEnd) {
  up("{consolidateAfter: Never}", {.replicas = 2});
  const std::string node = *first_.begin();
  const auto label = [&](const std::string& team) {
    change(model::kNodePoolResource, "default", [&](boost::json::value& pool) {
      auto& metadata = pool.at("spec").at("template").as_object()["metadata"];
      metadata = boost::json::object{{"labels", {{"team", team}}}};
    });
  };
  keep_in_doubt(node);
  label("blue");
  ASSERT_TRUE(wait([&] { return ledger().view()->fences_by_node.contains(node); }));
  label("green");
  run_for(seconds(1));
  ledger().end_attempt("uid-slow");
  run_for(hours(1));
  EXPECT_TRUE(is_replaced());
  for (const auto& each : nodes()) {
    EXPECT_EQ(each->meta.labels.at("team"), "green");
  }
  EXPECT_TRUE(wait_running("web", 2));
}

// Also when nothing else happens in the cluster: the hash that tells of the edit is written after
// it.
TEST_F(Disruption, AnEditedPoolsClaimsAreDriftedWithinASecond) {
  up(R"({consolidateAfter: Never, budgets: [{nodes: "0"}]})");
  run_for(minutes(7));
  change(model::kNodePoolResource, "default", [](boost::json::value& pool) {
    auto& metadata = pool.at("spec").at("template").as_object()["metadata"];
    metadata = boost::json::object{{"labels", {{"team", "blue"}}}};
  });
  const auto edited = now();
  const auto claim = claims().front()->meta.name;
  EXPECT_TRUE(
      wait([&] { return condition(model::kNodeClaimResource, claim, "Drifted") == "True"; }));
  EXPECT_LE(now() - edited, seconds(1));
}

TEST_F(Disruption, ANodeOfATypeThatIsNotSoldAnyMoreIsReplacedOnceItIsAnHourOld) {
  up("{consolidateAfter: Never}", {.replicas = 2});
  const auto claim = claims().front()->meta.name;
  change(model::kNodeClaimResource, claim, [](boost::json::value& object) {
    object.at("metadata").at("labels").as_object()[model::kInstanceTypeLabel] = "retired-2x";
  });
  run_for(minutes(45));
  EXPECT_EQ(condition(model::kNodeClaimResource, claim, "Drifted"), "");
  EXPECT_EQ(node_names(), first_);
  EXPECT_TRUE(wait([&] { return is_replaced(); }, minutes(30)));
  EXPECT_TRUE(wait_running("web", 2));
}

TEST_F(Disruption, ASpotInterruptionMovesPodsBeforeTheMachineGoes) {
  up("{consolidateAfter: Never}", {.replicas = 2}, {.capacity_types = "[spot]"});
  const auto instance = instances().front().provider_id;
  const auto warned = now();
  ASSERT_TRUE(cloud().interrupt(instance));
  ASSERT_TRUE(wait([&] { return is_replaced() && running("web") == 2; }));
  EXPECT_LE(now() - warned, minutes(3));
  EXPECT_THAT(instances(), SizeIs(1));
}

// A notice is told again until somebody has acted on it.
TEST_F(Disruption, ASpotInterruptionIsNotLostThoughTheApiServerFailsAtFirst) {
  up("{consolidateAfter: Never}", {.replicas = 2}, {.capacity_types = "[spot]"});
  const auto any_going = [&] {
    const auto all = claims();
    return std::any_of(all.begin(), all.end(),
                       [](const auto& claim) { return claim->meta.is_deleting(); });
  };
  api().set_faults({.broken = {"nodeclaims"}});
  ASSERT_TRUE(cloud().interrupt(instances().front().provider_id));
  run_for(seconds(20));
  ASSERT_FALSE(any_going());
  api().set_faults({});
  EXPECT_TRUE(wait(any_going, seconds(10)));
}

TEST_F(Disruption, NodesWhosePodsFitTogetherBecomeFewer) {
  up("{consolidateAfter: 30s}",
     {.replicas = 4,
      .pod_metadata = "",
      .pod_spec = "      topologySpreadConstraints:\n"
                  "      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: "
                  "DoNotSchedule, labelSelector: {matchLabels: {app: web}}}"});
  ASSERT_THAT(node_names(), SizeIs(4));
  run_for(hours(1));
  EXPECT_THAT(node_names(), SizeIs(4)) << "nodes that the spread needs";
  scale("web", 1);
  ASSERT_TRUE(wait_running("web", 1));
  EXPECT_TRUE(wait([&] { return node_names().size() == 1; }, hours(1)));
}

// Twelve pods for 40 seconds, three for 40 seconds, and so on, for 16 minutes.
TEST_F(Disruption, PodsWhoseNodeIsNeededAgainAndAgainAreLeftInPeace) {
  up("{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s}", {.replicas = 12});
  for (int round = 0; round < 12; ++round) {
    scale("web", 3);
    run_for(seconds(40));
    scale("web", 12);
    ASSERT_TRUE(wait_running("web", 12)) << round;
    run_for(seconds(40));
  }
  const double moves = decisions("underutilized");
  EXPECT_GE(moves, 1);
  EXPECT_LE(moves, 4);
  scale("web", 3);
  run_for(minutes(6));
  EXPECT_THAT(node_names(), SizeIs(1)) << inventory();
}

// As a Job every twenty seconds for an hour would need it.
TEST_F(Disruption, AnEmptyNodeThatIsNeededAgainAndAgainStays) {
  up("{consolidationPolicy: WhenEmpty, consolidateAfter: 0s}");
  for (int round = 0; round < 180; ++round) {
    scale("web", 0);
    run_for(seconds(15));
    scale("web", 1);
    run_for(seconds(5));
  }
  EXPECT_LE(recorder().nodes().size(), 2U);
  scale("web", 0);
  EXPECT_TRUE(wait_empty(minutes(3))) << inventory();
}

TEST_F(Disruption, ADeletionThatFailsAtFirstIsTriedAgain) {
  up("{consolidationPolicy: WhenEmpty, consolidateAfter: 30s}");
  const auto claim = claims().front()->meta.name;
  scale("web", 0);
  ASSERT_TRUE(wait(
      [&] { return condition(model::kNodeClaimResource, claim, "DisruptionReason") == "True"; }));
  api().set_faults({.broken = {"nodeclaims"}});
  run_for(seconds(5));
  api().set_faults({});
  EXPECT_TRUE(wait_empty()) << inventory();
  EXPECT_EQ(decisions("empty"), 1) << "the node was opened again";
}

// A policy denies it, say.
TEST_F(Disruption, ANodeThatCannotBeDeletedKeepsNoOther) {
  have_empty_nodes(2);
  std::map<std::string, std::string> claim_of;  // by node
  for (const auto& claim : claims()) {
    claim_of[claim->node_name] = claim->meta.name;
  }
  api().set_faults({.undeletable = {claims()[0]->meta.name, claims()[1]->meta.name}});
  open_budget("1");
  ASSERT_TRUE(wait([&] { return !tainted().empty(); }));
  const std::string kept = *tainted().begin();
  api().set_faults({.undeletable = {claim_of.at(kept)}});
  int changes = 0;
  bool closed = true;
  const auto watch = api().watch(model::kNodeResource, [&](const sandbox::Event& event) {
    const auto node = model::decode<model::Node>(*event.object);
    if (node && node->meta.name == kept && closed != is_tainted(*node)) {
      closed = !closed;
      ++changes;
    }
  });
  EXPECT_TRUE(wait([&] { return node_names().size() == 1; }, minutes(3))) << inventory();
  run_for(minutes(10));
  EXPECT_EQ(node_names(), std::set{kept});
  EXPECT_LE(changes, 12);
  EXPECT_THAT(events("DisruptionBlocked"),
              testing::Contains(testing::HasSubstr("Its removal failed")));
  api().set_faults({});
  EXPECT_TRUE(wait_empty()) << inventory();
}

// The answers of all writes are lost, and the watches are late.
TEST_F(Disruption, ATaintThatNobodySawWrittenCountsInTheBudget) {
  have_empty_nodes(2);
  api().set_faults({.lost_reply_rate = 1, .watch_delay = minutes(2)});
  open_budget("1");
  std::size_t most = 0;
  const auto watch = api().watch(model::kNodeResource, [&](const sandbox::Event&) {
    most = std::max(most, tainted().size());
  });
  run_for(minutes(4));
  EXPECT_EQ(most, 1U);
  api().set_faults({});
  EXPECT_TRUE(wait_empty()) << inventory();
  EXPECT_EQ(most, 1U);
}

// Whoever keeps a node in doubt (a pod whose volume claim is not bound, a made-up call) keeps it
// from going, but not closed.
// Whoever may write NodeClaims keeps no node closed.
TEST_F(Disruption, AFenceThatNoDecisionMadeIsUndone) {
  up("{consolidateAfter: Never}");
  const std::string node = *first_.begin();
  const auto is_fenced = [&] { return ledger().view()->fences_by_node.contains(node); };
  run_for(minutes(1));
  change(model::kNodeClaimResource, claims().front()->meta.name, [&](boost::json::value& claim) {
    claim.at("metadata").at("annotations").as_object()[model::kFenceAnnotation] =
        cluster::encode_fence({node, "Forged", now() + hours(1000)});
  });
  ASSERT_TRUE(wait(is_fenced, seconds(5)));
  EXPECT_TRUE(wait([&] { return !is_fenced(); }, minutes(1)));
  run_for(minutes(1));
  EXPECT_FALSE(is_fenced());
  EXPECT_EQ(claims().front()->meta.annotation(model::kFenceAnnotation), "");
}

// Somebody took the taint off, and the leader that had set both was gone.
TEST_F(Disruption, ADisruptionReasonWithoutItsTaintIsUndone) {
  up("{consolidateAfter: Never}");
  const auto claim = claims().front()->meta.name;
  const auto reason = [&] {
    return condition(model::kNodeClaimResource, claim, "DisruptionReason");
  };
  change(
      model::kNodeClaimResource, claim,
      [](boost::json::value& object) {
        object.at("status")
            .at("conditions")
            .as_array()
            .push_back({{"type", "DisruptionReason"},
                        {"status", "True"},
                        {"reason", "Drifted"},
                        {"message", "Drifted"},
                        {"lastTransitionTime", "2026-01-01T00:00:00Z"}});
      },
      {}, "status");
  ASSERT_EQ(reason(), "True");
  EXPECT_TRUE(wait([&] { return reason().empty(); }, minutes(1)));
  EXPECT_EQ(node_names(), first_);
}

TEST_F(Disruption, ANodeToWhichAPodMayStillComeIsOpenAgainAfterHalfAMinute) {
  up("{consolidationPolicy: WhenEmpty, consolidateAfter: 10s}");
  const std::string node = *first_.begin();
  keep_in_doubt(node);
  const auto is_fenced = [&] { return ledger().view()->fences_by_node.contains(node); };
  scale("web", 0);
  ASSERT_TRUE(wait(is_fenced));
  const auto closed = now();
  ASSERT_TRUE(wait([&] { return !is_fenced(); }));
  EXPECT_LE(now() - closed, seconds(31));
  run_for(minutes(4));
  EXPECT_FALSE(is_fenced()) << "closed again without a pause";
  std::set<std::string> told;
  for (const auto& event : event_texts("DisruptionBlocked")) {
    if (event.message.find("is open again") != std::string::npos) {
      told.insert(event.about);
    }
  }
  EXPECT_THAT(told,
              testing::ElementsAre("Node " + node, "NodeClaim " + claims().front()->meta.name));
  ledger().end_attempt("uid-slow");
  EXPECT_TRUE(wait_empty()) << inventory();
}

}  // namespace
}  // namespace millwright::test
