// Object metadata, references and conditions shared by every kind.
#pragma once

#include "millwright/base/time.hpp"
#include "millwright/model/labels.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::model {

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
  bool block_owner_deletion = false;
  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

struct ObjectMeta {
  std::string name;
  std::string generate_name;
  std::string namespace_;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  std::optional<base::TimePoint> creation_timestamp;
  std::optional<base::TimePoint> deletion_timestamp;
  std::optional<std::int64_t> deletion_grace_period_seconds;
  StringMap labels;
  StringMap annotations;
  std::vector<std::string> finalizers;
  std::vector<OwnerReference> owner_references;
  friend bool operator==(const ObjectMeta&, const ObjectMeta&) = default;

  bool is_deleting() const { return deletion_timestamp.has_value(); }
  bool has_finalizer(std::string_view finalizer) const;
  // Empty when absent.
  const std::string& label(std::string_view key) const;
  const std::string& annotation(std::string_view key) const;
  const OwnerReference* controller() const;
};

// Namespace and name; namespace is empty for cluster-scoped kinds.
struct ObjectKey {
  std::string namespace_;
  std::string name;
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
  // "namespace/name", or "name".
  std::string to_string() const;
};
ObjectKey key_of(const ObjectMeta& meta);

enum class ConditionStatus : std::uint8_t { Unknown, True, False };

struct Condition {
  std::string type;
  ConditionStatus status = ConditionStatus::Unknown;
  std::string reason;
  std::string message;
  std::optional<base::TimePoint> last_transition_time;
  std::optional<base::TimePoint> last_heartbeat_time;  // only on Node and Pod conditions
  std::int64_t observed_generation = 0;
  friend bool operator==(const Condition&, const Condition&) = default;
};

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type);
bool is_true(const std::vector<Condition>& conditions, std::string_view type);

// Resource versions compare as numbers (KEP-5504); any that are not numbers say nothing.
bool is_lower_version(std::string_view a, std::string_view b);

}  // namespace millwright::model
