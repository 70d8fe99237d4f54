// Fills for all pods at once (src/scheduling/fill_choice.hpp), beside the linear program over
// every fill there is.
#include "scheduling/fill_choice.hpp"

#include "search_world.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace millwright::scheduling::testing {
namespace {

constexpr std::size_t kPlenty = 1'000'000'000;
constexpr int kAllRounds = 1'000;

PodBuilder apart_from_its_like(PodBuilder builder, const std::string& app) {
  return builder.label("app", app).with([&](model::Pod& p) {
    p.spec.affinity.required_pod_anti_affinity.push_back(
        {.label_selector = model::LabelSelector{.match_labels = {{"app", app}}},
         .topology_key = std::string(model::kHostnameLabel)});
  });
}

std::vector<std::size_t> pods_of(const std::vector<Lot>& lots) {
  std::vector<std::size_t> pods;
  for (const Lot& lot : lots) {
    pods.push_back(lot.left);
  }
  return pods;
}

const SoldMachine& machine_of(const std::vector<SoldMachine>& machines, const Fill& fill) {
  return *std::find_if(machines.begin(), machines.end(), [&](const SoldMachine& machine) {
    return machine.row == fill.row && machine.price == fill.price;
  });
}

// The least price of everything by the fraction: over all fills of all machines.
double least_price(const std::vector<Lot>& lots, const std::vector<SoldMachine>& machines,
                   const std::vector<std::size_t>& most) {
  std::vector<double> alone(lots.size(), INFINITY);
  for (const SoldMachine& machine : machines) {
    for (const std::uint32_t lot : machine.users) {
      alone[lot] = std::min(alone[lot], machine.price);
    }
  }
  FillProgram program(pods_of(lots), alone);
  for (const SoldMachine& machine : machines) {
    for_each_fill(lots, most, *machine.room, [&](const FillPods& pods) {
      if (!pods.empty()) {
        program.add(machine.price, pods);
      }
    });
  }
  std::size_t work = kPlenty;
  program.solve(work);
  return program.price();
}

ProblemBuilder random_world() {
  std::vector<MachineOf> machines;
  const int sizes = *rc::gen::inRange(1, 5);
  for (int i = 0; i < sizes; ++i) {
    machines.push_back({*rc::gen::inRange(1, 9), *rc::gen::inRange(1, 9), *rc::gen::inRange(1, 6),
                        *rc::gen::inRange(1, 100) / 20.0});
  }
  machines.push_back({8, 8, 5, 8});  // nobody is left out
  std::vector<LotOf> lots;
  const int count = *rc::gen::inRange(1, 5);
  for (int i = 0; i < count; ++i) {
    lots.push_back({*rc::gen::inRange(0, 9), *rc::gen::inRange(0, 9), *rc::gen::inRange(1, 7)});
  }
  ProblemBuilder problem = world_of(machines, lots);
  if (const int apart = *rc::gen::inRange(0, 4); apart > 0) {
    problem.add(pods(apart, "apart", apart_from_its_like(pod_of("apart", {2, 1}), "apart")));
  }
  return problem;
}

void assert_fills_are_sound(const FillChoice& choice, const std::vector<Lot>& lots,
                            const std::vector<SoldMachine>& machines,
                            const std::vector<std::size_t>& most) {
  std::vector<double> bought(lots.size(), 0);
  for (std::size_t i = 0; i < choice.fills().size(); ++i) {
    const Fill& fill = choice.fills()[i];
    const SoldMachine& machine = machine_of(machines, fill);
    RC_ASSERT(fits(requests_of(fill.pods, lots, machine.room->size()), *machine.room));
    for (const auto& [lot, count] : fill.pods) {
      RC_ASSERT(count <= most[lot]);
      bought[lot] += choice.shares()[i] * count;
    }
  }
  for (std::size_t lot = 0; lot < lots.size(); ++lot) {
    RC_ASSERT(bought[lot] >= static_cast<double>(lots[lot].left) - 1e-6);
  }
}

RC_GTEST_PROP(FillChoiceProperty, ComesToWhatAllFillsTogetherWouldComeTo, ()) {
  SearchWorld world(random_world());
  const auto machines = world.machines();
  std::vector<std::size_t> most;
  for (const Lot& lot : world.all()) {
    most.push_back(lot.exclusive ? 1 : lot.left);
  }
  FillChoice choice(world.lots(), machines);
  std::set<Fill> known;
  std::size_t work = kPlenty;
  RC_ASSERT(choice.run(known, kAllRounds, work));
  assert_fills_are_sound(choice, world.all(), machines, most);
  const double least = least_price(world.all(), machines, most);
  RC_ASSERT(choice.price() >= least * (1 - 1e-6));
  RC_ASSERT(choice.price() <= least * 1.001);
  // Who begins with what has been found has nothing left to find.
  FillChoice again(world.lots(), machines);
  RC_ASSERT(again.run(known, 0, work));
  RC_ASSERT(std::abs(again.price() - choice.price()) <= 1e-6 * choice.price());
}

RC_GTEST_PROP(FillChoiceProperty, CoversThePodsHoweverLittleWorkItMayDo, ()) {
  SearchWorld world(random_world());
  const auto machines = world.machines();
  FillChoice choice(world.lots(), machines);
  std::set<Fill> known;
  std::size_t work = *rc::gen::inRange<std::size_t>(0, 200);
  RC_ASSERT(choice.run(known, 4, work));
  assert_fills_are_sound(choice, world.all(), machines, pods_of(world.all()));
}

TEST(FillChoice, ThereMustBeAMachineForEveryPod) {
  SearchWorld world(world_of({{4, 4, 10, 1}}, {{1, 1, 3}}));
  FillChoice choice(world.lots(), {});
  std::set<Fill> known;
  std::size_t work = kPlenty;
  EXPECT_FALSE(choice.run(known, 4, work));
}

TEST(FillChoice, LotsWithoutPodsNeedNothing) {
  SearchWorld world(world_of({{4, 4, 10, 1}}, {{1, 1, 4}, {2, 2, 1}}));
  Lot& gone = world.lots().lots().front();
  world.lots().remove_last(gone, world.lots().items()[gone.items.front()]);
  const auto machines = world.machines();
  FillChoice choice(world.lots(), machines);
  std::set<Fill> known;
  std::size_t work = kPlenty;
  ASSERT_TRUE(choice.run(known, 4, work));
  EXPECT_NEAR(choice.price(), 1, 1e-9);
}

TEST(FillChoice, AFillFromBeforeIsCutDownToThePodsThatAreLeft) {
  struct Case {
    const char* name;
    std::uint32_t pods;
    int left;
    double price;
  };
  const std::vector<Case> cases = {
      {"all of its pods are there", 4, 4, 1},
      {"half of them, on a machine half as large", 4, 2, 0.6},
      {"one of them, on the smallest", 4, 1, 0.4},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    SearchWorld world(
        world_of({{4, 4, 10, 1}, {2, 2, 10, 0.6}, {1, 1, 10, 0.4}}, {{1, 1, c.left}}));
    const auto machines = world.machines();
    const auto large = std::find_if(machines.begin(), machines.end(),
                                    [](const SoldMachine& machine) { return machine.price == 1; });
    std::set<Fill> known = {{large->row, large->price, {{0, c.pods}}}};
    FillChoice choice(world.lots(), machines);
    std::size_t work = kPlenty;
    ASSERT_TRUE(choice.run(known, 0, work));
    const auto is_cut = [&](const Fill& fill) {
      return fill.price == c.price &&
             fill.pods == FillPods{{0, static_cast<std::uint32_t>(c.left)}};
    };
    EXPECT_TRUE(std::any_of(choice.fills().begin(), choice.fills().end(), is_cut));
    EXPECT_NEAR(choice.price(), c.price, 1e-9);
  }
}

TEST(FillChoice, PodsThatMustBeApartAreNeverInOneFill) {
  ProblemBuilder problem;
  problem.add(pool("default"), types_of({{8, 8, 10, 1}}));
  problem.add(pods(3, "apart", apart_from_its_like(pod_of("apart", {1, 1}), "apart")));
  SearchWorld world(problem);
  const auto machines = world.machines();
  FillChoice choice(world.lots(), machines);
  std::set<Fill> known;
  std::size_t work = kPlenty;
  ASSERT_TRUE(choice.run(known, 4, work));
  EXPECT_NEAR(choice.price(), 3, 1e-9);
}

}  // namespace
}  // namespace millwright::scheduling::testing
