// Why a pod was refused, and the smallest change that would have placed it. Looked at only for
// refused pods, once per class.
#pragma once

#include "scheduling/claim_drafts.hpp"
#include "scheduling/pod_classes.hpp"
#include "scheduling/pool_template.hpp"

#include <span>
#include <string>

namespace millwright::scheduling {

struct Explanation {
  std::string reason;
  std::string remedy;
};

// `drafts` in the state that the plan ended in.
Explanation explain(const PodClasses& pods, const PodClass& pod_class,
                    std::span<const PoolTemplate> pools, ClaimDrafts& drafts);

}  // namespace millwright::scheduling
