// An order in which kube-scheduler could bind the pods of a plan that does not say one.
#include "checker/plan/checker.hpp"
#include "checker/plan/machines.hpp"

#include <algorithm>
#include <map>

namespace millwright::checker {
namespace {

using scheduling::Plan;
using scheduling::Problem;

std::string claim_name(std::size_t index) {
  return "claim " + std::to_string(index);
}

// Every node, and every claim as the cheapest machine that it may become.
std::vector<Machine> machines(const Problem& problem, const Plan& plan) {
  std::vector<Machine> result;
  std::vector<scheduling::NodeRecordPtr> nodes = problem.nodes;
  if (problem.cluster) {
    nodes = problem.cluster->nodes;
  }
  for (const auto& record : nodes) {
    const bool usable =
        std::find(problem.nodes.begin(), problem.nodes.end(), record) != problem.nodes.end();
    result.push_back(machine_of(problem, *record, usable));
  }
  for (std::size_t i = 0; i < plan.claims.size(); ++i) {
    for (const auto& option : problem.pools) {
      if (option.pool->meta.name != plan.claims[i].node_pool) {
        continue;
      }
      const auto outcomes = outcomes_of(problem, option, plan.claims[i], claim_name(i));
      const auto cheapest = std::min_element(
          outcomes.begin(), outcomes.end(),
          [](const auto& a, const auto& b) { return a.offering->price < b.offering->price; });
      if (cheapest != outcomes.end()) {
        result.push_back(cheapest->machine);
      }
    }
  }
  return result;
}

}  // namespace

std::vector<std::string> order_steps(const Problem& problem, Plan& plan) {
  const KubeFilters filters(problem.cluster.get());
  std::map<std::string, const model::Pod*> pods;
  for (const auto& pod : problem.pods) {
    pods.emplace(pod->meta.uid, pod.get());
  }
  std::vector<Machine> all = machines(problem, plan);
  std::vector<scheduling::Placement*> waiting;
  for (auto& placement : plan.placements) {
    waiting.push_back(&placement);
  }
  std::uint32_t step = 0;
  const auto bind = [&](scheduling::Placement* placement) {
    const auto* index = std::get_if<std::size_t>(&placement->target);
    const std::string target =
        index != nullptr ? claim_name(*index) : std::get<std::string>(placement->target);
    const auto machine =
        std::find_if(all.begin(), all.end(), [&](const auto& item) { return item.name == target; });
    const model::Pod& pod = *pods.at(placement->pod_uid);
    if (machine == all.end() || !filters.alone(pod, *machine).empty() ||
        !filters.among_others(pod, *machine, all).empty()) {
      return false;
    }
    machine->pods.push_back(&pod);
    placement->step = ++step;
    return true;
  };
  for (std::size_t before = waiting.size() + 1; before != waiting.size();) {
    before = waiting.size();
    std::erase_if(waiting, bind);
  }
  std::vector<std::string> stuck;
  for (auto* placement : waiting) {
    placement->step = ++step;
    stuck.push_back(placement->pod_uid);
  }
  return stuck;
}

}  // namespace millwright::checker
