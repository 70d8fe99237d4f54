// The simplex method beside GLPK's: on the columns that column generation came up with, in the
// order in which they came, both find the same optimum after every column.
#include "linear_programs.hpp"
#include "search_world.hpp"

#include <glpk.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

namespace millwright::scheduling::testing {
namespace {

// Optima may differ by this part, and columns may be worth this part more than they cost.
constexpr double kTolerance = 1e-7;

class Glpk {
 public:
  explicit Glpk(const LinearProgram& program) : problem_(glp_create_prob(), &glp_delete_prob) {
    const auto rows = static_cast<int>(program.rows.demand.size());
    glp_set_obj_dir(problem_.get(), GLP_MIN);
    glp_add_rows(problem_.get(), rows);
    for (int row = 0; row < rows; ++row) {
      const auto index = static_cast<std::size_t>(row);
      const bool exact = index + program.rows.exact >= program.rows.demand.size();
      const double demand = program.rows.demand[index];
      glp_set_row_bnds(problem_.get(), row + 1, exact ? GLP_FX : GLP_LO, demand, demand);
      add(program.unit_column(index));
    }
  }

  void add(const Column& column) {
    std::vector<int> rows = {0};  // GLPK counts from 1
    std::vector<double> amounts = {0};
    for (const auto& [row, amount] : column.entries) {
      rows.push_back(static_cast<int>(row) + 1);
      amounts.push_back(amount);
    }
    const int index = glp_add_cols(problem_.get(), 1);
    glp_set_col_bnds(problem_.get(), index, GLP_LO, 0, 0);
    glp_set_obj_coef(problem_.get(), index, column.cost);
    glp_set_mat_col(problem_.get(), index, static_cast<int>(rows.size()) - 1, rows.data(),
                    amounts.data());
  }

  double optimum() {
    glp_smcp parameters;
    glp_init_smcp(&parameters);
    parameters.msg_lev = GLP_MSG_ERR;
    EXPECT_EQ(glp_simplex(problem_.get(), &parameters), 0);
    EXPECT_EQ(glp_get_status(problem_.get()), GLP_OPT);
    return glp_get_obj_val(problem_.get());
  }

 private:
  std::unique_ptr<glp_prob, decltype(&glp_delete_prob)> problem_;
};

void expect_dual_feasible(const Simplex& simplex, const LinearProgram& program,
                          std::size_t columns) {
  for (std::size_t row = 0; row < program.rows.demand.size(); ++row) {
    if (row + program.rows.exact < program.rows.demand.size()) {
      EXPECT_GE(simplex.dual_price(row), -kTolerance);
    }
    const double cost = program.rows.unit_costs[row];
    EXPECT_LE(simplex.dual_price(row), cost * (1 + kTolerance)) << "row " << row;
  }
  for (std::size_t i = 0; i < columns; ++i) {
    const Column& column = program.columns[i];
    EXPECT_LE(worth_of(column, simplex), column.cost * (1 + kTolerance)) << "column " << i;
  }
}

void expect_the_same_optima(const LinearProgram& program) {
  Simplex simplex(program.rows);
  Glpk glpk(program);
  for (std::size_t i = 0; i < program.columns.size(); ++i) {
    const Column& column = program.columns[i];
    simplex.add(column.cost, column.entries);
    simplex = solved(std::move(simplex));
    glpk.add(column);
    const double optimum = glpk.optimum();
    ASSERT_NEAR(simplex.objective(), optimum, kTolerance * optimum) << "after column " << i;
    ASSERT_LE(simplex.residual(), Simplex::Reinversion{}.residual) << "after column " << i;
    expect_dual_feasible(simplex, program, i + 1);
    if (::testing::Test::HasFailure()) {
      return;
    }
  }
}

struct Market {
  std::vector<MachineOf> machines;
  std::vector<LotOf> lots;
};

// Machines of six sizes and three proportions at prices of their own, as on a spot market.
Market spot_market(std::uint32_t seed, int lots) {
  std::mt19937 random(seed);
  const auto from_to = [&](unsigned from, unsigned to) {
    return static_cast<int>(from + random() % (to - from + 1));
  };
  Market market;
  for (int cpu = 2; cpu <= 64; cpu *= 2) {
    for (const int gib_per_cpu : {2, 4, 8}) {
      market.machines.push_back(
          {cpu, cpu * gib_per_cpu, 110, 0.01 * cpu * (2 + gib_per_cpu) * from_to(70, 130) / 100.0});
    }
  }
  for (int lot = 0; lot < lots; ++lot) {
    market.lots.push_back({from_to(1, 12), from_to(1, 48), from_to(3, 60)});
  }
  return market;
}

TEST(SimplexBesideGlpk, AgreesAfterEveryColumnOfColumnGeneration) {
  std::size_t columns = 0;
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    const Market market = spot_market(seed, 40);
    SearchWorld world(world_of(market.machines, market.lots));
    const auto machines = world.machines();
    ColumnGeneration generation(world.lots(), machines);
    std::size_t work = kUnlimitedWork;
    ASSERT_TRUE(generation.run(100, work));
    const LinearProgram program = recorded(generation, world.all(), 0);
    expect_the_same_optima(program);
    columns += program.columns.size();
  }
  EXPECT_GT(columns, 400U);
}

TEST(SimplexBesideGlpk, AgreesWhereNodesAreFilledExactlyOnce) {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    const Market market = spot_market(seed, 20);
    SearchWorld world(world_of(market.machines, market.lots));
    std::vector<Amounts> rooms;
    for (int cpu = 1; cpu <= 20; ++cpu) {
      rooms.push_back(world.room({cpu, 1 + 13 * cpu % 41, 30}));
    }
    const auto nodes = nodes_of(world, rooms);
    const auto machines = world.machines();
    ColumnGeneration generation(world.lots(), machines, nodes);
    std::size_t work = kUnlimitedWork;
    ASSERT_TRUE(generation.run(100, work));
    expect_the_same_optima(recorded(generation, world.all(), nodes.size()));
  }
}

}  // namespace
}  // namespace millwright::scheduling::testing
