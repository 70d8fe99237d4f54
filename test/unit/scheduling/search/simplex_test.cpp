// An optimum of a linear program proves itself: dual prices at which no column is worth more than
// it costs, and which come to the same price.
#include "scheduling/search/program/simplex.hpp"

#include "linear_programs.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace millwright::scheduling::testing {
namespace {

double paid(const Simplex& simplex, const LinearProgram& program) {
  const std::vector<double> amounts = simplex.amounts();
  const std::size_t rows = program.rows.demand.size();
  double price = 0;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    price += amounts[i] * (i < rows ? program.rows.unit_costs[i] : program.columns[i - rows].cost);
  }
  return price;
}

// By row: what it gets.
std::vector<double> covered(const Simplex& simplex, const LinearProgram& program) {
  const std::vector<double> amounts = simplex.amounts();
  const std::size_t rows = program.rows.demand.size();
  std::vector<double> result(amounts.begin(), amounts.begin() + static_cast<std::ptrdiff_t>(rows));
  for (std::size_t i = rows; i < amounts.size(); ++i) {
    for (const auto& [row, amount] : program.columns[i - rows].entries) {
      result[row] += amounts[i] * amount;
    }
  }
  return result;
}

TEST(Simplex, ExactRowsGetNoMoreThanTheyDemand) {
  for (const std::size_t exact : {0, 1}) {
    const LinearProgram program{{{4, 1}, {1.0, 0.5}, exact}, {{0.5, {{0, 2}, {1, 1}}}}};
    const Simplex simplex = solved(program.simplex());
    EXPECT_NEAR(simplex.objective(), exact > 0 ? 0.5 + 2 * 1.0 : 2 * 0.5, 1e-9);
    EXPECT_NEAR(covered(simplex, program)[1], exact > 0 ? 1 : 2, 1e-9);
  }
}

struct SimplexCase {
  const char* name;
  LinearProgram program;
  double price;
  std::vector<double> dual_prices;
};

TEST(Simplex, BuysTheCheapestCombination) {
  const std::vector<SimplexCase> cases = {
      {"unit columns alone", {{{3, 2}, {1.0, 2.0}}, {}}, 7, {1, 2}},
      {"a column that saves nothing", {{{4}, {1.0}}, {{2.0, {{0, 2}}}}}, 4, {1}},
      {"a column for everything", {{{4}, {1.0}}, {{2.0, {{0, 4}}}}}, 2, {0.5}},
      {"a column bought by the fraction", {{{5}, {1.0}}, {{1.5, {{0, 2}}}}}, 3.75, {0.75}},
      {"two rows in one column", {{{2, 4}, {1.0, 1.0}}, {{1.5, {{0, 1}, {1, 2}}}}}, 3, {}},
      {"more of a row than it demands",
       {{{1, 8}, {1.0, 1.0}}, {{1.0, {{0, 2}, {1, 2}}}}},
       4,
       {0, 0.5}},
      {"the better of two that overlap",
       {{{6, 6}, {1.0, 1.0}}, {{2.0, {{0, 3}, {1, 1}}}, {2.0, {{0, 1}, {1, 3}}}}},
       6,
       {0.5, 0.5}},
      {"unit columns that cost nothing", {{{3}, {0.0}}, {{1.0, {{0, 3}}}}}, 0, {0}},
      {"no rows", {{}, {}}, 0, {}},
  };
  for (const SimplexCase& c : cases) {
    SCOPED_TRACE(c.name);
    const Simplex simplex = solved(c.program.simplex());
    EXPECT_NEAR(simplex.objective(), c.price, 1e-9);
    for (std::size_t row = 0; row < c.dual_prices.size(); ++row) {
      EXPECT_NEAR(simplex.dual_price(row), c.dual_prices[row], 1e-9) << "row " << row;
    }
  }
}

TEST(Simplex, BeginsWithTheUnitColumns) {
  const Simplex simplex({{3, 2}, {1.0, 2.5}});
  EXPECT_DOUBLE_EQ(simplex.objective(), 8);
  EXPECT_EQ(simplex.amounts(), (std::vector<double>{3, 2}));
}

// Columns that are nearly parallel: bases of these are close to singular, so that rounding errors
// grow with every pivot.
LinearProgram nearly_parallel(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto from_to = [&](unsigned from, unsigned to) {
    return static_cast<unsigned>(from + random() % (to - from + 1));
  };
  constexpr std::size_t kRows = 24;
  LinearProgram program;
  for (std::size_t row = 0; row < kRows; ++row) {
    program.rows.demand.push_back(from_to(1, 1000));
    program.rows.unit_costs.push_back(1 + from_to(0, 100) / 100.0);
  }
  Simplex simplex(program.rows);
  while (program.columns.size() < 400) {
    Column column;
    const unsigned about = 10 * from_to(100, 10'000);
    for (std::uint32_t row = 0; row < kRows; ++row) {
      if (from_to(0, 2) == 0) {
        column.entries.push_back({row, static_cast<double>(about + from_to(0, 3))});
      }
    }
    // Hardly less than it is worth, so that it enters, and so do many after it.
    column.cost = 0.9999 * worth_of(column, simplex);
    if (column.cost <= 0) {
      continue;
    }
    simplex.add(column.cost, column.entries);
    simplex = solved(std::move(simplex));
    program.columns.push_back(std::move(column));
  }
  return program;
}

double largest_residual(const LinearProgram& program, Simplex simplex) {
  double largest = 0;
  for (const Column& column : program.columns) {
    simplex.add(column.cost, column.entries);
    simplex = solved(std::move(simplex));
    largest = std::max(largest, simplex.residual());
  }
  return largest;
}

TEST(Simplex, ReinversionKeepsTheResidualSmallHoweverManyPivots) {
  constexpr Simplex::Reinversion kNever{.pivots = std::numeric_limits<std::size_t>::max(),
                                        .pivots_per_row = 0,
                                        .residual = std::numeric_limits<double>::infinity()};
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    const LinearProgram program = nearly_parallel(seed);
    EXPECT_LE(largest_residual(program, Simplex(program.rows)), Simplex::Reinversion{}.residual);
    EXPECT_GT(largest_residual(program, Simplex(program.rows, kNever)), 1e-8);
  }
}

