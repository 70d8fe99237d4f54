#include "disruption/survey.hpp"

#include "disruption/candidates/candidate_search.hpp"
#include "disruption/simulation/settling_room.hpp"
#include "disruption/simulation/simulation.hpp"

#include <algorithm>
#include <utility>

namespace millwright::disruption {

Survey::Survey(const Input& input, const std::vector<std::string>& own_claims, SurveyTools tools)
    : input_(input),
      pod_obstacles_(input.snapshot->disruption_budgets, input.now),
      pools_(*input.snapshot),
      budgets_(input, pools_),
      prices_(input),
      destinations_(input, pools_, prices_, pod_obstacles_),
      competitors_(pods_without_settling_room(input, destinations_)),
      findings_(input.now),
      candidates_(find_candidates({.input = input,
                                   .pools = pools_,
                                   .pod_obstacles = pod_obstacles_,
                                   .prices = prices_,
                                   .reservations = destinations_.reservations(),
                                   .own_claims = {own_claims.begin(), own_claims.end()}},
                                  findings_)),
      tools_(std::move(tools)) {
  for (const auto& record : input.snapshot->nodes) {
    pod_count_ += record->pods.size();
  }
  work().spend(input.snapshot->nodes.size() + pod_count_);
}

const std::set<std::string, std::less<>>& Survey::homeless(Reason reason) const {
  auto& known = reason == Reason::Drifted ? homeless_in_drift_ : homeless_;
  if (!known) {
    known = find_homeless(*this, reason);
  }
  return *known;
}

const Candidate* Survey::find(std::string_view claim) const {
  const auto found = std::lower_bound(candidates_.begin(), candidates_.end(), claim,
                                      [](const Candidate& candidate, std::string_view name) {
                                        return candidate.claim_name() < name;
                                      });
  return found != candidates_.end() && found->claim_name() == claim ? &*found : nullptr;
}

}  // namespace millwright::disruption
