// The linear program over fills (src/scheduling/fill_program.hpp): an optimum proves itself by
// prices of pods that come to the same, with no fill worth more than it costs.
#include "scheduling/fill_program.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace millwright::scheduling {
namespace {

constexpr std::size_t kPlenty = 1'000'000'000;

double bought(const FillProgram& program) {
  const std::vector<double> shares = program.shares();
  double price = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    price += shares[i] * program.columns()[i].price;
  }
  return price;
}

std::vector<double> pods_bought(const FillProgram& program, std::size_t lots) {
  const std::vector<double> shares = program.shares();
  std::vector<double> pods(lots, 0);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    for (const auto& [lot, count] : program.columns()[i].pods) {
      pods[lot] += shares[i] * count;
    }
  }
  return pods;
}

// The second line is a node, which a fill of it or nothing at all is on.
TEST(FillProgram, BuysNoMoreOfWhatThereMayNotBeTooManyOf) {
  for (const bool exact : {false, true}) {
    FillProgram program({4, 1}, {1.0, 0.5}, exact ? 1 : 0);
    program.add(0.5, {{0, 2}, {1, 1}});
    std::size_t work = kPlenty;
    program.solve(work);
    EXPECT_NEAR(program.price(), exact ? 0.5 + 2 * 1.0 : 2 * 0.5, 1e-9);
    EXPECT_NEAR(pods_bought(program, 2)[1], exact ? 1 : 2, 1e-9);
  }
}

struct Case {
  const char* name;
  std::vector<std::size_t> pods;
  std::vector<double> alone;
  std::vector<FillProgram::Column> fills;
  double price;
  std::vector<double> values;
};

