// What room costs on the instance types open to a claim, per average pod of the problem: a common
// measure for "spot or on demand", "this zone or that", "with a GPU or without".
#pragma once

#include "scheduling/claims/claim_draft.hpp"
#include "scheduling/compile/pods/pod_classes.hpp"

#include <vector>

namespace millwright::scheduling {

class PriceLevels {
 public:
  PriceLevels(const PodClasses& pods, const ById<PoolId, PoolTemplate>& pools);

  // The least over the claim's rows, at the prices of the shape (or of its reservation).
  double of(PoolId pool, const ClaimShape& shape, const ClaimDraft& claim) const;

 private:
  const ById<PoolId, PoolTemplate>& pools_;
  ById<PoolId, std::vector<double>> capacity_;  // by pool and row, in average pods
};

}  // namespace millwright::scheduling
