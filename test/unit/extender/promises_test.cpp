// What must hold whatever happens: reserved room is there when its pods come, unknown nodes are
// left alone, and no pod lands on a node after its fence unseen.
#include "unit/extender/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <atomic>
#include <barrier>
#include <thread>

namespace millwright::extender {
namespace {

using testing::at;
using testing::names_request;
using testing::NodeBuilder;
using testing::passing;
using testing::PodBuilder;
using testing::refusals;
using testing::World;

// It may be the node of a claim that keeps room for the pod.
TEST(ExtenderPromises, AnUnknownNodeIsNotRefusedToAPodWithRoomOnNoKnownNode) {
  const bool held = rc::check([](const std::vector<std::uint8_t>& plan) {
    World world;
    world.add_young_node("known", 1000, 0);
    for (const std::uint8_t step : plan) {
      const std::string pod = "p" + std::to_string(step % 5);
      world.keep(PodBuilder(pod).requests(900), step % 2 == 0 && step % 5 != 0 ? "known" : "ghost",
                 step);
    }
    const auto reply = world.extender().filter(
        names_request(PodBuilder("p0").requests(900).value(), {"known", "ghost", "other"}));
    RC_ASSERT(!refusals(reply).contains("ghost"));
    RC_ASSERT(!refusals(reply).contains("other"));
  });
  EXPECT_TRUE(held);
}

// A kube-scheduler that binds one pod after another and tells Millwright late.
TEST(ExtenderPromises, ReservedRoomIsNeverGivenAwayWhenAttemptsAreSerial) {
  const bool held = rc::check([] {
    World world;
    constexpr std::int64_t kNode = 1000;
    constexpr int kNodes = 3;
    std::map<std::string, std::int64_t> used;
    std::map<std::string, std::int64_t> kept;
    std::vector<std::string> names;
    for (int i = 0; i < kNodes; ++i) {
      names.push_back("n" + std::to_string(i));
      world.add_young_node(names.back(), kNode, 0);
      const auto percent = *rc::gen::inRange<std::int64_t>(0, 100);
      kept[names.back()] = percent * kNode / 100;
      world.keep(PodBuilder("planned" + names.back()).requests(kept[names.back()]), names.back(),
                 60);
    }
    const auto extender = world.extender();
    std::vector<std::shared_ptr<const model::Pod>> unseen;
    const auto sizes = *rc::gen::container<std::vector<int>>(rc::gen::inRange(10, 500));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::int64_t size = sizes[i];
      PodBuilder builder("stray" + std::to_string(i));
      builder.requests(size);
      // The in-tree filters know every binding; reservations are nothing to them.
      std::vector<std::string> candidates;
      for (const std::string& name : names) {
        if (used[name] + size <= kNode) {
          candidates.push_back(name);
        }
      }
      const auto chosen = passing(extender.filter(names_request(builder.value(), candidates)));
      if (!chosen.empty()) {
        const std::string& node = chosen[i % chosen.size()];
        used[node] += size;
        RC_ASSERT(used[node] + kept[node] <= kNode);
        unseen.push_back(builder.on(node).build());
      }
      while (unseen.size() > static_cast<std::size_t>(size % 4)) {
        world.state.upsert(unseen.front());
        unseen.erase(unseen.begin());
        world.state.snapshot();
      }
    }
  });
  EXPECT_TRUE(held);
}

TEST(ExtenderPromises, AnAttemptSeesTheFenceOrTheFenceSeesTheAttempt) {
  World world;
  world.add_young_node("n", 1000, 0);
  world.add_young_node("m", 1000, 0);
  const auto extender = world.extender();
  constexpr int kRounds = 400;
  std::vector<std::string> requests;
  for (int i = 0; i < kRounds; ++i) {
    requests.push_back(names_request(PodBuilder("p" + std::to_string(i)).value(), {"m", "n"}));
  }
  std::vector<char> passed(kRounds, 0);
  std::vector<char> seen(kRounds, 0);
  std::barrier round(2);
  std::thread scheduler([&] {
    for (int i = 0; i < kRounds; ++i) {
      round.arrive_and_wait();
      const auto reply = extender.filter(requests[static_cast<std::size_t>(i)]);
      passed[static_cast<std::size_t>(i)] = passing(reply).size() == 2 ? 1 : 0;
      round.arrive_and_wait();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    round.arrive_and_wait();
    world.ledger.fence({"n", "Empty", at(i)});
    const auto doubtful = world.ledger.in_doubt("n", world.now);
    seen[static_cast<std::size_t>(i)] =
        std::count(doubtful.begin(), doubtful.end(), "uid-p" + std::to_string(i)) > 0 ? 1 : 0;
    round.arrive_and_wait();
    world.ledger.unfence("n");
    world.ledger.end_attempt("uid-p" + std::to_string(i));
  }
  scheduler.join();
  for (int i = 0; i < kRounds; ++i) {
    const auto at_round = static_cast<std::size_t>(i);
    EXPECT_TRUE(passed[at_round] == 0 || seen[at_round] == 1) << i;
  }
}

// The same at every point where the two can meet, one after the other.
TEST(ExtenderPromises, AFenceInTheMiddleOfAnAttemptIsSeenOrSeesIt) {
  for (int moment = 0; moment < 4; ++moment) {
    World world;
    world.add_young_node("n", 1000, 0);
    world.state.snapshot();
    int looks = 0;
    bool fenced = false;
    bool seen = false;
    const Extender extender({.sight =
                                 [&] {
                                   if (looks++ == moment) {
                                     world.ledger.fence({"n", "Empty", at(0)});
                                     seen = !world.ledger.in_doubt("n", at(0)).empty();
                                     fenced = true;
                                   }
                                   return world.state.sight();
                                 },
                             .ledger = &world.ledger,
                             .now = [] { return at(0); },
                             .on_refused = {},
                             .can_be_bought = {},
                             .on_spared = {},
                             .on_problem = {},
                             .metrics = nullptr},
                            Policy{});
    const auto reply = extender.filter(names_request(PodBuilder("p").value(), {"n"}));
    EXPECT_TRUE(!fenced || passing(reply).empty() || seen) << moment;
    EXPECT_EQ(fenced, moment < looks);
    EXPECT_GE(looks, 2);
  }
}

// Whenever the loop sees a binding: the pod is on its way, or on the node, in every answer.
TEST(ExtenderPromises, ABindingInTheMiddleOfAnAttemptIsNeverMissed) {
  for (int moment = 0; moment < 3; ++moment) {
    World world;
    world.add_young_node("n", 1000, 0);
    world.keep(PodBuilder("planned").requests(500), "n", 60);
    const auto first = PodBuilder("first").requests(300);
    world.state.upsert(first.build());
    world.state.snapshot();
    world.ledger.attempted(testing::pass_of(first.value(), {"n"}, 0));
    int looks = 0;
    const Extender extender({.sight =
                                 [&] {
                                   const auto sight = world.state.sight();
                                   if (looks++ == moment) {
                                     world.state.upsert(PodBuilder(first).on("n").build());
                                     world.state.snapshot();
                                   }
                                   return sight;
                                 },
                             .ledger = &world.ledger,
                             .now = [] { return at(0); },
                             .on_refused = {},
                             .can_be_bought = {},
                             .on_spared = {},
                             .on_problem = {},
                             .metrics = nullptr},
                            Policy{});
    const auto reply =
        extender.filter(names_request(PodBuilder("stray").requests(300).value(), {"n"}));
    EXPECT_EQ(refusals(reply).count("n"), 1U) << moment;
  }
}

TEST(ExtenderPromises, AnswersOnManyThreadsWhileTheLoopChangesEverything) {
  World world;
  world.refused.clear();
  world.state.snapshot();
  const Extender extender({.sight = [&] { return world.state.sight(); },
                           .ledger = &world.ledger,
                           .now = [&] { return at(0); },
                           .on_refused = {},
                           .can_be_bought = {},
                           .on_spared = {},
                           .on_problem = {},
                           .metrics = &world.metrics},
                          Policy{});
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) {
    names.push_back("n" + std::to_string(i));
  }
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      const std::string request =
          names_request(PodBuilder("p" + std::to_string(t)).requests(300).value(), names);
      while (!done) {
        const auto reply = extender.filter(request);
        wrong +=
            reply.status == 200 && passing(reply).size() + refusals(reply).size() == names.size()
                ? 0
                : 1;
        wrong += extender.prioritize(request).status == 200 ? 0 : 1;
      }
    });
  }
  for (int i = 0; i < 300; ++i) {
    const std::string name = "n" + std::to_string(i % 20);
    world.add_young_node(name, 1000, 0);
    world.keep(PodBuilder("q" + std::to_string(i % 7)).requests(800), name, 60);
    world.state.snapshot();
    if (i % 5 == 0) {
      world.state.remove<model::Node>({"", name});
    }
  }
  done = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
}

TEST(ExtenderPromises, AnyBytesGetAnAnswer) {
  World world;
  world.add_young_node("n", 1000, 0);
  const auto extender = world.extender();
  const std::string good = names_request(PodBuilder("p").value(), {"n", "m"});
  const bool held = rc::check([&](const std::vector<std::pair<std::uint16_t, char>>& edits) {
    std::string body = good;
    for (const auto& [place, byte] : edits) {
      body[place % body.size()] = byte;
    }
    for (const auto& reply :
         {extender.filter(body), extender.prioritize(body), extender.preempt(body)}) {
      RC_ASSERT(reply.status == 200 || reply.status == 400);
      RC_ASSERT(!reply.body.empty());
    }
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace millwright::extender
