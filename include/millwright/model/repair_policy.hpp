// What a cloud calls a broken node, by the conditions of its Node (Karpenter's RepairPolicy).
#pragma once

#include "millwright/base/time.hpp"
#include "millwright/model/meta.hpp"

#include <span>
#include <string_view>

namespace millwright::model {

// A node is broken while the condition has the status. It is repaired once that has lasted for
// `toleration`.
struct RepairPolicy {
  std::string_view condition;  // a type of condition, "Ready"; text of the program's lifetime
  ConditionStatus status = ConditionStatus::Unknown;
  base::Duration toleration{};
};
using RepairPolicies = std::span<const RepairPolicy>;

}  // namespace millwright::model
