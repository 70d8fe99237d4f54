#include "scheduling/writing/plan_writing.hpp"

#include "scheduling/explain/explain.hpp"
#include "scheduling/packing/allowance.hpp"
#include "scheduling/writing/planned_claims.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace millwright::scheduling {
namespace {

// What became of one claim of the packing.
struct WrittenClaim {
  std::optional<std::size_t> index;  // into Plan::claims
  Dropped dropped;                   // why it has none
};

// Reasons and remedies, worked out once per class.
class Refusals {
 public:
  Refusals(const CompiledProblem& compiled, Packing& packing)
      : compiled_(compiled), packing_(packing), allowance_(compiled.problem.options.allowance) {}

  Refusal of(PodId pod) {
    const PlannedPod& planned = compiled_.pods.pods[pod];
    if (packing_.is_postponed(pod)) {
      return {.pod_uid = planned.pod->meta.uid,
              .reason =
                  "so many different pods wait that it was not tried; the next plan begins "
                  "where this one ended",
              .remedy = {},
              .postponed = true};
    }
    auto [found, added] = by_class_.try_emplace(planned.pod_class);
    if (added && !may_explain(planned.pod_class)) {
      found->second.remedy = "ask for it with millwright why pod";
      found->second.reason =
          "it has no place; so many different pods have none that its reason was not looked for";
    } else if (added) {
      Explanation explained =
          explain(compiled_.problem, compiled_.pods, compiled_.pods.classes[planned.pod_class],
                  compiled_.pools, packing_);
      found->second.reason = std::move(explained.reason);
      found->second.remedy = std::move(explained.remedy);
      found->second.changes = std::move(explained.changes);
    }
    Refusal result = found->second;
    result.pod_uid = planned.pod->meta.uid;
    return result;
  }

 private:
  // Each rung of its ladder is followed through each NodePool.
  bool may_explain(std::uint32_t pod_class) {
    const PodClasses& pods = compiled_.pods;
    const Constraint& constraint = pods.constraints[pods.classes[pod_class].constraint];
    allowance_.explain(compiled_.pools.size() * constraint.ladder.size());
    return !allowance_.is_spent();
  }

  const CompiledProblem& compiled_;
  Packing& packing_;
  Allowance allowance_;
  std::map<std::uint32_t, Refusal> by_class_;
};

// Adds the claims to the plan.
ById<ClaimId, WrittenClaim> write_claims(const CompiledProblem& compiled, const ClaimDrafts& drafts,
                                         Plan& plan) {
  std::map<PoolId, model::ResourceList> left;
  ClaimWriter writer(compiled.problem, compiled.pods, compiled.pools, drafts.shapes());
  ById<ClaimId, WrittenClaim> written;
  written.reserve(drafts.claims().size());
  plan.claims.reserve(drafts.claims().size());
  for (const ClaimDraft& draft : drafts.claims()) {
    WrittenClaim& result = written.emplace_back();
    if (auto claim = writer.write(draft, result.dropped)) {
      if (const Limits& limits = drafts.builder().limits(draft.pool); limits.limited()) {
        claim->limit_charge = limits.charge_of(draft.charged);
        const auto [found, is_new] = left.try_emplace(draft.pool);
        if (is_new) {
          found->second = limits.left();
        }
        claim->limit_left = found->second;
      }
      result.index = plan.claims.size();
      plan.claims.push_back(*std::move(claim));
    }
  }
  return written;
}

}  // namespace

Plan write_plan(const CompiledProblem& compiled, Packing& packing) {
  Plan plan;
  const ById<ClaimId, WrittenClaim> claims = write_claims(compiled, packing.drafts(), plan);
  Refusals refusals(compiled, packing);
  for (PodId pod; pod < compiled.pods.pods.end_id(); ++pod) {
    const PodPlace place = packing.places()[pod];
    const std::string& uid = compiled.pods.pods[pod].pod->meta.uid;
    const std::uint32_t step = packing.steps()[pod];
    if (place.kind == PodPlace::Kind::Node) {
      plan.placements.push_back({uid, compiled.nodes.nodes()[place.node()].record->name(), step});
    } else if (place.kind == PodPlace::Kind::None) {
      plan.refusals.push_back(refusals.of(pod));
    } else if (const WrittenClaim& claim = claims[place.claim()]; claim.index) {
      plan.placements.push_back({uid, *claim.index, step});
    } else {
      plan.refusals.push_back({uid, claim.dropped.reason, claim.dropped.remedy, {}});
    }
  }
  const auto by_uid = [](const auto& a, const auto& b) { return a.pod_uid < b.pod_uid; };
  std::stable_sort(plan.placements.begin(), plan.placements.end(), by_uid);
  std::stable_sort(plan.refusals.begin(), plan.refusals.end(), by_uid);
  return plan;
}

}  // namespace millwright::scheduling
