#include "millwright/scheduling/removal_program.hpp"

#include "scheduling/search/program/simplex.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace millwright::scheduling {
namespace {

// Columns that are generated at most. With so few rows a tenth of it is usual.
constexpr int kMostChoices = 300;
// What the simplex method may do in all, see Simplex::solve().
constexpr std::size_t kRemovalWork = 20'000'000;
// A choice that would save less than this part of all nodes' cost is not worth a column.
constexpr double kWorthAChoice = 1e-7;

class RemovalMaster {
 public:
  explicit RemovalMaster(const RemovalProgram& program)
      : program_(program), budgets_(program.budgets.size()) {
    list_resources();
    list_nodes();
  }

  RemovalAdvice run() {
    Simplex master(rows());
    const std::size_t first_machine = first_column();
    for (const auto& machine : program_.machines) {
      add_machine(master, machine);
    }
    first_choice_ = first_machine + program_.machines.size();
    add_choice(master, std::vector<bool>(nodes_.size(), true));
    std::size_t work = kRemovalWork;
    for (int round = 0; round < kMostChoices && work > 0; ++round) {
      master.solve(work);
      auto choice = best_choice(master);
      if (!choice_pays(master, choice)) {
        break;
      }
      add_choice(master, std::move(choice));
    }
    return advice(master);
  }

 private:
  struct Row {
    std::string resource;
    double unit = 0;  // keeps numbers of one order of magnitude
    double demand = 0;
    double unit_cost = 0;  // on the machine where it is cheapest, as if that had nothing else
  };
  struct Keeping {
    std::vector<double> room;  // by row of a resource
    double cost = 0;
    std::size_t budget_row = 0;
  };

  std::size_t first_column() const { return resources_.size() + budgets_.size() + 1; }
  std::size_t one_choice_row() const { return resources_.size() + budgets_.size(); }

  void list_resources() {
    for (const auto& node : program_.nodes) {
      dearest_ += std::max(node.cost, 0.0);
    }
    for (const auto& [name, quantity] : program_.demand) {
      Row row{.resource = name, .demand = quantity.as_double(), .unit_cost = dearest_ + 1};
      for (const auto& node : program_.nodes) {
        row.unit = std::max(row.unit, model::get(node.room, name).as_double());
      }
      if (row.demand <= 0 || row.unit <= 0) {
        continue;
      }
      for (const auto& machine : program_.machines) {
        const double room = model::get(machine.room, name).as_double();
        if (room > 0) {
          row.unit_cost = std::min(row.unit_cost, machine.price * row.unit / room);
        }
      }
      resources_.push_back(std::move(row));
    }
  }

  std::vector<double> amounts(const model::ResourceList& room) const {
    std::vector<double> amounts;
    for (const auto& row : resources_) {
      amounts.push_back(std::max(model::get(room, row.resource).as_double(), 0.0) / row.unit);
    }
    return amounts;
  }

  void list_nodes() {
    for (std::size_t budget = 0; budget < budgets_.size(); ++budget) {
      budgets_[budget] = -std::max(program_.budgets[budget], 0);
    }
    for (const auto& node : program_.nodes) {
      nodes_.push_back({.room = amounts(node.room),
                        .cost = std::max(node.cost - node.eviction_price, 0.0),
                        .budget_row = resources_.size() + node.budget});
      ++budgets_[node.budget];
    }
  }

  // Every row is covered by the choice that keeps all nodes, whatever its unit column costs.
  Simplex::Rows rows() const {
    Simplex::Rows rows;
    for (const auto& row : resources_) {
      rows.demand.push_back(row.demand / row.unit);
      rows.unit_costs.push_back(row.unit_cost);
    }
    for (const int must_stay : budgets_) {
      rows.demand.push_back(std::max(must_stay, 0));
      rows.unit_costs.push_back(dearest_ + 1);
    }
    rows.demand.push_back(1);
    rows.unit_costs.push_back(2 * dearest_ + 1);
    rows.exact = 1;
    return rows;
  }

  void add_machine(Simplex& master, const RemovalProgram::Machine& machine) const {
    const auto room = amounts(machine.room);
    std::vector<Simplex::Entry> entries;
    for (std::uint32_t row = 0; row < room.size(); ++row) {
      entries.push_back({row, room[row]});
    }
    master.add(machine.price, entries);
  }

  void add_choice(Simplex& master, std::vector<bool> kept) {
    std::vector<double> sums(first_column(), 0);
    double cost = 0;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      if (kept[node]) {
        for (std::size_t row = 0; row < resources_.size(); ++row) {
          sums[row] += nodes_[node].room[row];
        }
        sums[nodes_[node].budget_row] += 1;
        cost += nodes_[node].cost;
      }
    }
    sums[one_choice_row()] = 1;
    std::vector<Simplex::Entry> entries;
    for (std::uint32_t row = 0; row < sums.size(); ++row) {
      entries.push_back({row, sums[row]});
    }
    master.add(cost, entries);
    choices_.push_back(std::move(kept));
  }

  double regret_of(const Simplex& master, const Keeping& node) const {
    double worth = master.dual_price(node.budget_row);
    for (std::size_t row = 0; row < resources_.size(); ++row) {
      worth += master.dual_price(row) * node.room[row];
    }
    return worth - node.cost;
  }

  std::vector<bool> best_choice(const Simplex& master) const {
    std::vector<bool> kept;
    for (const auto& node : nodes_) {
      kept.push_back(regret_of(master, node) > 0);
    }
    return kept;
  }

  bool choice_pays(const Simplex& master, const std::vector<bool>& kept) const {
    double profit = master.dual_price(one_choice_row());
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      profit += kept[node] ? regret_of(master, nodes_[node]) : 0;
    }
    return profit > kWorthAChoice * dearest_;
  }

  RemovalAdvice advice(const Simplex& master) const {
    RemovalAdvice advice{.kept = std::vector<double>(nodes_.size(), 0), .regret = {}};
    const auto bought = master.amounts();
    for (std::size_t choice = 0; choice < choices_.size(); ++choice) {
      const double part = bought[first_choice_ + choice];
      for (std::size_t node = 0; node < nodes_.size() && part > 0; ++node) {
        advice.kept[node] += choices_[choice][node] ? part : 0;
      }
    }
    double before = 0;
    for (const auto& node : nodes_) {
      advice.regret.push_back(regret_of(master, node));
      before += node.cost;
    }
    for (std::size_t i = 0; i < program_.machines.size(); ++i) {
      advice.bought += bought[first_column() + i] * program_.machines[i].price;
    }
    advice.saved = std::max(before - master.objective(), 0.0);
    return advice;
  }

  const RemovalProgram& program_;
  std::vector<int> budgets_;  // by budget: how many of its nodes must stay
  double dearest_ = 0;        // all nodes together
  std::vector<Row> resources_;
  std::vector<Keeping> nodes_;
  std::vector<std::vector<bool>> choices_;  // by column, from first_choice_ on
  std::size_t first_choice_ = 0;
};

}  // namespace

RemovalAdvice solve(const RemovalProgram& program) {
  return program.nodes.empty() ? RemovalAdvice{} : RemovalMaster(program).run();
}

}  // namespace millwright::scheduling
