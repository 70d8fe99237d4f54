// Column generation finds the optimum of the linear program over every fill there is.
#include "scheduling/search/program/column_generation.hpp"

#include "linear_programs.hpp"
#include "search_world.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace millwright::scheduling::testing {
namespace {

constexpr int kAllRounds = 1'000;

PodBuilder apart_from_its_like(PodBuilder builder, const std::string& app) {
  return builder.label("app", app).with([&](model::Pod& p) {
    p.spec.affinity.required_pod_anti_affinity.push_back(
        {.label_selector = model::LabelSelector{.match_labels = {{"app", app}}},
         .topology_key = std::string(model::kHostnameLabel)});
  });
}

ById<LotId, std::size_t> pods_of(const ById<LotId, Lot>& lots) {
  ById<LotId, std::size_t> pods;
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
double least_price(const ById<LotId, Lot>& lots, const std::vector<SoldMachine>& machines,
                   const ById<LotId, std::size_t>& most) {
  ById<LotId, double> alone(lots.size(), INFINITY);
  for (const SoldMachine& machine : machines) {
    for (const LotId lot : machine.users) {
      alone[lot] = std::min(alone[lot], machine.price);
    }
  }
  LinearProgram program{{{}, alone}, {}};
  for (const std::size_t pods : pods_of(lots)) {
    program.rows.demand.push_back(static_cast<double>(pods));
  }
  for (const SoldMachine& machine : machines) {
    for_each_fill(lots, most, *machine.room, [&](const FillPods& pods) {
      if (!pods.empty()) {
        Column& column = program.columns.emplace_back(Column{machine.price, {}});
        for (const auto& [lot, count] : pods) {
          column.entries.push_back({lot.index(), static_cast<double>(count)});
        }
      }
    });
  }
  return solved(program.simplex()).objective();
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

void assert_fills_are_sound(const ColumnGeneration& generation, const ById<LotId, Lot>& lots,
                            const std::vector<SoldMachine>& machines,
                            const ById<LotId, std::size_t>& most) {
  ById<LotId, double> bought(lots.size(), 0);
  for (std::size_t i = 0; i < generation.fills().size(); ++i) {
    const Fill& fill = generation.fills()[i];
    const SoldMachine& machine = machine_of(machines, fill);
    RC_ASSERT(fits(requests_of(fill.pods, lots, machine.room->size()), *machine.room));
    for (const auto& [lot, count] : fill.pods) {
      RC_ASSERT(count <= most[lot]);
      bought[lot] += generation.amounts()[i] * count;
    }
  }
  for (LotId lot; lot < lots.end_id(); ++lot) {
    RC_ASSERT(bought[lot] >= static_cast<double>(lots[lot].left) - 1e-6);
  }
}

RC_GTEST_PROP(ColumnGenerationProperty, ComesToWhatAllFillsTogetherWouldComeTo, ()) {
  SearchWorld world(random_world());
  const auto machines = world.machines();
  ById<LotId, std::size_t> most;
  for (const Lot& lot : world.all()) {
    most.push_back(lot.exclusive ? 1 : lot.left);
  }
  ColumnGeneration generation(world.lots(), machines);
  std::size_t work = kUnlimitedWork;
  RC_ASSERT(generation.run(kAllRounds, work));
  assert_fills_are_sound(generation, world.all(), machines, most);
  const double least = least_price(world.all(), machines, most);
  RC_ASSERT(generation.price() >= least * (1 - 1e-6));
  RC_ASSERT(generation.price() <= least * 1.001);
  // Who begins with what has been found has nothing left to find.
  ColumnGeneration again(world.lots(), machines);
  again.begin_with_known(generation.worth_keeping());
  RC_ASSERT(again.run(0, work));
  RC_ASSERT(std::abs(again.price() - generation.price()) <= 1e-6 * generation.price());
}

RC_GTEST_PROP(ColumnGenerationProperty, CoversThePodsHoweverLittleWorkItMayDo, ()) {
  SearchWorld world(random_world());
  const auto machines = world.machines();
  ColumnGeneration generation(world.lots(), machines);
  std::size_t work = *rc::gen::inRange<std::size_t>(0, 200);
  RC_ASSERT(generation.run(4, work));
  assert_fills_are_sound(generation, world.all(), machines, pods_of(world.all()));
}

TEST(ColumnGeneration, ThereMustBeAMachineForEveryPod) {
  SearchWorld world(world_of({{4, 4, 10, 1}}, {{1, 1, 3}}));
  ColumnGeneration generation(world.lots(), {});
  std::size_t work = kUnlimitedWork;
  EXPECT_FALSE(generation.run(4, work));
}

TEST(ColumnGeneration, LotsWithoutPodsNeedNothing) {
  SearchWorld world(world_of({{4, 4, 10, 1}}, {{1, 1, 4}, {2, 2, 1}}));
  Lot& gone = world.lots().lots().front();
  world.lots().remove_last(gone, world.lots().items()[gone.items.front()]);
  const auto machines = world.machines();
  ColumnGeneration generation(world.lots(), machines);
  std::size_t work = kUnlimitedWork;
  ASSERT_TRUE(generation.run(4, work));
  EXPECT_NEAR(generation.price(), 1, 1e-9);
}

TEST(ColumnGeneration, AFillFromBeforeIsCutDownToThePodsThatAreLeft) {
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
    ColumnGeneration generation(world.lots(), machines);
    generation.begin_with_known({{large->row, large->price, {{LotId(0), c.pods}}}});
    std::size_t work = kUnlimitedWork;
    ASSERT_TRUE(generation.run(0, work));
    const auto is_cut = [&](const Fill& fill) {
      return fill.price == c.price &&
             fill.pods == FillPods{{LotId(0), static_cast<std::uint32_t>(c.left)}};
    };
    EXPECT_TRUE(std::any_of(generation.fills().begin(), generation.fills().end(), is_cut));
    EXPECT_NEAR(generation.price(), c.price, 1e-9);
  }
}

TEST(ColumnGeneration, PodsThatMustBeApartAreNeverInOneFill) {
  ProblemBuilder problem;
  problem.add(pool("default"), types_of({{8, 8, 10, 1}}));
  problem.add(pods(3, "apart", apart_from_its_like(pod_of("apart", {1, 1}), "apart")));
  SearchWorld world(problem);
  const auto machines = world.machines();
  ColumnGeneration generation(world.lots(), machines);
  std::size_t work = kUnlimitedWork;
  ASSERT_TRUE(generation.run(4, work));
  EXPECT_NEAR(generation.price(), 3, 1e-9);
}

// By node: how much of it the optimum fills, with pods or with nothing.
std::vector<double> amounts_on_nodes(const ColumnGeneration& generation, std::size_t nodes) {
  std::vector<double> result(nodes, 0);
  for (std::size_t i = 0; i < generation.fills().size(); ++i) {
    if (const auto node = generation.fills()[i].node) {
      result[*node] += generation.amounts()[i];
    }
  }
  return result;
}

// Pods of one CPU cost as much whatever memory they take, so nodes with little memory take the most
// of those that want little.
TEST(ColumnGeneration, NodesTakeThePodsThatSaveMost) {
  SearchWorld world(world_of({{4, 16, 20, 1}}, {{1, 1, 20}, {1, 4, 16}}));
  const auto market = world.machines();
  const std::vector<Amounts> rooms(2, world.room({8, 9, 20}));
  const auto nodes = nodes_of(world, rooms);
  ColumnGeneration generation(world.lots(), market, nodes);
  std::size_t work = kUnlimitedWork;
  ASSERT_TRUE(generation.run(kPatience, work));
  for (std::size_t i = 0; i < generation.fills().size(); ++i) {
    const Fill& fill = generation.fills()[i];
    if (!fill.node || generation.amounts()[i] < 1e-6) {
      continue;
    }
    EXPECT_NEAR(generation.amounts()[i], 1, 1e-6);
    ASSERT_EQ(fill.pods.size(), 1U);
    EXPECT_EQ(*world.all()[fill.pods.front().first].requests, world.room({1, 1, 1}));
    EXPECT_EQ(fill.pods.front().second, 8U);
  }
  for (const double price : generation.dual_prices()) {
    EXPECT_NEAR(price, 0.25, 1e-6);
  }
}

TEST(ColumnGeneration, ANodeIsFilledOnceHoweverGoodItsRoomIs) {
  SearchWorld world(world_of({{4, 4, 20, 1}}, {{1, 1, 40}, {2, 2, 10}}));
  const auto market = world.machines();
  const std::vector<Amounts> rooms(1, world.room({4, 4, 20}));
  const auto nodes = nodes_of(world, rooms);
  ColumnGeneration generation(world.lots(), market, nodes);
  std::size_t work = kUnlimitedWork;
  ASSERT_TRUE(generation.run(kPatience, work));
  EXPECT_NEAR(amounts_on_nodes(generation, 1).front(), 1, 1e-6);
  for (LotId lot; lot < world.all().end_id(); ++lot) {
    EXPECT_NEAR(generation.dual_prices()[lot], world.all()[lot].least, 1e-6);
  }
}

}  // namespace
}  // namespace millwright::scheduling::testing
