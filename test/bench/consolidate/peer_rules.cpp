#include "peer_rules.hpp"

#include "disruption/candidates/selection.hpp"
#include "disruption/methods/cheaper_claims.hpp"
#include "disruption/methods/methods.hpp"
#include "disruption/methods/price_bounds.hpp"
#include "disruption/methods/savings.hpp"
#include "disruption/simulation/price.hpp"
#include "disruption/simulation/simulation.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace millwright::disruption::bench {
namespace {

constexpr std::size_t kMostTogether = 100;

// None of a type that goes, unless it costs less than each node of that type does.
bool keep_other_types(const Survey& survey, Candidates candidates,
                      scheduling::PlannedClaim& claim) {
  double limit = std::numeric_limits<double>::infinity();
  const auto& names = claim.instance_types;
  for (const auto* candidate : candidates) {
    if (std::find(names.begin(), names.end(), candidate->instance_type) != names.end()) {
      limit = std::min(limit, candidate->price);
    }
  }
  const auto requirements = claim.requirements;
  return narrow_types(claim, survey.input().catalog.find(claim.node_pool)->second,
                      [&](const auto& type) {
                        return limit == std::numeric_limits<double>::infinity() ||
                               worst_launch_price(type, requirements) < limit;
                      });
}

// Karpenter's computeConsolidation.
std::optional<Command> peer_consolidation(Survey& survey, Candidates candidates) {
  double price = 0;
  for (const auto* candidate : candidates) {
    price += candidate->price;
  }
  if (candidates.size() == 1 && is_hopeless(survey, candidates, price, true)) {
    return std::nullopt;  // what a simulation would show, for less time
  }
  auto removal = simulate_removal(survey, candidates, Reason::Underutilized, Planning::OnePass);
  auto& claims = removal.claims;
  if (removal.problem || claims.size() > 1 ||
      (!claims.empty() &&
       (keep_cheaper(survey, candidates, claims, price * (1 - kRounding)) ||
        (candidates.size() > 1 && !keep_other_types(survey, candidates, claims.front()))))) {
    return std::nullopt;
  }
  Command command{.reason = Reason::Underutilized};
  for (const auto* candidate : candidates) {
    command.claims.push_back(candidate->claim_name());
  }
  command.replacements = std::move(claims);
  command.placements = std::move(removal.placements);
  return command;
}

std::optional<Command> multi_node(Survey& survey, const std::vector<const Candidate*>& sorted) {
  std::optional<Command> found;
  const std::size_t all = std::min(sorted.size(), kMostTogether);
  for (std::size_t least = 2, most = all; least <= most;) {
    const std::size_t size = least + (most - least) / 2;
    if (auto command = peer_consolidation(survey, Candidates(sorted).first(size))) {
      found = std::move(command);
      least = size + 1;
    } else {
      most = size - 1;
    }
  }
  return found;
}

}  // namespace

std::optional<Command> peer_decision(const Input& input) {
  Survey survey(input, {});
  if (auto command = remove_empty(survey)) {
    return command;
  }
  const auto sorted = eligible_candidates(survey, Reason::Underutilized);
  if (auto command = multi_node(survey, sorted)) {
    return command;
  }
  for (const auto* candidate : sorted) {
    if (auto command = peer_consolidation(survey, Candidates(&candidate, 1))) {
      return command;
    }
  }
  return std::nullopt;
}

}  // namespace millwright::disruption::bench
