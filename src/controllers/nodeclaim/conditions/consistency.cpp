#include "controllers/nodeclaim/conditions/consistency.hpp"

#include <cmath>

namespace millwright::controllers {
namespace {

constexpr double kLeastShare = 0.90;
constexpr auto kRepeatAfter = std::chrono::minutes(10);  // of the event

}  // namespace

std::string inconsistency(const model::NodeClaim& claim, const model::Node& node) {
  for (const auto& [resource, requested] : claim.requests) {
    const auto expected = model::get(claim.capacity, resource);
    if (requested.is_zero() || expected <= model::Quantity{}) {
      continue;
    }
    const auto found = model::get(node.capacity, resource);
    const double share = found.as_double() / expected.as_double();
    if (share < kLeastShare) {
      return "expected " + expected.to_string() + " of resource " + resource + ", but found " +
             found.to_string() + " (" + std::to_string(std::lround(share * 1000) / 10) + "." +
             std::to_string(std::lround(share * 1000) % 10) + "% of expected)";
    }
  }
  return {};
}

std::optional<std::string> compare_with_node(Services& services, const ClaimPtr& claim) {
  const auto record = services.state.find_claim(claim->meta.name);
  if (!record || !record->node || !model::is_true(claim->conditions, model::kInitialized)) {
    return std::nullopt;
  }
  const auto& ref = claim->node_class_ref;
  if (auto* provider = services.providers.find(ref.group, ref.kind)) {
    provider->learn_capacity(*claim, *record->node);
  }
  auto problem = inconsistency(*claim, *record->node);
  if (!problem.empty()) {
    services.events.record({.object = kube::reference_to(model::kNodeClaimResource, claim->meta),
                            .warning = true,
                            .reason = "FailedConsistencyCheck",
                            .message = problem,
                            .dedupe_values = {},
                            .dedupe_for = kRepeatAfter});
  }
  return problem;
}

void write_consistency(model::ConditionSet& set, const std::optional<std::string>& problem) {
  if (problem && problem->empty()) {
    set.set_true(model::kConsistentStateFound);
  } else if (problem) {
    set.set_false(model::kConsistentStateFound, "ConsistencyCheckFailed", *problem);
  }
}

}  // namespace millwright::controllers