TEST(FillProgram, BuysTheCheapestCombination) {
  const std::vector<Case> cases = {
      {"nothing but machines for one pod each", {3, 2}, {1.0, 2.0}, {}, 7, {1, 2}},
      {"a fill that saves nothing", {4}, {1.0}, {{2.0, {{0, 2}}}}, 4, {1}},
      {"a fill for everything", {4}, {1.0}, {{2.0, {{0, 4}}}}, 2, {0.5}},
      {"parts of fills", {5}, {1.0}, {{1.5, {{0, 2}}}}, 3.75, {0.75}},
      {"two lots on one machine", {2, 4}, {1.0, 1.0}, {{1.5, {{0, 1}, {1, 2}}}}, 3, {}},
      {"more of a lot than there is", {1, 8}, {1.0, 1.0}, {{1.0, {{0, 2}, {1, 2}}}}, 4, {0, 0.5}},
      {"the better of two that overlap",
       {6, 6},
       {1.0, 1.0},
       {{2.0, {{0, 3}, {1, 1}}}, {2.0, {{0, 1}, {1, 3}}}},
       6,
       {0.5, 0.5}},
      {"machines that cost nothing", {3}, {0.0}, {{1.0, {{0, 3}}}}, 0, {0}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    FillProgram program(c.pods, c.alone);
    for (const auto& fill : c.fills) {
      program.add(fill.price, fill.pods);
    }
    std::size_t work = kPlenty;
    program.solve(work);
    EXPECT_NEAR(program.price(), c.price, 1e-9);
    for (std::size_t lot = 0; lot < c.values.size(); ++lot) {
      EXPECT_NEAR(program.value(lot), c.values[lot], 1e-9) << "lot " << lot;
    }
  }
}

TEST(FillProgram, BeginsWithAMachineForEachPod) {
  const FillProgram program({3, 2}, {1.0, 2.5});
  EXPECT_DOUBLE_EQ(program.price(), 8);
  EXPECT_EQ(program.shares(), (std::vector<double>{3, 2}));
}

struct RandomProgram {
  std::vector<std::size_t> pods;
  std::vector<double> alone;
  std::vector<FillProgram::Column> fills;
};

RandomProgram random_program() {
  RandomProgram random;
  const std::size_t lots = *rc::gen::inRange<std::size_t>(1, 9);
  for (std::size_t lot = 0; lot < lots; ++lot) {
    random.pods.push_back(*rc::gen::inRange<std::size_t>(1, 60));
    random.alone.push_back(*rc::gen::inRange(0, 400) / 100.0);
  }
  const int fills = *rc::gen::inRange(0, 30);
  for (int i = 0; i < fills; ++i) {
    FillProgram::Column fill{*rc::gen::inRange(1, 800) / 100.0, {}};
    for (std::uint32_t lot = 0; lot < lots; ++lot) {
      if (const auto count = *rc::gen::inRange<std::uint32_t>(0, 6); count > 0) {
        fill.pods.emplace_back(lot, count);
      }
    }
    random.fills.push_back(std::move(fill));
  }
  return random;
}

void assert_covers(const FillProgram& program, const RandomProgram& random) {
  const std::vector<double> pods = pods_bought(program, random.pods.size());
  for (std::size_t lot = 0; lot < pods.size(); ++lot) {
    RC_ASSERT(pods[lot] >= static_cast<double>(random.pods[lot]) - 1e-6);
  }
  for (const double share : program.shares()) {
    RC_ASSERT(share >= 0);
  }
  RC_ASSERT(std::abs(bought(program) - program.price()) <= 1e-6 * (1 + program.price()));
}

// Duality: prices of pods at which no fill is worth more than it costs, and which come to the price
// of what was bought, prove that nothing cheaper can be bought.
void assert_optimal(const FillProgram& program, const RandomProgram& random) {
  double worth = 0;
  for (std::size_t lot = 0; lot < random.pods.size(); ++lot) {
    RC_ASSERT(program.value(lot) >= -1e-7);
    worth += program.value(lot) * static_cast<double>(random.pods[lot]);
  }
  RC_ASSERT(std::abs(worth - program.price()) <= 1e-6 * (1 + program.price()));
  for (const auto& column : program.columns()) {
    double value = 0;
    for (const auto& [lot, count] : column.pods) {
      value += program.value(lot) * count;
    }
    RC_ASSERT(value <= column.price + 1e-6 * (1 + column.price));
  }
}

RC_GTEST_PROP(FillProgramProperty, ItsPricesProveTheOptimum, ()) {
  const RandomProgram random = random_program();
  FillProgram program(random.pods, random.alone);
  for (const auto& fill : random.fills) {
    program.add(fill.price, fill.pods);
  }
  std::size_t work = kPlenty;
  program.solve(work);
  assert_covers(program, random);
  assert_optimal(program, random);
}

RC_GTEST_PROP(FillProgramProperty, FillsAddedOneByOneComeToTheSameAsAllAtOnce, ()) {
  const RandomProgram random = random_program();
  FillProgram program(random.pods, random.alone);
  FillProgram at_once(random.pods, random.alone);
  std::size_t work = kPlenty;
  double before = program.price();
  for (const auto& fill : random.fills) {
    program.add(fill.price, fill.pods);
    at_once.add(fill.price, fill.pods);
    program.solve(work);
    RC_ASSERT(program.price() <= before * (1 + 1e-9) + 1e-9);
    before = program.price();
  }
  at_once.solve(work);
  assert_optimal(program, random);
  RC_ASSERT(std::abs(program.price() - at_once.price()) <= 1e-6 * (1 + at_once.price()));
}

RC_GTEST_PROP(FillProgramProperty, CoversThePodsHoweverLittleWorkItMayDo, ()) {
  const RandomProgram random = random_program();
  FillProgram program(random.pods, random.alone);
  for (const auto& fill : random.fills) {
    program.add(fill.price, fill.pods);
  }
  std::size_t work = *rc::gen::inRange<std::size_t>(0, 12);
  const std::size_t before = work;
  const double price = program.price();
  program.solve(work);
  RC_ASSERT(work <= before);
  RC_ASSERT(program.price() <= price * (1 + 1e-9) + 1e-9);
  assert_covers(program, random);
}

}  // namespace
}  // namespace millwright::scheduling
