#include "millwright/cluster/ledger.hpp"

#include "unit/cluster/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <tuple>

namespace millwright::cluster {
namespace {

using scheduling::GroupId;
using scheduling::Reservation;
using testing::at;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::pass_of;
using testing::PodBuilder;

// Room for `count` pods of the one group of the ReplicaSet.
Reservation room(const std::string& set, const std::string& target, std::int32_t count,
                 std::int64_t until = 60) {
  return testing::reservation_for(PodBuilder(set + "-1").requests(100).owned_by(set).value(),
                                  target, until, count);
}

GroupId group(const std::string& set) {
  return room(set, "", 1).group;
}

// "2 a", sorted.
std::vector<std::string> on(const Ledger& ledger, std::string_view target) {
  std::vector<std::string> lines;
  const LedgerViewPtr view = ledger.view();
  const auto found = view->by_target.find(target);
  if (found != view->by_target.end()) {
    for (const Reservation& each : found->second) {
      lines.push_back(std::to_string(each.count) + " " + std::string(each.group.owner_uid()) +
                      (each.group.is_whole_owner() ? "/*" : ""));
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

Reservation of_buffer(const std::string& set, const std::string& target, std::int32_t count) {
  Reservation buffer = room(set, target, count);
  buffer.group = GroupId::of_owner(set);
  buffer.of_buffer = true;
  return buffer;
}

void bind(Ledger& ledger, const std::string& set, const std::string& node) {
  const Ledger::Arrival arrival{.pod_uid = "uid-" + set, .group = group(set), .node = node};
  ledger.settle({&arrival, 1});
}

TEST(Ledger, ReservingAddsUpAndTheNewerWordsCount) {
  Ledger ledger;
  ledger.reserve(room("a", "x", 2, 60));
  Reservation more = room("a", "x", 3, 90);
  more.priority = 7;
  ledger.reserve_all({more, room("b", "x", 1), room("a", "y", 1), room("c", "x", 0)});
  EXPECT_THAT(on(ledger, "x"), ElementsAre("1 b", "5 a"));
  EXPECT_THAT(on(ledger, "y"), ElementsAre("1 a"));
  const LedgerViewPtr view = ledger.view();
  ASSERT_NE(view->find(group("a"), "x"), nullptr);
  EXPECT_EQ(view->find(group("a"), "x")->until, at(90));
  EXPECT_EQ(view->find(group("a"), "x")->priority, 7);
  EXPECT_EQ(view->find(group("c"), "x"), nullptr);
  EXPECT_THAT(view->targets_of(group("a")), ElementsAre("x", "y"));
  EXPECT_THAT(view->targets_of(group("c")), IsEmpty());
  EXPECT_EQ(view->reserved(group("a")), 6);
  EXPECT_EQ(view->reserved(group("c")), 0);
}

TEST(Ledger, SettingReplacesAndNothingEndsIt) {
  Ledger ledger;
  ledger.reserve(room("a", "x", 2));
  ledger.set_reservation(room("a", "x", 5, 90));
  EXPECT_EQ(*ledger.view()->find(group("a"), "x"), room("a", "x", 5, 90));
  ledger.set_reservation(room("a", "x", 0));
  EXPECT_FALSE(ledger.view()->by_target.contains("x"));
  EXPECT_THAT(ledger.view()->targets_of(group("a")), IsEmpty());
}

TEST(Ledger, FreesNeverMoreThanThereIs) {
  Ledger ledger;
  ledger.reserve_all({room("a", "x", 3), room("a", "y", 3)});
  ledger.lower(group("a"), "x", 1);
  ledger.lower(group("a"), "x", 0);
  ledger.lower(group("a"), "x", -4);
  ledger.lower(group("b"), "x", 1);
  ledger.lower(group("a"), "z", 1);
  EXPECT_EQ(ledger.view()->reserved(group("a")), 5);
  ledger.lower(group("a"), "x", 9);
  EXPECT_THAT(on(ledger, "x"), IsEmpty());
  EXPECT_THAT(on(ledger, "y"), ElementsAre("3 a"));
  ledger.release_target("y");
  EXPECT_THAT(ledger.view()->targets_of(group("a")), IsEmpty());
}

TEST(Ledger, ABoundPodUsesRoomOfItsGroupOnItsNodeOnly) {
  struct Case {
    const char* what;
    std::vector<Reservation> reserved;
    std::vector<std::string> x;
    std::vector<std::string> y;
  };
  // A pod of "a" is bound to x.
  const Case cases[] = {
      {"one of two nodes", {room("a", "x", 2), room("a", "y", 2)}, {"1 a"}, {"2 a"}},
      {"the last one", {room("a", "x", 1), room("a", "y", 1)}, {}, {"1 a"}},
      {"reserved elsewhere", {room("a", "y", 2)}, {}, {"2 a"}},
      {"another group's", {room("b", "x", 2)}, {"2 b"}, {}},
      {"a buffer's", {of_buffer("a", "x", 2), of_buffer("a", "y", 2)}, {"1 a/*"}, {"2 a/*"}},
      {"its group's before the buffer's",
       {of_buffer("a", "x", 2), room("a", "x", 2)},
       {"1 a", "2 a/*"},
       {}},
      {"another owner's buffer", {of_buffer("b", "x", 2)}, {"2 b/*"}, {}},
  };
  for (const Case& one : cases) {
    Ledger ledger;
    ledger.reserve_all(one.reserved);
    bind(ledger, "a", "x");
    EXPECT_EQ(on(ledger, "x"), one.x) << one.what;
    EXPECT_EQ(on(ledger, "y"), one.y) << one.what;
  }
}

TEST(Ledger, SettlingEndsAttemptsAndOnlyABindingUsesRoom) {
  Ledger ledger;
  ledger.reserve(room("a", "x", 2));
  const auto pod = PodBuilder("p").requests(100).owned_by("a").value();
  const std::vector<Ledger::Arrival> gone{{.pod_uid = "uid-p", .group = group("a"), .node = ""},
                                          {.pod_uid = "uid-stranger", .group = {}, .node = ""}};
  ledger.attempted(pass_of(pod, {"x"}, 0));
  ledger.settle(gone);
  EXPECT_THAT(ledger.in_doubt("x", at(0)), IsEmpty());
  EXPECT_THAT(on(ledger, "x"), ElementsAre("2 a"));
}

TEST(Ledger, ReservationsMoveFromTheClaimToItsNode) {
  Ledger ledger;
  ledger.reserve_all({room("a", "claim", 3), room("b", "node", 1), room("a", "node", 1, 90)});
  // The claim's event came before the answer to its creation, and tells of the same pods.
  ledger.adopt_reservations("claim", {room("a", "claim", 3), room("c", "claim", 1)});
  EXPECT_THAT(on(ledger, "claim"), ElementsAre("3 a")) << "the mirror knows nothing newer";
  ledger.rename_target("claim", "node");
  ledger.rename_target("claim", "node");
  ledger.rename_target("node", "node");
  EXPECT_THAT(on(ledger, "claim"), IsEmpty());
  EXPECT_THAT(on(ledger, "node"), ElementsAre("1 b", "4 a")) << "a node's add up";
  EXPECT_THAT(ledger.view()->targets_of(group("a")), ElementsAre("node"));
}

TEST(Ledger, ReturnsWhatExpiresAndKeepsTheRest) {
  Ledger ledger;
  ledger.reserve_all({room("a", "x", 2, 10), room("b", "x", 1, 20), room("c", "y", 1, 10)});
  EXPECT_THAT(ledger.expire(at(9)), IsEmpty());
  EXPECT_THAT(ledger.expire(at(10)), ElementsAre(room("a", "x", 2, 10), room("c", "y", 1, 10)));
  EXPECT_THAT(ledger.expire(at(10)), IsEmpty());
  ledger.set_end("x", at(40));
  EXPECT_THAT(ledger.expire(at(39)), IsEmpty());
  EXPECT_THAT(ledger.expire(at(40)), ElementsAre(room("b", "x", 1, 40)));
}

TEST(Ledger, ABuffersRoomHasNoEndInTheNodesStart) {
  Ledger ledger;
  ledger.reserve_all({of_buffer("a", "x", 1), room("b", "x", 1)});
  ledger.set_end("x", at(10));
  EXPECT_THAT(ledger.expire(at(10)), ElementsAre(room("b", "x", 1, 10)));
  EXPECT_THAT(on(ledger, "x"), ElementsAre("1 a/*"));
}

TEST(Ledger, TheSummaryIsThatOfTheList) {
  Reservation a = room("a", "x", 3, 20);
  a.priority = 5;
  Reservation b = room("b", "x", 1, 90);
  b.priority = -2;
  Ledger ledger;
  ledger.reserve_all({a, b});
  const auto summary = ledger.view()->by_target.find("x")->second.summary();
  EXPECT_EQ(model::to_string(summary.requests), "{cpu: 400m, pods: 4}");
  EXPECT_EQ(summary.lowest_priority, -2);
  EXPECT_EQ(summary.earliest_end, at(20));
  EXPECT_FALSE(summary.any_whole_owner);
  ledger.reserve(of_buffer("c", "x", 1));
  EXPECT_TRUE(ledger.view()->by_target.find("x")->second.summary().any_whole_owner);
}

TEST(Ledger, KeepsFencesUntilTheyAreLifted) {
  Ledger ledger;
  ledger.fence({"n1", "Empty", at(1)});
  ledger.fence({"n1", "Drifted", at(2)});
  ASSERT_EQ(ledger.view()->fences_by_node.size(), 1U);
  EXPECT_EQ(ledger.view()->fences_by_node.find("n1")->second.reason, "Drifted");
  ledger.unfence("n1");
  ledger.unfence("n1");
  EXPECT_TRUE(ledger.view()->fences_by_node.empty());
}

TEST(Ledger, AViewNeverChangesAndIsSharedWhileNothingHappens) {
  Ledger ledger;
  ledger.reserve(room("a", "x", 1, 10));
  const LedgerViewPtr before = ledger.view();
  EXPECT_EQ(ledger.view(), before);
  ledger.lower(group("b"), "x", 1);
  ledger.set_end("x", at(10));
  ledger.set_reservation(room("a", "x", 1, 10));
  bind(ledger, "a", "y");
  EXPECT_EQ(ledger.view(), before);
  ledger.reserve(room("b", "x", 1, 10));
  ledger.fence({"n", "Empty", at(0)});
  EXPECT_EQ(before->by_target.find("x")->second.size(), 1U);
  EXPECT_TRUE(before->fences_by_node.empty());
  EXPECT_GT(ledger.view()->generation, before->generation);
}

TEST(Ledger, AMirrorTeachesWhatIsNotKnownOnce) {
  Ledger ledger;
  ledger.adopt_reservations("c", {room("a", "elsewhere", 2), room("b", "c", 1)});
  EXPECT_THAT(on(ledger, "c"), ElementsAre("1 b", "2 a"));
  EXPECT_EQ(ledger.view()->find(group("a"), "c")->target, "c");
  ledger.lower(group("a"), "c", 1);
  ledger.adopt_reservations("c", {room("b", "c", 4)});
  EXPECT_THAT(on(ledger, "c"), ElementsAre("1 a", "1 b")) << "it tells of the claim's beginning";
  ledger.rename_target("c", "n");
  ledger.adopt_reservations("n", {});
  EXPECT_THAT(on(ledger, "n"), ElementsAre("1 a", "1 b"));
  ledger.forget_target("n");
  ledger.adopt_reservations("n", {room("b", "n", 3)});
  EXPECT_THAT(on(ledger, "n"), ElementsAre("3 b")) << "another one of the name";
}

TEST(Ledger, MirrorsDoNotOverruleWhatThisProcessDecided) {
  using Decide = void (*)(Ledger&);
  const std::tuple<const char*, Decide, std::vector<std::string>> cases[] = {
      {"reserved", [](Ledger& l) { l.reserve(room("a", "n", 2)); }, {"2 a"}},
      {"set", [](Ledger& l) { l.set_reservation(room("a", "n", 2)); }, {"2 a"}},
      {"ended by setting", [](Ledger& l) { l.set_reservation(room("a", "n", 0)); }, {}},
      {"added to what a mirror told",
       [](Ledger& l) {
         l.adopt_reservations("n", {room("a", "n", 1)});
         l.reserve(room("a", "n", 1));
       },
       {"2 a"}},
      {"used by a pod",
       [](Ledger& l) {
         l.reserve(room("a", "n", 2));
         bind(l, "a", "n");
       },
       {"1 a"}},
      {"expired",
       [](Ledger& l) {
         l.reserve(room("a", "n", 2, 5));
         l.expire(at(5));
       },
       {}},
      {"released",
       [](Ledger& l) {
         l.reserve(room("a", "n", 2));
         l.release_target("n");
       },
       {}},
      {"reserved on the claim",
       [](Ledger& l) {
         l.reserve(room("a", "claim", 2));
         l.rename_target("claim", "n");
       },
       {"2 a"}},
      // All of it was surplus before the claim had its node.
      {"reserved on the claim and freed",
       [](Ledger& l) {
         l.reserve(room("a", "claim", 2));
         l.lower(group("a"), "claim", 2);
         l.rename_target("claim", "n");
       },
       {}},
  };
  for (const auto& [what, decide, expected] : cases) {
    Ledger ledger;
    decide(ledger);
    ledger.adopt_reservations("n", {room("a", "n", 9), room("b", "n", 9)});
    EXPECT_EQ(on(ledger, "n"), expected) << what;
    ledger.adopt_reservations("n", {});
    EXPECT_EQ(on(ledger, "n"), expected) << what;
    // Another object of the name.
    ledger.forget_target("n");
    EXPECT_THAT(on(ledger, "n"), IsEmpty()) << what;
    ledger.adopt_reservations("n", {room("b", "n", 1)});
    EXPECT_THAT(on(ledger, "n"), ElementsAre("1 b")) << what;
  }
}

TEST(Ledger, MirroredFencesFollowTheirObjectAndLiftedOnesStayLifted) {
  Ledger ledger;
  const Fence mirrored{"n1", "Empty", at(5)};
  ledger.adopt_fence("c1", "n1", mirrored);
  EXPECT_EQ(ledger.view()->fences_by_node.find("n1")->second, mirrored);
  ledger.adopt_fence("c1", "n1", std::nullopt);
  EXPECT_TRUE(ledger.view()->fences_by_node.empty());

  ledger.fence({"n1", "Drifted", at(7)});
  ledger.adopt_fence("c1", "n1", std::nullopt);
  ledger.adopt_fence("c1", "n1", mirrored);
  EXPECT_EQ(ledger.view()->fences_by_node.find("n1")->second.reason, "Drifted");

  ledger.unfence("n1");
  ledger.adopt_fence("c1", "n1", Fence{"n1", "Drifted", at(7)});
  EXPECT_TRUE(ledger.view()->fences_by_node.empty());
  ledger.adopt_fence("c1", "n1", Fence{"n1", "Drifted", at(8)});
  EXPECT_EQ(ledger.view()->fences_by_node.size(), 1U);
}

TEST(Ledger, IndexesAgreeAfterAnySequenceOfCalls) {
  const bool held = rc::check([] {
    Ledger ledger;
    const auto steps =
        *rc::gen::arbitrary<std::vector<std::tuple<std::uint8_t, std::uint8_t, std::uint8_t>>>();
    for (const auto& [kind, owner, target] : steps) {
      const std::string set = std::to_string(owner % 6);
      const std::string name = "t" + std::to_string(target % 4);
      const Reservation some = room(set, name, owner % 3, target % 20);
      switch (kind % 10) {
        case 0:
          ledger.lower(group(set), name, target % 3);
          break;
        case 1:
          ledger.release_target(name);
          break;
        case 2:
          ledger.rename_target(name, "t" + std::to_string(owner % 4));
          break;
        case 3:
          ledger.expire(at(owner % 20));
          break;
        case 4:
          ledger.adopt_reservations(name, {some, some});
          break;
        case 5:
          ledger.set_reservation(some);
          break;
        case 6:
          bind(ledger, set, name);
          break;
        case 7:
          ledger.forget_target(name);
          break;
        default:
          ledger.reserve(some);
      }
      const LedgerViewPtr view = ledger.view();
      std::size_t listed = 0;
      for (const auto& [key, list] : view->by_target) {
        RC_ASSERT(!list.empty());
        for (const Reservation& each : list) {
          RC_ASSERT(each.target == key);
          RC_ASSERT(each.count > 0);
          RC_ASSERT(view->find(each.group, key) == &each);
          const auto& targets = view->targets_of(each.group);
          RC_ASSERT(std::count(targets.begin(), targets.end(), key) == 1);
          ++listed;
        }
      }
      std::size_t indexed = 0;
      for (const auto& [text, targets] : view->targets_by_group) {
        RC_ASSERT(!targets.empty() && std::is_sorted(targets.begin(), targets.end()));
        indexed += targets.size();
      }
      RC_ASSERT(listed == indexed);
    }
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace millwright::cluster
