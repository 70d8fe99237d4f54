#include "lower_bound.hpp"

#include "bounded_problem.hpp"
#include "fractional_bound.hpp"

#include <glpk.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace millwright::scheduling::bench {
namespace {

using Vector = std::vector<double>;  // by resource

class Program {
 public:
  explicit Program(const BoundedProblem& problem)
      : problem_(problem), program_(glp_create_prob(), &glp_delete_prob) {
    glp_set_obj_dir(program_.get(), GLP_MIN);
    // Row of a class: all of it is somewhere. Row of machines and a resource: they suffice.
    for (std::size_t i = 0; i < problem.classes.size(); ++i) {
      glp_set_row_bnds(program_.get(), glp_add_rows(program_.get(), 1), GLP_FX, 1, 1);
    }
    std::map<Users, std::vector<const BoundedMachine*>> by_users;
    for (const BoundedMachine& offer : problem.offers) {
      by_users[offer.users].push_back(&offer);
    }
    for (const auto& [users, offers] : by_users) {
      add_machines(users, offers, nullptr);
    }
    for (const BoundedMachine& node : problem.nodes) {
      add_machines(node.users, {}, &node);
    }
  }

  FractionalBound optimum() {
    glp_smcp parameters;
    glp_init_smcp(&parameters);
    parameters.msg_lev = GLP_MSG_ERR;
    parameters.presolve = GLP_ON;
    if (glp_simplex(program_.get(), &parameters) != 0 ||
        glp_get_status(program_.get()) != GLP_OPT) {
      return {NAN, {}};
    }
    FractionalBound result{glp_get_obj_val(program_.get()), {}};
    for (std::size_t i = 0; i < problem_.classes.size(); ++i) {
      const double all = glp_get_row_dual(program_.get(), static_cast<int>(i) + 1);
      result.values.push_back(std::max(all, 0.0) / static_cast<double>(problem_.classes[i].pods));
    }
    return result;
  }

 private:
  Vector scaled(const Sizes& sizes, double factor) const {
    Vector result = {0};  // GLPK counts from 1
    for (std::size_t r = 0; r < sizes.size(); ++r) {
      // Of one order of magnitude.
      result.push_back(factor * static_cast<double>(sizes[r]) /
                       (problem_.resources[r] == "memory" ? 1e12 : 1e3));
    }
    return result;
  }

  // Machines that these classes may use; `node` is there already.
  void add_machines(const Users& users, const std::vector<const BoundedMachine*>& offers,
                    const BoundedMachine* node) {
    const int count = static_cast<int>(problem_.resources.size());
    const int first = glp_add_rows(program_.get(), count);
    const Vector free =
        node != nullptr ? scaled(node->room, -1) : Vector(problem_.resources.size() + 1);
    std::vector<int> rows = {0};
    for (int r = 0; r < count; ++r) {
      glp_set_row_bnds(program_.get(), first + r, GLP_LO, free[static_cast<std::size_t>(r) + 1], 0);
      rows.push_back(first + r);
    }
    for (const BoundedMachine* offer : offers) {
      add_column(rows, scaled(offer->room, 1), offer->price);
    }
    rows.push_back(0);
    for (const std::size_t user : users) {
      const BoundedClass& pods = problem_.classes[user];
      Vector values = scaled(pods.requests, -static_cast<double>(pods.pods));
      values.push_back(1);
      rows.back() = static_cast<int>(user) + 1;
      add_column(rows, values, 0);
    }
  }

  void add_column(const std::vector<int>& rows, const Vector& values, double price) {
    const int column = glp_add_cols(program_.get(), 1);
    glp_set_col_bnds(program_.get(), column, GLP_LO, 0, 0);
    glp_set_obj_coef(program_.get(), column, price);
    glp_set_mat_col(program_.get(), column, static_cast<int>(rows.size()) - 1, rows.data(),
                    values.data());
  }

  const BoundedProblem& problem_;
  std::unique_ptr<glp_prob, decltype(&glp_delete_prob)> program_;
};

}  // namespace

FractionalBound fractional_bound(const BoundedProblem& problem) {
  return Program(problem).optimum();
}

double lower_bound(const Problem& problem) {
  return fractional_bound(BoundedProblem(problem)).price;
}

}  // namespace millwright::scheduling::bench
