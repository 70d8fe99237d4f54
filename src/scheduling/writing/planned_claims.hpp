// From a claim in the making to the NodeClaim that is to be created.
#pragma once

#include "millwright/scheduling/solve.hpp"
#include "scheduling/claims/claim_draft.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millwright::scheduling {

// Labels for the keys that are no instance type's: nodes carry one value that the requirement
// admits. Karpenter's Requirements.Labels().
void add_custom_labels(const Requirements& requirements, model::StringMap& labels);

// Why a claim is not written after all.
struct Dropped {
  std::string reason;
  std::string remedy;
};

class ClaimWriter {
 public:
  ClaimWriter(const Problem& problem, const PodClasses& pods,
              const ById<PoolId, PoolTemplate>& pools, const ClaimShapes& shapes)
      : problem_(problem), pods_(pods), pools_(pools), shapes_(shapes) {}

  // nullopt, with the reason, when the claim would break minValues once its instance types are
  // cut to the number allowed.
  std::optional<PlannedClaim> write(const ClaimDraft& claim, Dropped& dropped);

 private:
  // All of a claim but its pods: the same for claims with the same shape and instance types.
  struct Prototype {
    std::optional<PlannedClaim> claim;
    RowSet kept;      // rows of its instance types
    Dropped dropped;  // why there is none
  };
  std::optional<PlannedClaim> make_prototype(const ClaimDraft& claim, Prototype& prototype);
  // True when some minValues had to be lowered to what is listed.
  bool set_types(PlannedClaim& planned, const ClaimDraft& claim, const RowSet& rows);
  void keep_to_offerings(PlannedClaim& planned, const ClaimDraft& claim, const RowSet& rows) const;
  // Prototypes of many shapes have the same lists.
  const SharedList<std::string>& names_of(std::vector<const InstanceType*> types);
  const Requirement& types_in(PoolId pool, const RowSet& rows);
  model::ResourceList requests_of(const ClaimDraft& claim) const;
  model::StringMap annotations_of(const PoolTemplate& pool, bool min_values_relaxed);

  const Problem& problem_;
  const PodClasses& pods_;
  const ById<PoolId, PoolTemplate>& pools_;
  const ClaimShapes& shapes_;
  std::map<std::string, std::string> hashes_;  // by pool
  std::map<std::vector<std::uint64_t>, Prototype> prototypes_;
  std::map<std::vector<const InstanceType*>, SharedList<std::string>> names_;
  std::map<std::vector<std::uint64_t>, Requirement> types_;  // by pool and rows
};

}  // namespace millwright::scheduling
