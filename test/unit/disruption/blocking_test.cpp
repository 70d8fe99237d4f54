// What keeps a node, and what it is told.
#include "cluster_builder.hpp"

#include <functional>

namespace millwright::disruption {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kDoNotDisrupt(model::kDoNotDisruptAnnotation);

std::shared_ptr<model::Pod> daemon(std::string name) {
  auto result = pod(std::move(name), 100);
  result->meta.owner_references = {
      {.api_version = "apps/v1", .kind = "DaemonSet", .name = "d", .uid = "d", .controller = true}};
  return result;
}

struct Blocking {
  const char* name;
  std::function<void(Cluster&)> arrange;  // node "a", pod "p" on it; node "b" has room
  const char* message;                    // empty: the node goes
  std::optional<base::TimePoint> next_check;
};

TEST(Blocking, EveryReasonIsGivenInOneSentence) {
  const auto pod_of = [](Cluster& cluster) -> model::Pod& {
    return const_cast<model::Pod&>(*cluster.node("a").record->pods.front());
  };
  const std::vector<Blocking> cases{
      {"nothing", [](Cluster&) {}, "", {}},
      {"not initialised",
       [](Cluster& c) {
         c.node("a").node->meta.labels.erase(std::string(model::kInitializedLabel));
       },
       "is not initialized yet",
       {}},
      {"another Node of its machine",
       [](Cluster& c) { c.node("a").record->shares_machine = true; },
       "Another Node has its machine's provider id",
       {}},
      {"annotation on the node",
       [](Cluster& c) { c.node("a").node->meta.annotations[kDoNotDisrupt] = "true"; },
       "Its node has the annotation karpenter.sh/do-not-disrupt",
       {}},
      {"another value on the node",
       [](Cluster& c) { c.node("a").node->meta.annotations[kDoNotDisrupt] = "1h"; },
       "",
       {}},
      {"nominated", [](Cluster& c) { c.node("a").record->nominated_until = kNow + seconds(20); },
       "nominated for a pending pod until 2026-01-08T12:00:20Z", kNow + seconds(20)},
      {"nominated before", [](Cluster& c) { c.node("a").record->nominated_until = kNow; }, "", {}},
      {"room for a pod", [](Cluster& c) { c.reserve(*pod("waiting"), "a", kNow + minutes(1)); },
       "keeps room for pod default/waiting until 2026-01-08T12:01:00Z", kNow + minutes(1)},
      {"room for several pods",
       [](Cluster& c) { c.reserve(*replica("web", "web-1"), "a", kNow + minutes(1), 3); },
       "keeps room for 3 pods such as default/web-1 until 2026-01-08T12:01:00Z", kNow + minutes(1)},
      {"room for pods like its own",
       [&](Cluster& c) { c.reserve(pod_of(c), "a", kNow + minutes(1)); },
       "keeps room for pod default/p", kNow + minutes(1)},
      {"room kept under its claim's name",
       [](Cluster& c) { c.reserve(*pod("waiting"), "a-claim", kNow + minutes(1)); },
       "keeps room for pod default/waiting", kNow + minutes(1)},
      {"room kept elsewhere",
       [](Cluster& c) { c.reserve(*pod("waiting"), "elsewhere", kNow + minutes(1)); },
       "",
       {}},
      {"room of a buffer",  // a node that keeps it is known by Input::virtual_pods
       [](Cluster& c) { c.reserve(*pod("waiting"), "a", kNow + minutes(1)).of_buffer = true; },
       "",
       {}},
      {"room kept until now", [](Cluster& c) { c.reserve(*pod("waiting"), "a", kNow); }, "", {}},
      {"fenced", [](Cluster& c) { c.node("a").record->fenced = true; }, "is fenced already", {}},
      {"in doubt", [](Cluster& c) { c.doubted["a-claim"] = kNow + minutes(1); },
       "was fenced, is open again, and stays until 2026-01-08T12:01:00Z", kNow + minutes(1)},
      {"in doubt until now", [](Cluster& c) { c.doubted["a-claim"] = kNow; }, "", {}},
      {"failed",
       [](Cluster& c) {
         c.failed["a-claim"] = {kNow + minutes(1), "a policy forbids it"};
       },
       "Its removal failed and is not tried again before 2026-01-08T12:01:00Z: a policy forbids it",
       kNow + minutes(1)},
      {"failed until now",
       [](Cluster& c) {
         c.failed["a-claim"] = {kNow, ""};
       },
       "",
       {}},
      {"another in doubt", [](Cluster& c) { c.doubted["b-claim"] = kNow + minutes(1); }, "", {}},
      {"pool gone",
       [](Cluster& c) {
         c.node("a").claim->meta.labels[std::string(model::kNodePoolLabel)] = "gone";
       },
       "Its NodePool gone does not exist",
       {}},
      {"no pool label",
       [](Cluster& c) {
         c.node("a").claim->meta.labels.erase(std::string(model::kNodePoolLabel));
         c.node("a").node->meta.labels.erase(std::string(model::kNodePoolLabel));
       },
       "It has no label karpenter.sh/nodepool",
       {}},
      {"pod do-not-disrupt",
       [&](Cluster& c) { pod_of(c).meta.annotations[kDoNotDisrupt] = "true"; },
       "Pod default/p has the annotation karpenter.sh/do-not-disrupt",
       {}},
      {"pod do-not-disrupt for a while",
       [&](Cluster& c) {
         pod_of(c).meta.annotations[kDoNotDisrupt] = "1h";
         pod_of(c).status.start_time = kNow - minutes(20);
       },
       "until 2026-01-08T12:40:00Z", kNow + minutes(40)},
      {"pod do-not-disrupt, elapsed",
       [&](Cluster& c) {
         pod_of(c).meta.annotations[kDoNotDisrupt] = "1h";
         pod_of(c).status.start_time = kNow - hours(1);
       },
       "",
       {}},
      {"pod do-not-disrupt, start unknown",
       [&](Cluster& c) {
         pod_of(c).meta.annotations[kDoNotDisrupt] = "1h";
         pod_of(c).status.start_time.reset();
       },
       "karpenter.sh/do-not-disrupt",
       {}},
      {"pod do-not-disrupt, unreadable",
       [&](Cluster& c) { pod_of(c).meta.annotations[kDoNotDisrupt] = "a while"; },
       "",
       {}},
      {"pod do-not-disrupt, but terminating",
       [&](Cluster& c) {
         pod_of(c).meta.annotations[kDoNotDisrupt] = "true";
         pod_of(c).meta.deletion_timestamp = kNow;
       },
       "",
       {}},
      {"budget of pods",
       [](Cluster& c) { c.add_budget("pdb", "p", 0); },
       "PodDisruptionBudget default/pdb allows no disruption of pod p",
       {}},
      {"budget of pods with room", [](Cluster& c) { c.add_budget("pdb", "p", 1); }, "", {}},
      {"budget of other pods", [](Cluster& c) { c.add_budget("pdb", "q", 0); }, "", {}},
      {"budget in another namespace",
       [](Cluster& c) { c.add_budget("pdb", "p", 0).meta.namespace_ = "other"; },
       "",
       {}},
      {"budget without selector",
       [](Cluster& c) { c.add_budget("pdb", "p", 0).selector.reset(); },
       "",
       {}},
      {"two budgets",
       [](Cluster& c) {
         c.add_budget("one", "p", 5);
         c.add_budget("two", "p", 5);
       },
       "more than one PodDisruptionBudget (one, two)",
       {}},
      {"unhealthy pod that may always go",
       [&](Cluster& c) {
         c.add_budget("pdb", "p", 0).unhealthy_pod_eviction_policy = "AlwaysAllow";
         pod_of(c).status.conditions = {{.type = "Ready", .status = model::ConditionStatus::False}};
       },
       "",
       {}},
      {"healthy pod with that policy",
       [&](Cluster& c) {
         c.add_budget("pdb", "p", 0).unhealthy_pod_eviction_policy = "AlwaysAllow";
         pod_of(c).status.conditions = {{.type = "Ready", .status = model::ConditionStatus::True}};
       },
       "allows no disruption of pod p",
       {}},
      {"budget of a pod that tolerates the removal",
       [&](Cluster& c) {
         c.add_budget("pdb", "p", 0);
         pod_of(c).spec.tolerations = {{.op = "Exists"}};
       },
       "",
       {}},
      {"consolidateAfter", [](Cluster& c) { c.pool().consolidate_after.text = "25h"; },
       "within consolidateAfter (25h)", kNow + hours(1)},
      {"consolidateAfter Never",
       [](Cluster& c) { c.pool().consolidate_after.text = "Never"; },
       "consolidateAfter Never",
       {}},
      {"only when empty",
       [](Cluster& c) { c.pool().consolidation_policy = "WhenEmpty"; },
       "only when they are empty",
       {}},
      {"unknown type",
       [](Cluster& c) {
         c.node("a").node->meta.labels[std::string(model::kInstanceTypeLabel)] = "gone";
       },
       "name no offering",
       {}},
      {"fixed size", [](Cluster& c) { c.pool().replicas = 2; }, "fixed number of nodes", {}},
  };
  for (const auto& test : cases) {
    Cluster cluster;
    cluster.add_node("a", {pod("p")});
    // Keeps itself out of the way: it may take pods but does not go.
    cluster.add_node("b", {pod("q")}).node->meta.annotations[kDoNotDisrupt] = "true";
    test.arrange(cluster);
    const auto decisions = cluster.decide();
    if (std::string(test.message).empty()) {
      EXPECT_THAT(claims_of(decisions), ElementsAre("a-claim"))
          << test.name << ": " << cluster.why_not("a");
    } else {
      EXPECT_TRUE(decisions.commands.empty()) << test.name;
      EXPECT_THAT(cluster.why_not("a"), HasSubstr(test.message)) << test.name;
      EXPECT_EQ(decisions.next_check, test.next_check) << test.name;
    }
  }
}

TEST(Blocking, NodesThatAreGoingOrBusyAreLeftAlone) {
  Cluster cluster;
  cluster.add_node("a").record->marked_for_deletion = true;
  cluster.add_node("b");
  cluster.busy = {"b-claim"};
  const auto decisions = cluster.decide();
  EXPECT_TRUE(decisions.commands.empty());
  EXPECT_TRUE(decisions.blocked.empty());
}

TEST(Blocking, ADaemonPodsAnnotationKeepsAnEmptyNode) {
  Cluster cluster;
  auto keeper = daemon("d");
  keeper->meta.annotations[kDoNotDisrupt] = "true";
  cluster.add_node("a", {keeper});
  EXPECT_TRUE(cluster.decide().commands.empty());
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("Pod default/d"));
  keeper->meta.annotations.clear();
  EXPECT_THAT(claims_of(cluster.decide()), ElementsAre("a-claim"));
}

TEST(Blocking, NothingIsDecidedBeforeTheSnapshotIsComplete) {
  Cluster cluster;
  cluster.add_node("a");
  auto input = cluster.input();
  auto unsynced = std::make_shared<scheduling::Snapshot>(*input.snapshot);
  unsynced->synced = false;
  input.snapshot = unsynced;
  EXPECT_TRUE(decide(input).commands.empty());
  input.snapshot = nullptr;
  EXPECT_TRUE(decide(input).commands.empty());
}

}  // namespace
}  // namespace millwright::disruption
