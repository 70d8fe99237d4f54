// Editing a NodeClaim's conditions and writing them back only when something changed.
#pragma once

#include "millwright/controllers/services.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/model/conditions.hpp"

#include <boost/json.hpp>

#include <functional>
#include <memory>

namespace millwright::controllers {

using ClaimPtr = std::shared_ptr<const model::NodeClaim>;
using ClaimReply = base::Task<base::Result<ClaimPtr>>;

// Applies `edit` to a copy of the conditions; patches status when it changed them or when
// `status` carries other members.
inline ClaimReply edit_conditions(Services& services, ClaimPtr claim,
                                  std::function<void(model::ConditionSet&)> edit,
                                  boost::json::object status = {}) {
  auto conditions = claim->conditions;
  model::ConditionSet set(conditions, claim->meta, model::kNodeClaimDependents,
                          services.loop.now());
  edit(set);
  if (!set.changed() && status.empty()) {
    co_return claim;
  }
  if (set.changed()) {
    status["conditions"] = model::encode(conditions);
  }
  co_return co_await patch_claim(services, claim, ClaimPatch::of_status(std::move(status)));
}

inline const model::Condition* condition(const ClaimPtr& claim, std::string_view type) {
  return model::find_condition(claim->conditions, type);
}
// Not yet decided: absent or Unknown.
inline bool is_undecided(const ClaimPtr& claim, std::string_view type) {
  const auto* found = condition(claim, type);
  return found == nullptr || found->status == model::ConditionStatus::Unknown;
}

}  // namespace millwright::controllers
