// From a claim in the making to the NodeClaim that is to be created.
#pragma once

#include "millwright/scheduling/solve.hpp"
#include "scheduling/claim_drafts.hpp"

#include <map>
#include <optional>
#include <string>

namespace millwright::scheduling {

class ClaimWriter {
 public:
  ClaimWriter(const Problem& problem, const PodClasses& pods, std::span<const PoolTemplate> pools,
              const ClaimShapes& shapes)
      : problem_(problem), pods_(pods), pools_(pools), shapes_(shapes) {}

  // nullopt, with the reason, when the claim would break minValues once its instance types are
  // cut to the number allowed.
  std::optional<PlannedClaim> write(const ClaimDraft& claim, std::string& reason);

 private:
  void set_types(PlannedClaim& planned, const ClaimDraft& claim, const RowSet& rows) const;
  model::ResourceList requests_of(const ClaimDraft& claim) const;
  model::StringMap annotations_of(const PoolTemplate& pool, bool min_values_relaxed);

  const Problem& problem_;
  const PodClasses& pods_;
  std::span<const PoolTemplate> pools_;
  const ClaimShapes& shapes_;
  std::map<std::string, std::string> hashes_;  // by pool
};

}  // namespace millwright::scheduling
