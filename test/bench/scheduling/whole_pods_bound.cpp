// whole_pods_bound(): column generation. The master program chooses among known fills; its dual
// prices say what a pod of each class is worth; a fill that is worth more than its machine costs
// is added. At any time the prices, scaled down until no fill is worth more than its machine, are a
// solution of the dual program and so a bound.
#include "bounded_problem.hpp"
#include "fractional_bound.hpp"
#include "knapsack.hpp"
#include "lower_bound.hpp"

#include <glpk.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace millwright::scheduling::bench {
namespace {

constexpr int kMaxRounds = 1'000;
// Then the plan's own fills are added. That ends the search for prices of few pods sooner than they
// have proved what they can.
constexpr int kRoundsAlone = 300;
constexpr double kNearEnough = 2e-3;
constexpr double kWorthAdding = 1 + 1e-4;
// In the prices that proved the best bound, against those of the program.
constexpr double kTrust = 0.7;
constexpr double kLeastTrust = 0.1;
// What one more look at all of these must prove, as a part of the price.
constexpr double kWorthAnother = 1e-4;

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

  WholePodsBound bound(const Plan& plan) {
    FractionalBound start = fractional_bound(problem_);
    best_ = start.price;
    proved_ = std::move(start.values);
    double of_fills = 0;
    double trust = kTrust;
    double before = 0;  // what was proved when that was last trusted as much
    for (int round = 0; round < kMaxRounds && !proved_.empty(); ++round) {
      glp_smcp parameters;
      glp_init_smcp(&parameters);
      parameters.msg_lev = GLP_MSG_ERR;
      if (glp_simplex(program_.get(), &parameters) != 0) {
        break;
      }
      of_fills = glp_get_obj_val(program_.get());
      if (best_ >= of_fills * (1 - kNearEnough)) {
        break;
      }
      if (round == kRoundsAlone) {
        add_fills_of(plan);
        continue;
      }
      read_values();
      if (look_for_fills(0, false) > 0) {
        continue;
      }
      if (look_for_fills(trust, true) > 0) {
        trust = kTrust;
      } else if (trust > 0) {
        trust = trust > kLeastTrust ? trust / 2 : 0;
      } else if (best_ > before * (1 + kWorthAnother)) {
        before = best_;
        trust = kTrust;
      } else {
        break;
      }
    }
    return {best_, of_fills};
  }

 private:
  int row_of_node(std::size_t node) const {
    return static_cast<int>(problem_.classes.size() + node) + 1;
  }

  void add_fills_of(const Plan& plan) {
    for (const PlannedClaim& claim : plan.claims) {
      std::map<std::size_t, std::int64_t> pods;
      for (const auto& uid : claim.pod_uids) {
        ++pods[problem_.class_of.at(uid)];
      }
      const double overhead = problem_.node_overhead.at(claim.node_pool);
      add_column({pods.begin(), pods.end()}, 0, claim.price + overhead);
    }
    std::map<std::string, std::map<std::size_t, std::int64_t>> on_nodes;
    for (const Placement& placement : plan.placements) {
      if (const auto* name = std::get_if<std::string>(&placement.target)) {
        ++on_nodes[*name][problem_.class_of.at(placement.pod_uid)];
      }
    }
    for (std::size_t i = 0; i < problem_.nodes.size(); ++i) {
      const auto& pods = on_nodes[problem_.nodes[i].node];
      add_column({pods.begin(), pods.end()}, row_of_node(i), 0);
    }
  }

  // What the program says that pods are worth; it jumps about while fills are missing.
  void read_values() {
    values_.clear();
    for (std::size_t i = 0; i < problem_.classes.size(); ++i) {
      values_.push_back(std::max(glp_get_row_dual(program_.get(), static_cast<int>(i) + 1), 0.0));
    }
    node_values_.clear();
    for (std::size_t i = 0; i < problem_.nodes.size(); ++i) {
      node_values_.push_back(-glp_get_row_dual(program_.get(), row_of_node(i)));
    }
  }

  // Looks at prices between those of the program and those that proved the best bound so far
  // (smoothing, Wentges). Adds fills; how many the program has use for.
  int look_for_fills(double trust, bool thorough) {
    added_ = 0;
    std::vector<double> values;
    double total = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values.push_back(trust * proved_[i] + (1 - trust) * values_[i]);
      total += values.back() * static_cast<double>(problem_.classes[i].pods);
    }
    double on_nodes = 0;
    for (std::size_t i = 0; i < problem_.nodes.size(); ++i) {
      const Fill fill = Knapsack(problem_, problem_.nodes[i], values).best(0, thorough);
      on_nodes += fill.at_most;
      add_if_wanted(fill, row_of_node(i), node_values_[i]);
    }
    const double factor = dearest_room(values, thorough);
    if ((total - on_nodes) / factor > best_) {
      best_ = (total - on_nodes) / factor;
      for (double& value : values) {
        value /= factor;
      }
      proved_ = std::move(values);
    }
    return added_;
  }

  // How much more than its machine the most valuable fill of all may be worth.
  double dearest_room(const std::vector<double>& values, bool thorough) {
    double most = 1;
    for (const BoundedMachine& machine : problem_.offers) {
      const Fill fill =
          Knapsack(problem_, machine, values).best(machine.price * kWorthAdding, thorough);
      most = std::max(most, fill.at_most / machine.price);
      add_if_wanted(fill, 0, machine.price);
    }
    return most;
  }

  void add_if_wanted(const Fill& fill, int node, double least) {
    double value = 0;
    for (const auto& [pod_class, count] : fill.pods) {
      value += values_[pod_class] * static_cast<double>(count);
    }
    if (value > least * kWorthAdding + 1e-9) {
      add_column(fill.pods, node, node > 0 ? 0 : least);
      ++added_;
    }
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
  }

  const BoundedProblem& problem_;
  std::unique_ptr<glp_prob, decltype(&glp_delete_prob)> program_;
  std::vector<double> values_;       // of the program, by class
  std::vector<double> node_values_;  // of having the node
  std::vector<double> proved_;       // by class, of the bound
  double best_ = 0;
  int added_ = 0;
};

}  // namespace

WholePodsBound whole_pods_bound(const Problem& problem, const Plan& plan) {
  const BoundedProblem bounded(problem);
  return Configurations(bounded).bound(plan);
}

}  // namespace millwright::scheduling::bench
