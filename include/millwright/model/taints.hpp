// Taints and tolerations.
#pragma once

#include "millwright/base/time.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace millwright::model {

struct Taint {
  std::string key;
  std::string value;
  std::string effect;  // NoSchedule, PreferNoSchedule, NoExecute
  std::optional<base::TimePoint> time_added;
  friend bool operator==(const Taint&, const Taint&) = default;
  // "key=value:effect"
  std::string to_string() const;
};

struct Toleration {
  std::string key;
  std::string op;  // "", Equal, Exists
  std::string value;
  std::string effect;
  std::optional<std::int64_t> toleration_seconds;
  friend bool operator==(const Toleration&, const Toleration&) = default;
  bool tolerates(const Taint& taint) const;
};

// The first taint that no toleration covers; PreferNoSchedule counts like the others.
const Taint* first_untolerated(std::span<const Taint> taints,
                               std::span<const Toleration> tolerations);

// Taints that Karpenter ignores on a managed node until it is initialised: not-ready,
// unreachable, uninitialized, unregistered and readiness.k8s.io/*.
bool is_ephemeral_taint(const Taint& taint);

}  // namespace millwright::model
