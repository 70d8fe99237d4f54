// whole_pods_bound(): column generation. The master program chooses among known fills; its dual
// prices say what a pod of each class is worth; a fill that is worth more than its machine costs
// is added. At any time the prices, scaled down until no fill is worth more than its machine, are a
// solution of the dual program and so a bound.
#include "bounded_problem.hpp"
#include "knapsack.hpp"
#include "lower_bound.hpp"

#include <glpk.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

namespace millwright::scheduling::bench {
namespace {

constexpr int kMaxRounds = 120;
constexpr double kNearEnough = 1e-3;
constexpr double kWorthAdding = 1 + 1e-4;
// Fills looked for in one round; the bound of the machines left out is the quick one.
constexpr std::size_t kMaxFills = 150;

class Configurations {
 public:
  explicit Configurations(const BoundedProblem& problem)
      : problem_(problem), program_(glp_create_prob(), &glp_delete_prob) {
    glp_set_obj_dir(program_.get(), GLP_MIN);
    const auto classes = static_cast<int>(problem.classes.size());
    const auto nodes = static_cast<int>(problem.nodes.size());
    glp_add_rows(program_.get(), classes + nodes);
    for (int i = 1; i <= classes; ++i) {
      glp_set_row_bnds(program_.get(), i, GLP_LO,
                       static_cast<double>(problem.classes[static_cast<std::size_t>(i) - 1].pods),
                       0);
      // So dear that it is never kept: what makes the first program soluble.
      add_column({{static_cast<std::size_t>(i) - 1, 1}}, 0, 1e4);
    }
    for (int i = 1; i <= nodes; ++i) {
      glp_set_row_bnds(program_.get(), classes + i, GLP_UP, 0, 1);
    }
  }

  double bound() {
    double best = 0;
    for (int round = 0; round < kMaxRounds; ++round) {
      glp_smcp parameters;
      glp_init_smcp(&parameters);
      parameters.msg_lev = GLP_MSG_ERR;
      if (glp_simplex(program_.get(), &parameters) != 0) {
        return best;
      }
      best = std::max(best, look_for_fills(false));
      if (!added_) {
        best = std::max(best, look_for_fills(true));
      }
      if (!added_ || best >= glp_get_obj_val(program_.get()) * (1 - kNearEnough)) {
        return best;
      }
    }
    return best;
  }

 private:
  struct Looked {
    const BoundedMachine* machine;
    double at_most;
  };

  // Adds fills that are worth it; what the prices prove.
  double look_for_fills(bool thorough) {
    added_ = false;
    std::vector<double> values;
    double total = 0;
    for (std::size_t i = 0; i < problem_.classes.size(); ++i) {
      values.push_back(std::max(glp_get_row_dual(program_.get(), static_cast<int>(i) + 1), 0.0));
      total += values.back() * static_cast<double>(problem_.classes[i].pods);
    }
    double on_nodes = 0;
    for (std::size_t i = 0; i < problem_.nodes.size(); ++i) {
      Knapsack knapsack(problem_, problem_.nodes[i], values);
      const Fill fill = knapsack.best(thorough);
      on_nodes += fill.at_most;
      const int row = static_cast<int>(problem_.classes.size() + i) + 1;
      if (fill.value > -glp_get_row_dual(program_.get(), row) * kWorthAdding + 1e-9) {
        add_column(fill.pods, row, 0);
      }
    }
    return (total - on_nodes) / dearest_room(values, thorough);
  }

  // How much more than its machine the most valuable fill of all may be worth.
  double dearest_room(const std::vector<double>& values, bool thorough) {
    std::vector<Looked> machines;
    for (const BoundedMachine& machine : problem_.offers) {
      machines.push_back({&machine, Knapsack(problem_, machine, values).at_most()});
    }
    std::stable_sort(machines.begin(), machines.end(), [](const Looked& a, const Looked& b) {
      return a.at_most * b.machine->price > b.at_most * a.machine->price;
    });
    double most = 1;
    std::size_t looked = 0;
    for (const auto& [machine, at_most] : machines) {
      if (at_most <= kWorthAdding * machine->price ||
          at_most <= (thorough ? most * machine->price : 0)) {
        break;
      }
      if (++looked > kMaxFills && !thorough) {
        most = std::max(most, at_most / machine->price);
        break;
      }
      const Fill fill = Knapsack(problem_, *machine, values).best(thorough);
      most = std::max(most, fill.at_most / machine->price);
      if (fill.value > machine->price * kWorthAdding) {
        add_column(fill.pods, 0, machine->price);
      }
    }
    return most;
  }

  void add_column(const std::vector<std::pair<std::size_t, std::int64_t>>& pods, int node,
                  double price) {
    std::vector<int> rows = {0};
    std::vector<double> values = {0};
    for (const auto& [pod_class, count] : pods) {
      rows.push_back(static_cast<int>(pod_class) + 1);
      values.push_back(static_cast<double>(count));
    }
    if (node > 0) {
      rows.push_back(node);
      values.push_back(1);
    }
    const int column = glp_add_cols(program_.get(), 1);
    glp_set_col_bnds(program_.get(), column, GLP_LO, 0, 0);
    glp_set_obj_coef(program_.get(), column, price);
    glp_set_mat_col(program_.get(), column, static_cast<int>(rows.size()) - 1, rows.data(),
                    values.data());
    added_ = true;
  }

  const BoundedProblem& problem_;
  std::unique_ptr<glp_prob, decltype(&glp_delete_prob)> program_;
  bool added_ = false;
};

}  // namespace

double whole_pods_bound(const Problem& problem) {
  const BoundedProblem bounded(problem);
  return std::max(Configurations(bounded).bound(), lower_bound(problem));
}

}  // namespace millwright::scheduling::bench
