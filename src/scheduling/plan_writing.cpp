#include "scheduling/plan_writing.hpp"

#include "scheduling/explain.hpp"

#include <algorithm>
#include <utility>

namespace millwright::scheduling {

WrittenClaim write_claim(ClaimWriter& writer, const ClaimDraft& draft) {
  WrittenClaim result;
  result.claim = writer.write(draft, result.dropped);
  return result;
}

Refusal Refusals::dropped(const std::string& pod_uid, const WrittenClaim& claim) {
  return {pod_uid, claim.dropped.reason, claim.dropped.remedy};
}

Refusal Refusals::of(std::uint32_t pod) {
  const PlannedPod& planned = compiled_.pods.pods[pod];
  auto [found, added] = by_class_.try_emplace(planned.pod_class);
  if (added) {
    Explanation explained =
        explain(compiled_.problem, compiled_.pods, compiled_.pods.classes[planned.pod_class],
                compiled_.pools, packing_);
    found->second.reason = std::move(explained.reason);
    found->second.remedy = std::move(explained.remedy);
  }
  Refusal result = found->second;
  result.pod_uid = planned.pod->meta.uid;
  return result;
}

Plan write_plan(const CompiledProblem& compiled, Packing& packing, std::vector<WrittenClaim> claims,
                const std::vector<bool>& gone) {
  Plan plan;
  std::vector<std::size_t> index(claims.size(), 0);  // in the plan
  plan.claims.reserve(claims.size());
  for (std::size_t i = 0; i < claims.size(); ++i) {
    index[i] = plan.claims.size();
    if (claims[i].claim && !claims[i].claim->pod_uids.empty()) {
      plan.claims.push_back(*std::move(claims[i].claim));
    }
  }
  Refusals refusals(compiled, packing);
  for (std::uint32_t i = 0; i < compiled.pods.pods.size(); ++i) {
    if (!gone.empty() && gone[i]) {
      continue;
    }
    const Outcome outcome = packing.outcomes()[i];
    const std::string& uid = compiled.pods.pods[i].pod->meta.uid;
    const std::uint32_t step = packing.steps()[i];
    if (outcome.kind == Outcome::Kind::Node) {
      plan.placements.push_back({uid, compiled.nodes.nodes()[outcome.index].record->name(), step});
    } else if (outcome.kind == Outcome::Kind::Refused) {
      plan.refusals.push_back(refusals.of(i));
    } else if (claims[outcome.index].claim) {
      plan.placements.push_back({uid, index[outcome.index], step});
    } else {
      plan.refusals.push_back(Refusals::dropped(uid, claims[outcome.index]));
    }
  }
  const auto by_uid = [](const auto& a, const auto& b) { return a.pod_uid < b.pod_uid; };
  std::stable_sort(plan.placements.begin(), plan.placements.end(), by_uid);
  std::stable_sort(plan.refusals.begin(), plan.refusals.end(), by_uid);
  return plan;
}

}  // namespace millwright::scheduling
