#include "scheduling/writing/plan_writing.hpp"

#include "scheduling/compile/pods/uid_keys.hpp"
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

// All pods. Whoever sorts them moves less than whoever sorts placements.
std::vector<PodId> by_uid(const PodClasses& pods) {
  struct Keyed {
    std::uint64_t key;
    PodId pod;
  };
  const UidKeys uids(pods.pods);
  std::vector<Keyed> keyed;
  keyed.reserve(pods.pods.size());
  for (PodId pod; pod < pods.pods.end_id(); ++pod) {
    keyed.push_back({uids.of(pods.pods[pod]), pod});
  }
  std::sort(keyed.begin(), keyed.end(), [&](const Keyed& a, const Keyed& b) {
    if (a.key != b.key) {
      return a.key < b.key;
    }
    const std::string& left = pods.pods[a.pod].pod->meta.uid;
    const std::string& right = pods.pods[b.pod].pod->meta.uid;
    return left != right ? left < right : a.pod < b.pod;
  });
  std::vector<PodId> result;
  result.reserve(keyed.size());
  for (const Keyed& each : keyed) {
    result.push_back(each.pod);
  }
  return result;
}

}  // namespace

Plan write_plan(const CompiledProblem& compiled, Packing& packing) {
  Plan plan;
  const ById<ClaimId, WrittenClaim> claims = write_claims(compiled, packing.drafts(), plan);
  // Reasons are looked for while the allowance lasts, so who comes first matters.
  Refusals refusals(compiled, packing);
  for (PodId pod; pod < compiled.pods.pods.end_id(); ++pod) {
    const PodPlace place = packing.places()[pod];
    if (place.kind == PodPlace::Kind::None) {
      plan.refusals.push_back(refusals.of(pod));
    } else if (place.kind == PodPlace::Kind::Claim && !claims[place.claim()].index) {
      const Dropped& dropped = claims[place.claim()].dropped;
      plan.refusals.push_back(
          {compiled.pods.pods[pod].pod->meta.uid, dropped.reason, dropped.remedy, {}});
    }
  }
  std::stable_sort(plan.refusals.begin(), plan.refusals.end(),
                   [](const Refusal& a, const Refusal& b) { return a.pod_uid < b.pod_uid; });
  plan.placements.reserve(compiled.pods.pods.size() - plan.refusals.size());
  for (const PodId pod : by_uid(compiled.pods)) {
    const PodPlace place = packing.places()[pod];
    const std::string& uid = compiled.pods.pods[pod].pod->meta.uid;
    const std::uint32_t step = packing.steps()[pod];
    if (place.kind == PodPlace::Kind::Node) {
      plan.placements.push_back({uid, compiled.nodes.nodes()[place.node()].record->name(), step});
    } else if (place.kind == PodPlace::Kind::Claim && claims[place.claim()].index) {
      plan.placements.push_back({uid, *claims[place.claim()].index, step});
    }
  }
  return plan;
}

}  // namespace millwright::scheduling
