#include "disruption/methods/consolidation/sweep.hpp"

#include "disruption/candidates/selection.hpp"
#include "disruption/methods/prices/price_bounds.hpp"
#include "millwright/scheduling/relocation.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace millwright::disruption {
namespace {

// Looked at in one pass, best savings ratio first.
constexpr std::size_t kMostLookedAt = 1000;
// Removed by one command, as by any other.
constexpr std::size_t kMostSwept = 100;
// The planner takes the pods of all nodes together, largest first, and may find no room where one
// node after the other did. Half as many are tried then, and so on.
constexpr int kMostProofs = 3;

// Those for whose pods sizes alone do not rule out that others have room. The room of buffers is
// moved by simulations only.
std::vector<const Candidate*> likely_of(const Survey& survey,
                                        const std::vector<const Candidate*>& eligible) {
  std::vector<const Candidate*> likely;
  for (const auto* candidate : eligible) {
    if (likely.size() < kMostLookedAt && candidate->virtual_pods.empty() &&
        !any_homeless(survey, *candidate)) {
      likely.push_back(candidate);
    }
  }
  return likely;
}

// Pods go where they are least likely to have to move on: to nodes that stay, then to the last of
// those that may go.
std::vector<std::string> places_for(const scheduling::Problem& problem,
                                    const std::vector<const Candidate*>& likely) {
  std::set<std::string_view> may_go;
  for (const auto* candidate : likely) {
    may_go.insert(candidate->record->name());
  }
  std::vector<std::string> places;
  for (const auto& record : problem.nodes) {
    if (!may_go.contains(record->name())) {
      places.push_back(record->name());
    }
  }
  for (auto candidate = likely.rbegin(); candidate != likely.rend(); ++candidate) {
    places.push_back((*candidate)->record->name());
  }
  return places;
}

std::vector<const Candidate*> removable(const Survey& survey,
                                        const std::vector<const Candidate*>& likely) {
  auto problem = relocation_problem(survey, likely);
  const auto places = places_for(problem, likely);
  scheduling::Relocation relocation(std::move(problem), places, survey.plan_memory());
  Allowance allowance(survey, Reason::Underutilized);
  std::vector<const Candidate*> chosen;
  for (const auto* candidate : likely) {
    if (chosen.size() < kMostSwept && allowance.any_left(*candidate->pool) &&
        relocation.remove(candidate->record->name())) {
      allowance.take(*candidate->pool);
      chosen.push_back(candidate);
    }
  }
  return chosen;
}

}  // namespace

std::optional<Command> sweep(Survey& survey, const std::vector<const Candidate*>& eligible) {
  const auto likely = likely_of(survey, eligible);
  if (likely.size() < 2) {
    return std::nullopt;
  }
  auto chosen = removable(survey, likely);
  for (int proof = 0; proof < kMostProofs && chosen.size() > 1; ++proof) {
    auto result = consolidate(survey, chosen);
    if (result.command) {
      return std::move(result.command);
    }
    chosen.resize(chosen.size() / 2);
  }
  return std::nullopt;
}

}  // namespace millwright::disruption