TEST(Simplex, ReinversionAfterEveryPivotFindsTheSameOptimum) {
  const LinearProgram program = nearly_parallel(4);
  Simplex often(program.rows, {.pivots = 1, .pivots_per_row = 0});
  for (const Column& column : program.columns) {
    often.add(column.cost, column.entries);
  }
  const double expected = solved(program.simplex()).objective();
  EXPECT_NEAR(solved(std::move(often)).objective(), expected, 1e-7 * expected);
}

LinearProgram random_program() {
  LinearProgram program;
  const std::size_t rows = *rc::gen::inRange<std::size_t>(1, 9);
  for (std::size_t row = 0; row < rows; ++row) {
    program.rows.demand.push_back(*rc::gen::inRange(1, 60));
    program.rows.unit_costs.push_back(*rc::gen::inRange(0, 400) / 100.0);
  }
  const int columns = *rc::gen::inRange(0, 30);
  for (int i = 0; i < columns; ++i) {
    Column column{*rc::gen::inRange(1, 800) / 100.0, {}};
    for (std::uint32_t row = 0; row < rows; ++row) {
      if (const int amount = *rc::gen::inRange(0, 6); amount > 0) {
        column.entries.push_back({row, static_cast<double>(amount)});
      }
    }
    program.columns.push_back(std::move(column));
  }
  return program;
}

void assert_feasible(const Simplex& simplex, const LinearProgram& program) {
  const std::vector<double> got = covered(simplex, program);
  for (std::size_t row = 0; row < got.size(); ++row) {
    RC_ASSERT(got[row] >= program.rows.demand[row] - 1e-6);
  }
  for (const double amount : simplex.amounts()) {
    RC_ASSERT(amount >= 0);
  }
  RC_ASSERT(std::abs(paid(simplex, program) - simplex.objective()) <=
            1e-6 * (1 + simplex.objective()));
}

// Duality: prices at which no column is worth more than it costs, and which come to what was paid,
// prove that nothing cheaper can be bought.
void assert_optimal(const Simplex& simplex, const LinearProgram& program) {
  double worth = 0;
  for (std::size_t row = 0; row < program.rows.demand.size(); ++row) {
    RC_ASSERT(simplex.dual_price(row) >= -1e-7);
    RC_ASSERT(simplex.dual_price(row) <= program.rows.unit_costs[row] + 1e-6);
    worth += simplex.dual_price(row) * program.rows.demand[row];
  }
  RC_ASSERT(std::abs(worth - simplex.objective()) <= 1e-6 * (1 + simplex.objective()));
  for (const Column& column : program.columns) {
    RC_ASSERT(worth_of(column, simplex) <= column.cost + 1e-6 * (1 + column.cost));
  }
}

RC_GTEST_PROP(SimplexProperty, ItsPricesProveTheOptimum, ()) {
  const LinearProgram program = random_program();
  const Simplex simplex = solved(program.simplex());
  assert_feasible(simplex, program);
  assert_optimal(simplex, program);
}

RC_GTEST_PROP(SimplexProperty, ColumnsAddedOneByOneComeToTheSameAsAllAtOnce, ()) {
  const LinearProgram program = random_program();
  Simplex one_by_one(program.rows);
  double before = one_by_one.objective();
  for (const Column& column : program.columns) {
    one_by_one.add(column.cost, column.entries);
    one_by_one = solved(std::move(one_by_one));
    RC_ASSERT(one_by_one.objective() <= before * (1 + 1e-9) + 1e-9);
    before = one_by_one.objective();
  }
  const Simplex at_once = solved(program.simplex());
  assert_optimal(solved(std::move(one_by_one)), program);
  RC_ASSERT(std::abs(before - at_once.objective()) <= 1e-6 * (1 + at_once.objective()));
}

RC_GTEST_PROP(SimplexProperty, TheSolutionIsFeasibleHoweverLittleWorkItMayDo, ()) {
  const LinearProgram program = random_program();
  Simplex simplex = program.simplex();
  std::size_t work = *rc::gen::inRange<std::size_t>(0, 12);
  const std::size_t before = work;
  const double price = simplex.objective();
  simplex.solve(work);
  RC_ASSERT(work <= before);
  RC_ASSERT(simplex.objective() <= price * (1 + 1e-9) + 1e-9);
  assert_feasible(simplex, program);
}

}  // namespace
}  // namespace millwright::scheduling::testing
