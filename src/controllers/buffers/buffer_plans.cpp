#include "controllers/buffers/buffer_plans.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

std::ptrdiff_t refused_real_pods(const scheduling::Plan& plan,
                                 const std::set<std::string, std::less<>>& virtual_uids) {
  return std::count_if(plan.refusals.begin(), plan.refusals.end(), [&](const auto& refusal) {
    return !virtual_uids.contains(refusal.pod_uid);
  });
}

}  // namespace

scheduling::Plan solve_for_real_pods_first(const scheduling::Problem& problem,
                                           const std::set<std::string, std::less<>>& virtual_uids,
                                           scheduling::PlanMemory& memory) {
  auto plan = scheduling::solve(problem, memory);
  const auto refused = refused_real_pods(plan, virtual_uids);
  if (virtual_uids.empty() || refused == 0) {
    return plan;
  }
  auto without = problem;
  std::erase_if(without.pods,
                [&](const auto& pod) { return virtual_uids.contains(pod->meta.uid); });
  auto second = scheduling::solve(without, memory);
  return refused_real_pods(second, virtual_uids) < refused ? second : plan;
}

}  // namespace millwright::controllers
