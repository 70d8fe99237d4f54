#include "lower_bound.hpp"

#include <glpk.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace millwright::scheduling::bench {
namespace {

using Vector = std::vector<double>;  // by resource

// Machines that the same classes of pods may use.
struct Kind {
  std::set<std::pair<Vector, double>> offers;  // room and price
  Vector free;                                 // on existing nodes
};

struct PodClass {
  Requirements requirements;
  Vector requests;
  double pods = 0;
};

class Program {
 public:
  explicit Program(const Problem& problem) : problem_(problem) {
    for (const auto& pod : problem.pods) {
      for (const auto& [name, amount] : effective_requests(*pod)) {
        resources_.insert(name);
      }
    }
    find_classes();
    for (const auto& option : problem.pools) {
      for (const InstanceType& type : *option.types) {
        add_type(*option.pool, type);
      }
    }
    for (const auto& record : problem.nodes) {
      add_node(*record);
    }
  }

  double optimum() {
    const std::unique_ptr<glp_prob, decltype(&glp_delete_prob)> program(glp_create_prob(),
                                                                        &glp_delete_prob);
    glp_set_obj_dir(program.get(), GLP_MIN);
    // Row of a class: all of it is somewhere. Row of a kind and a resource: it suffices.
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      glp_set_row_bnds(program.get(), glp_add_rows(program.get(), 1), GLP_FX, 1, 1);
    }
    for (const auto& [users, kind] : kinds_) {
      add_kind(program.get(), users, kind);
    }
    glp_smcp parameters;
    glp_init_smcp(&parameters);
    parameters.msg_lev = GLP_MSG_ERR;
    parameters.presolve = GLP_ON;
    const bool solved =
        glp_simplex(program.get(), &parameters) == 0 && glp_get_status(program.get()) == GLP_OPT;
    return solved ? glp_get_obj_val(program.get()) : NAN;
  }

 private:
  using Users = std::vector<std::size_t>;  // classes

  void find_classes() {
    std::map<std::pair<std::string, Vector>, std::size_t> known;
    for (const auto& pod : problem_.pods) {
      const Requirements requirements = strict_pod_requirements(pod->spec);
      const Vector requests = vector_of(effective_requests(*pod));
      const auto [found, added] =
          known.try_emplace({requirements.to_string(), requests}, classes_.size());
      if (added) {
        classes_.push_back({requirements, requests, 0});
      }
      classes_[found->second].pods += 1;
    }
  }

  Vector vector_of(const model::ResourceList& list) const {
    Vector result;
    for (const auto& name : resources_) {
      const double amount = model::get(list, name).as_double();
      result.push_back(name == "memory" ? amount / 1e9 : amount);  // of one order of magnitude
    }
    return result;
  }

  // Classes that the machine may have, and of which at least one pod fits.
  Users users_of(const Requirements& machine, const Vector& room) const {
    Users result;
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      const Vector& requests = classes_[i].requests;
      const bool fits = std::equal(requests.begin(), requests.end(), room.begin(),
                                   [](double wanted, double there) { return wanted <= there; });
      if (fits && machine.compatible(classes_[i].requirements, AllowUndefined::WellKnown)) {
        result.push_back(i);
      }
    }
    return result;
  }

  void add_type(const model::NodePool& pool, const InstanceType& type) {
    model::ResourceList room = type.allocatable();
    for (const auto& set : problem_.daemon_sets) {
      model::Pod daemon;
      daemon.spec = set->pod_template.spec;
      model::subtract_from(room, effective_requests(daemon));
    }
    const Vector amounts = vector_of(room);
    for (const Offering& offering : type.offerings) {
      if (!offering.available || *std::min_element(amounts.begin(), amounts.end()) < 0) {
        continue;
      }
      Requirements machine{pool.template_.requirements};
      machine.add(type.requirements);
      machine.add(offering.requirements);
      Users users = users_of(machine, amounts);
      if (!users.empty()) {
        kinds_[std::move(users)].offers.emplace(amounts, offering.price);
      }
    }
  }

  void add_node(const NodeRecord& record) {
    model::ResourceList room = record.allocatable();
    model::subtract_from(room, record.pod_requests);
    const Vector amounts = vector_of(room);
    Users users = users_of(Requirements::from_labels(record.labels()), amounts);
    if (users.empty()) {
      return;
    }
    Kind& kind = kinds_[std::move(users)];
    kind.free.resize(amounts.size());
    for (std::size_t r = 0; r < amounts.size(); ++r) {
      kind.free[r] += std::max(amounts[r], 0.0);
    }
  }

  void add_kind(glp_prob* program, const Users& users, const Kind& kind) const {
    const int count = static_cast<int>(resources_.size());
    const int first = glp_add_rows(program, count);
    for (int r = 0; r < count; ++r) {
      const double free = kind.free.empty() ? 0 : kind.free[static_cast<std::size_t>(r)];
      glp_set_row_bnds(program, first + r, GLP_LO, -free, 0);
    }
    std::vector<int> rows = {0};  // GLPK counts from 1
    for (int r = 0; r < count; ++r) {
      rows.push_back(first + r);
    }
    for (const auto& [room, price] : kind.offers) {
      Vector values = {0};
      values.insert(values.end(), room.begin(), room.end());
      add_column(program, rows, values, price);
    }
    rows.push_back(0);
    for (const std::size_t user : users) {
      Vector values = {0};
      for (const double amount : classes_[user].requests) {
        values.push_back(-amount * classes_[user].pods);
      }
      values.push_back(1);
      rows.back() = static_cast<int>(user) + 1;
      add_column(program, rows, values, 0);
    }
  }

  static void add_column(glp_prob* program, const std::vector<int>& rows, const Vector& values,
                         double price) {
    const int column = glp_add_cols(program, 1);
    glp_set_col_bnds(program, column, GLP_LO, 0, 0);
    glp_set_obj_coef(program, column, price);
    glp_set_mat_col(program, column, static_cast<int>(rows.size()) - 1, rows.data(), values.data());
  }

  const Problem& problem_;
  std::set<std::string> resources_;
  std::vector<PodClass> classes_;
  std::map<Users, Kind> kinds_;
};

}  // namespace

double lower_bound(const Problem& problem) {
  return Program(problem).optimum();
}

}  // namespace millwright::scheduling::bench
