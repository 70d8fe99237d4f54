// The most valuable pods for one machine, beside every fill there is; and the machines on sale.
#include "scheduling/search/program/fill_pricing.hpp"

#include "search_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace millwright::scheduling::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr std::size_t kPlentyToPrice = 1'000'000;
const MachineOf kHugeBin{1000, 1000, 1000, 1};

// The machine with the lots as its users.
SoldMachine machine_for(const ById<LotId, Lot>& lots, const Amounts& room) {
  SoldMachine machine{.room = &room};
  for (LotId lot; lot < lots.end_id(); ++lot) {
    if (fits(*lots[lot].requests, room)) {
      machine.users.push_back(lot);
    }
  }
  return machine;
}

struct PricingCase {
  const char* name;
  MachineOf machine;
  std::vector<LotOf> lots;  // `pods`: how many the machine may have
  std::vector<double> values;
  double least;
  std::vector<LotOf> best;  // those of `lots` with their numbers
};

TEST(FillPricing, FindsTheMostValuablePods) {
  const std::vector<PricingCase> cases = {
      {"as many as there is room for", {4, 8, 10}, {{1, 1, 9}}, {1}, 0, {{1, 1, 4}}},
      {"no more than may be", {4, 8, 10}, {{1, 1, 2}}, {1}, 0, {{1, 1, 2}}},
      {"no more pods than the machine takes", {8, 8, 3}, {{1, 1, 9}}, {1}, 0, {{1, 1, 3}}},
      {"two small ones rather than a big one",
       {4, 8, 10},
       {{3, 1, 9}, {2, 1, 9}},
       {3.5, 2},
       0,
       {{2, 1, 2}}},
      {"the corner: what is heavy in memory with what is heavy in CPU",
       {4, 16, 10},
       {{3, 1, 9}, {1, 15, 9}, {2, 8, 9}},
       {2, 2.5, 2},
       0,
       {{3, 1, 1}, {1, 15, 1}}},
      {"nothing that is worth nothing", {4, 8, 10}, {{1, 1, 9}, {1, 2, 9}}, {0, 0}, 0, {}},
      {"nothing worth no more than the least", {4, 8, 10}, {{1, 1, 9}}, {1}, 4, {}},
      {"what takes only a slot",
       {2, 2, 6},
       {{1, 1, 9}, {0, 0, 3}},
       {1, 0.1},
       0,
       {{1, 1, 2}, {0, 0, 3}}},
      {"too large for it", {2, 2, 6}, {{3, 1, 9}}, {1}, 0, {}},
  };
  for (const PricingCase& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<LotOf> one_each = c.lots;
    std::for_each(one_each.begin(), one_each.end(), [](LotOf& lot) { lot.pods = 1; });
    SearchWorld world(world_of({kHugeBin}, one_each));
    const auto id_of = [&](const LotOf& lot) {
      const Amounts requests = world.room({lot.cpu, lot.memory, 1, 0});
      const auto found = std::find_if(world.all().begin(), world.all().end(),
                                      [&](const Lot& l) { return *l.requests == requests; });
      return LotId(static_cast<std::size_t>(found - world.all().begin()));
    };
    ById<LotId, double> values(world.all().size());
    ById<LotId, std::size_t> most(world.all().size());
    for (std::size_t i = 0; i < c.lots.size(); ++i) {
      ASSERT_LT(id_of(c.lots[i]), world.all().end_id());
      values[id_of(c.lots[i])] = c.values[i];
      most[id_of(c.lots[i])] = static_cast<std::size_t>(c.lots[i].pods);
    }
    FillPods expected;
    for (const LotOf& lot : c.best) {
      expected.emplace_back(id_of(lot), static_cast<std::uint32_t>(lot.pods));
    }
    std::sort(expected.begin(), expected.end());
    const Amounts room = world.room(c.machine);
    const std::vector<SoldMachine> machines = {machine_for(world.all(), room)};
    FillPricing pricing(world.lots(), machines, most);
    std::size_t work = kPlentyToPrice;
    EXPECT_EQ(pricing.find(0, values, c.least, work), expected);
    EXPECT_EQ(work < kPlentyToPrice, !machines.front().users.empty());
  }
}

std::vector<LotOf> random_lots(int most_lots) {
  const int count = *rc::gen::inRange(1, most_lots + 1);
  std::vector<LotOf> lots;
  for (int i = 0; i < count; ++i) {
    lots.push_back({*rc::gen::inRange(0, 8), *rc::gen::inRange(0, 8), 1});
  }
  return lots;
}

// What the search gives away on purpose: a fill that could be better by less is as good.
constexpr double kCloseEnough = 1.0005;

