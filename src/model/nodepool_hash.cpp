// Karpenter's static-drift hash, version v3: hashstructure over the Go struct NodeClaimTemplate.
#include "millwright/model/hashstructure.hpp"
#include "millwright/model/karpenter.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

namespace millwright::model {
namespace {

using hashstructure::Hash;
using hashstructure::Struct;

// metav1.Time holds a time.Time, which is hashed in its binary form: version, seconds since year
// 1, nanoseconds, zone offset in minutes, big-endian. Decoded times are in the local zone, which
// in Karpenter's image is a zone of offset 0 (UTC proper would be -1).
Hash hash_time(base::TimePoint time) {
  constexpr std::int64_t kSecondsFromYearOne = 62'135'596'800;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto since =
      static_cast<std::uint64_t>(seconds.time_since_epoch().count() + kSecondsFromYearOne);
  const auto nanos = static_cast<std::uint32_t>((time - seconds).count());
  std::array<unsigned char, 15> bytes{1};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[1 + i] = static_cast<unsigned char>(since >> (56 - 8 * i));
  }
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[9 + i] = static_cast<unsigned char>(nanos >> (24 - 8 * i));
  }
  return Struct("Time").field("Time", hashstructure::of_bytes(bytes)).hash();
}

Hash hash_taint(const Taint& taint) {
  Struct hash("Taint");
  hash.text("Key", taint.key).text("Value", taint.value).text("Effect", taint.effect);
  if (taint.time_added) {
    hash.field("TimeAdded", hash_time(*taint.time_added));
  }
  return hash.hash();
}

Hash hash_taints(const std::vector<Taint>& taints) {
  hashstructure::Set hash;
  for (const Taint& taint : taints) {
    hash.add(hash_taint(taint));
  }
  return hash.hash();
}

bool is_empty(const NodeClassReference& reference) {
  return reference == NodeClassReference{};
}

Hash hash_metadata(const NodeClaimTemplate& node_claim_template) {
  Struct hash("ObjectMeta");
  if (node_claim_template.labels) {
    hash.field("Labels", hashstructure::of_map(*node_claim_template.labels));
  }
  if (node_claim_template.annotations) {
    hash.field("Annotations", hashstructure::of_map(*node_claim_template.annotations));
  }
  return hash.hash();
}

Hash hash_spec(const NodeClaimTemplate& node_claim_template) {
  Struct hash("NodeClaimTemplateSpec");
  if (node_claim_template.taints) {
    hash.field("Taints", hash_taints(*node_claim_template.taints));
  }
  if (node_claim_template.startup_taints) {
    hash.field("StartupTaints", hash_taints(*node_claim_template.startup_taints));
  }
  if (const NodeClassReference& reference = node_claim_template.node_class_ref;
      !is_empty(reference)) {
    hash.field("NodeClassRef", Struct("NodeClassReference")
                                   .text("Kind", reference.kind)
                                   .text("Name", reference.name)
                                   .text("Group", reference.group)
                                   .hash());
  }
  if (const auto period = node_claim_template.termination_grace_period.value()) {
    hash.field("TerminationGracePeriod", hashstructure::of_duration(*period));
  }
  if (const auto expire = node_claim_template.expire_after.value()) {
    // Unlike metav1.Duration it holds its value by pointer, so that zero counts.
    hash.field("ExpireAfter", Struct("NillableDuration")
                                  .field("Duration", hashstructure::of_int64(expire->count()))
                                  .hash());
  }
  return hash.hash();
}

}  // namespace

std::string nodepool_hash(const NodeClaimTemplate& node_claim_template) {
  Struct hash("NodeClaimTemplate");
  if (node_claim_template.labels || node_claim_template.annotations) {
    hash.field("ObjectMeta", hash_metadata(node_claim_template));
  }
  const bool has_spec = node_claim_template.taints || node_claim_template.startup_taints ||
                        !is_empty(node_claim_template.node_class_ref) ||
                        node_claim_template.termination_grace_period.value() ||
                        node_claim_template.expire_after.value();
  if (has_spec) {
    hash.field("Spec", hash_spec(node_claim_template));
  }
  return std::to_string(hash.hash());
}

bool is_stamped_otherwise(const ObjectMeta& meta, const HashStamp& stamp) {
  const auto& hash = meta.annotation(stamp.key);
  return !hash.empty() && hash != stamp.hash && meta.annotation(stamp.version_key) == stamp.version;
}

}  // namespace millwright::model
