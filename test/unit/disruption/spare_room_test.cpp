// Room that is reserved for the group of a candidate's pods: theirs only beyond what others need.
#include "consolidation_cases.hpp"

#include <functional>

namespace millwright::disruption {
namespace {

using std::chrono::hours;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kSize = 1500;

std::shared_ptr<model::Pod> web(std::string name) {
  return replica("web", std::move(name), kSize);
}

// How many pods of the one command go to the node.
std::ptrdiff_t moved_to(const Command& command, const std::string& node) {
  return std::count_if(command.placements.begin(), command.placements.end(),
                       [&](const auto& placement) {
                         const auto* name = std::get_if<std::string>(&placement.target);
                         return name != nullptr && *name == node;
                       });
}

// A node that is going already, with one more pod of the group.
Member& add_leaving(Cluster& cluster, const std::shared_ptr<model::Pod>& leaving) {
  auto& member = cluster.add_node("leaving", {leaving}, {.type = "small"});
  member.record->marked_for_deletion = true;
  return member;
}

struct SpareCase {
  const char* name;
  std::function<void(Cluster&)> arrange;  // "web-1" is on node "a", "b" keeps room for one such pod
  std::ptrdiff_t moved;                   // to "b"; the others go to a replacement
};

TEST(SpareRoom, IsWhatNobodyElseNeeds) {
  const std::vector<SpareCase> cases{
      {"nobody waits", [](Cluster&) {}, 1},
      {"a pod waits", [](Cluster& c) { c.add_pending(web("web-2")); }, 0},
      {"a pod waits that nobody has reported yet",
       [](Cluster& c) {
         const auto untried = web("web-2");
         c.add_pending(untried);
         untried->status.conditions.clear();
       },
       0},
      {"a pod waits, and more is reserved",
       [](Cluster& c) {
         c.add_pending(web("web-2"));
         c.reserve(*web("web-2"), "elsewhere", kNow + hours(1));
       },
       1},
      {"a pod of another group waits",
       [](Cluster& c) {
         c.add_pending(pod("new", kSize));
         c.reserve(*pod("new", kSize), "elsewhere", kNow + hours(1));
       },
       1},
      {"a pod of another size waits",
       [](Cluster& c) {
         const auto resized = replica("web", "web-2", kSize + 1);
         c.add_pending(resized);
         c.reserve(*resized, "elsewhere", kNow + hours(1));
       },
       1},
      {"a pod is expected", [](Cluster& c) { c.expect_more(web("web-2"), 1); }, 0},
      {"a pod leaves", [](Cluster& c) { add_leaving(c, web("web-2")); }, 0},
      {"a command is about to evict a pod",
       [](Cluster& c) {
         add_leaving(c, web("web-2")).record->marked_for_deletion = false;
         c.busy = {"leaving-claim"};
       },
       0},
      {"a pod was evicted and has no successor yet",
       [](Cluster& c) {
         const auto evicted = web("web-2");
         evicted->meta.deletion_timestamp = kNow;
         add_leaving(c, evicted);
       },
       0},
      {"a pod leaves that may not be evicted at the moment",
       [](Cluster& c) {
         const auto kept = web("web-2");
         kept->meta.annotations[kKeep] = "true";
         add_leaving(c, kept);
       },
       0},
      {"the candidate has two such pods",
       [](Cluster& c) {
         const auto second = web("web-2");
         second->spec.node_name = "a";
         c.node("a").record->pods.push_back(second);
       },
       1},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.name);
    Cluster cluster;
    cluster.add_node("a", {web("web-1")}, {.type = "large"});
    cluster.add_node("b", {}, {.type = "small"});
    cluster.reserve(*web("web-1"), "b", kNow + hours(1));
    each.arrange(cluster);
    const auto pods = static_cast<std::ptrdiff_t>(cluster.node("a").record->pods.size());
    const auto command = only_command(cluster);
    EXPECT_THAT(command.claims, ::testing::ElementsAre("a-claim"));
    EXPECT_EQ(moved_to(command, "b"), each.moved);
    EXPECT_EQ(command.replacements.empty(), each.moved == pods);
  }
}

TEST(SpareRoom, OnTheSameNodeStaysBesideWhatIsNeededThere) {
  Cluster cluster;
  cluster.add_node("a", {web("web-1")}, {.type = "large"});
  cluster.add_node("b", {});
  cluster.add_pending(web("web-2"));
  cluster.reserve(*web("web-1"), "b", kNow + hours(1), 2);
  EXPECT_EQ(moved_to(only_command(cluster), "b"), 1);
  cluster.add_pending(web("web-3"));
  EXPECT_EQ(moved_to(only_command(cluster), "b"), 0);
}

TEST(SpareRoom, OnANodeThatIsGoingIsNoRoom) {
  for (const bool fenced : {false, true}) {
    SCOPED_TRACE(fenced ? "fenced" : "marked for deletion");
    Cluster cluster;
    cluster.add_node("a", {web("web-1")}, {.type = "large"});
    auto& going = cluster.add_node("c", {}, {.type = "small"});
    (fenced ? going.record->fenced : going.record->marked_for_deletion) = true;
    cluster.add_pending(web("web-2"));
    cluster.reserve(*web("web-2"), "c", kNow + hours(1));
    EXPECT_THAT(claims_of(cluster.decide()), IsEmpty());
    EXPECT_THAT(cluster.why_not("a"), HasSubstr("wait for new capacity"));
  }
}

// A pod of "web" that spreads over the zones.
std::shared_ptr<model::Pod> spread_web(std::string name) {
  auto pod = web(std::move(name));
  pod->meta.labels = {{"app", "web"}};
  model::TopologySpreadConstraint spread;
  spread.topology_key = model::kZoneLabel;
  spread.when_unsatisfiable = "DoNotSchedule";
  spread.label_selector = model::LabelSelector{{{"app", "web"}}, {}};
  pod->spec.topology_spread = {spread};
  return pod;
}

TEST(SpareRoom, HoldsThePodsThatLeaveForItAsFarAsSpreadIsConcerned) {
  // One pod is in each zone when both have moved.
  for (const bool to_zone_b : {true, false}) {
    SCOPED_TRACE(to_zone_b);
    Cluster cluster;
    cluster.add_node("a", {spread_web("web-1")}, {.type = "large"});
    add_leaving(cluster, spread_web("web-2"));
    cluster.add_node("room", {}, {.type = "small", .zone = to_zone_b ? "b" : "a"});
    cluster.reserve(*spread_web("web-2"), "room", kNow + hours(1));
    const auto command = only_command(cluster);
    ASSERT_EQ(command.replacements.size(), 1U);
    const auto zone = command.replacements.front().requirements.get(model::kZoneLabel);
    EXPECT_THAT(zone.values(), ::testing::ElementsAre(to_zone_b ? "a" : "b"));
  }
}

}  // namespace
}  // namespace millwright::disruption