RC_GTEST_PROP(FillPricingProperty, OnSmallMachinesNoFillIsBetter, ()) {
  SearchWorld world(world_of({kHugeBin}, random_lots(4)));
  const std::size_t lots = world.all().size();
  const Amounts room =
      world.room({*rc::gen::inRange(1, 16), *rc::gen::inRange(1, 16), *rc::gen::inRange(1, 10), 1});
  ById<LotId, double> values;
  ById<LotId, std::size_t> most;
  for (std::size_t lot = 0; lot < lots; ++lot) {
    values.push_back(*rc::gen::inRange(0, 100) / 10.0);
    most.push_back(*rc::gen::inRange<std::size_t>(0, 6));
  }
  const double least = *rc::gen::inRange(0, 200) / 10.0;
  const std::vector<SoldMachine> machines = {machine_for(world.all(), room)};
  FillPricing pricing(world.lots(), machines, most);
  double optimum = 0;
  for_each_fill(world.all(), most, room,
                [&](const FillPods& pods) { optimum = std::max(optimum, value_of(pods, values)); });
  // The weights that told most are remembered: the second search begins with others.
  for (int time = 0; time < 2; ++time) {
    std::size_t work = *rc::gen::inRange<std::size_t>(0, 2000);
    const std::size_t before = work;
    const FillPods found = pricing.find(0, values, least, work);
    RC_ASSERT(work <= before);
    RC_ASSERT(fits(requests_of(found, world.all(), room.size()), room));
    RC_ASSERT(std::is_sorted(found.begin(), found.end()));
    std::set<LotId> seen;
    for (const auto& [lot, count] : found) {
      RC_ASSERT(count > 0U);
      RC_ASSERT(count <= most[lot]);
      RC_ASSERT(seen.insert(lot).second);
    }
    const double value = value_of(found, values);
    RC_ASSERT(found.empty() || value > least);
    RC_ASSERT(std::max(value, least) * kCloseEnough + 1e-9 >= optimum);
  }
}

RC_GTEST_PROP(FillPricingProperty, LargeMachinesAreNeverFilledBeyondTheirRoom, ()) {
  SearchWorld world(world_of({kHugeBin}, random_lots(20)));
  const std::size_t lots = world.all().size();
  const Amounts room = world.room(
      {*rc::gen::inRange(1, 200), *rc::gen::inRange(1, 200), *rc::gen::inRange(1, 200), 1});
  ById<LotId, double> values;
  ById<LotId, std::size_t> most;
  for (std::size_t lot = 0; lot < lots; ++lot) {
    values.push_back(*rc::gen::inRange(0, 1000) / 100.0);
    most.push_back(*rc::gen::inRange<std::size_t>(0, 400));
  }
  const std::vector<SoldMachine> machines = {machine_for(world.all(), room)};
  FillPricing pricing(world.lots(), machines, most);
  std::size_t work = kPlentyToPrice;
  const FillPods found = pricing.find(0, values, 0, work);
  RC_ASSERT(fits(requests_of(found, world.all(), room.size()), room));
  for (const auto& [lot, count] : found) {
    RC_ASSERT(count <= most[lot]);
  }
}

std::vector<std::pair<double, std::size_t>> prices_and_users(
    const std::vector<SoldMachine>& machines) {
  std::vector<std::pair<double, std::size_t>> result;
  for (const SoldMachine& machine : machines) {
    result.emplace_back(machine.price, machine.users.size());
  }
  return result;
}

TEST(MachinesFor, WhatCostsAsMuchAsALargerOneIsOfNoUse) {
  SearchWorld world(world_of({{4, 8, 10, 1}, {4, 4, 10, 1}, {4, 4, 10, 1.5}, {2, 4, 10, 0.5}},
                             {{1, 1, 3}, {3, 3, 3}}));
  EXPECT_THAT(prices_and_users(world.machines()), ElementsAre(Pair(0.5, 1U), Pair(1.0, 2U)));
}

TEST(MachinesFor, MachinesTooSmallForEverybodyAreLeftOut) {
  SearchWorld world(world_of({{1, 1, 10, 0.1}, {4, 8, 10, 1}}, {{3, 3, 3}}));
  EXPECT_THAT(prices_and_users(world.machines()), ElementsAre(Pair(1.0, 1U)));
}

TEST(MachinesFor, WhoMustBeOnDemandDoesNotUseSpot) {
  ProblemBuilder problem;
  problem.add(pool("default"), types({type("one")
                                          .cpu("8")
                                          .memory("8Gi")
                                          .max_pods("10")
                                          .no_overhead()
                                          .sold(std::vector<std::pair<std::string, std::string>>{})
                                          .sold(offering("test-zone-1", "spot", 0.4))
                                          .sold(offering("test-zone-1", "on-demand", 1))}));
  problem.add(pods(2, "any", pod("any").cpu("1").memory("1Gi")));
  problem.add(
      pods(2, "firm",
           pod("firm").cpu("2").memory("1Gi").selects(model::kCapacityTypeLabel, "on-demand")));
  SearchWorld world(problem);
  EXPECT_THAT(prices_and_users(world.machines()),
              ::testing::UnorderedElementsAre(Pair(0.4, 1U), Pair(1.0, 2U)));
}

}  // namespace
}  // namespace millwright::scheduling::testing
