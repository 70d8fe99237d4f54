// Sets conditions as operatorpkg's status library does, since clients see the difference: "Ready"
// is computed from the conditions it depends on, a condition's first transition time is the
// object's creation time, and the list is sorted by transition time with Ready last.
#pragma once

#include "millwright/model/meta.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::model {

// The reason of a NodeClaim's condition Launched while the cloud refuses its launch.
inline constexpr std::string_view kLaunchFailed = "LaunchFailed";
// The cloud refused the NodeClaim's launch, and not for want of capacity. It is tried again; nobody
// knows whether the node will come.
bool is_launch_failing(const std::vector<Condition>& conditions);

// "True", "False" or "Unknown".
std::string_view status_text(ConditionStatus status);

class ConditionSet {
 public:
  // Ready is True when all `dependents` are. `conditions` is edited in place.
  ConditionSet(std::vector<Condition>& conditions, const ObjectMeta& meta,
               std::span<const std::string_view> dependents, base::TimePoint now);

  void set_true(std::string_view type, std::string_view reason = {}, std::string_view message = {});
  void set_false(std::string_view type, std::string_view reason, std::string_view message);
  void set_unknown(std::string_view type, std::string_view reason, std::string_view message);
  // Only conditions that Ready does not depend on.
  void clear(std::string_view type);
  bool changed() const { return changed_; }

 private:
  void set(std::string_view type, ConditionStatus status, std::string_view reason,
           std::string_view message);
  void recompute_root();
  std::vector<Condition>& conditions_;
  const ObjectMeta& meta_;
  std::span<const std::string_view> dependents_;
  base::TimePoint now_;
  bool changed_ = false;
};

inline constexpr std::string_view kNodeClaimDependents[] = {"Launched", "Registered",
                                                            "Initialized"};
inline constexpr std::string_view kNodePoolDependents[] = {"ValidationSucceeded", "NodeClassReady"};

}  // namespace millwright::model
