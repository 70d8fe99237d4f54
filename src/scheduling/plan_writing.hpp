// From a packing to the plan that people and controllers see.
#pragma once

#include "scheduling/compiled_problem.hpp"
#include "scheduling/planned_claims.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millwright::scheduling {

struct WrittenClaim {
  std::optional<PlannedClaim> claim;
  Dropped dropped;  // or why it was not written after all
};

WrittenClaim write_claim(ClaimWriter& writer, const ClaimDraft& draft);

// Reasons and remedies, worked out once per class.
class Refusals {
 public:
  Refusals(const CompiledProblem& compiled, Packing& packing)
      : compiled_(compiled), packing_(packing) {}
  // `dropped`: the claim that the pod was on was not written, and why.
  static Refusal dropped(const std::string& pod_uid, const WrittenClaim& claim);
  Refusal of(std::uint32_t pod);

 private:
  const CompiledProblem& compiled_;
  Packing& packing_;
  std::map<std::uint32_t, Refusal> by_class_;
};

// `claims`: by index in the packing's drafts; those without pods are left out. `gone`: pods that
// are not part of the problem any more; may be empty.
Plan write_plan(const CompiledProblem& compiled, Packing& packing, std::vector<WrittenClaim> claims,
                const std::vector<bool>& gone);

}  // namespace millwright::scheduling
