// Karpenter's static-drift hash, version v3: github.com/mitchellh/hashstructure format 2 over the
// Go struct NodeClaimTemplate, with zero values ignored and slices taken as sets. The Go names of
// types and fields are part of the hash.
#include "millwright/model/karpenter.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>

namespace millwright::model {
namespace {

using Hash = std::uint64_t;
using WordBytes = std::array<unsigned char, 8>;

// FNV-1, 64 bits.
class Fnv {
 public:
  template <class Bytes>
  Fnv& add(const Bytes& bytes) {
    for (const auto byte : bytes) {
      hash_ *= 0x100000001b3ULL;
      hash_ ^= static_cast<unsigned char>(byte);
    }
    return *this;
  }
  Hash hash() const { return hash_; }

 private:
  Hash hash_ = 0xcbf29ce484222325ULL;
};

WordBytes little_endian(std::uint64_t word) {
  WordBytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(word >> (8 * i));
  }
  return bytes;
}

Hash hash_text(std::string_view text) {
  return Fnv().add(text).hash();
}
Hash hash_integer(std::int64_t value) {
  return Fnv().add(little_endian(static_cast<std::uint64_t>(value))).hash();
}
Hash ordered(Hash a, Hash b) {
  return Fnv().add(little_endian(a)).add(little_endian(b)).hash();
}
Hash finished(Hash unordered) {
  return Fnv().add(little_endian(unordered)).hash();
}

Hash hash_map(const StringMap& map) {
  Hash hash = 0;
  for (const auto& [key, value] : map) {
    hash ^= ordered(hash_text(key), hash_text(value));
  }
  return finished(hash);
}

class StructHash {
 public:
  explicit StructHash(std::string_view go_type) : hash_(hash_text(go_type)) {}

  StructHash& field(std::string_view go_name, Hash value) {
    hash_ = finished(hash_ ^ ordered(hash_text(go_name), value));
    return *this;
  }
  StructHash& text(std::string_view go_name, std::string_view value) {
    return value.empty() ? *this : field(go_name, hash_text(value));
  }
  Hash hash() const { return hash_; }

 private:
  Hash hash_;
};

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
  return StructHash("Time").field("Time", Fnv().add(bytes).hash()).hash();
}

Hash hash_taint(const Taint& taint) {
  StructHash hash("Taint");
  hash.text("Key", taint.key).text("Value", taint.value).text("Effect", taint.effect);
  if (taint.time_added) {
    hash.field("TimeAdded", hash_time(*taint.time_added));
  }
  return hash.hash();
}

// A slice is a set: order does not count, and two equal elements cancel each other.
Hash hash_taints(const std::vector<Taint>& taints) {
  Hash hash = 0;
  for (const Taint& taint : taints) {
    hash ^= hash_taint(taint);
  }
  return hash;
}

bool is_empty(const NodeClassReference& reference) {
  return reference == NodeClassReference{};
}

Hash hash_metadata(const NodeClaimTemplate& node_claim_template) {
  StructHash hash("ObjectMeta");
  if (node_claim_template.labels) {
    hash.field("Labels", hash_map(*node_claim_template.labels));
  }
  if (node_claim_template.annotations) {
    hash.field("Annotations", hash_map(*node_claim_template.annotations));
  }
  return hash.hash();
}

Hash hash_spec(const NodeClaimTemplate& node_claim_template) {
  StructHash hash("NodeClaimTemplateSpec");
  if (node_claim_template.taints) {
    hash.field("Taints", hash_taints(*node_claim_template.taints));
  }
  if (node_claim_template.startup_taints) {
    hash.field("StartupTaints", hash_taints(*node_claim_template.startup_taints));
  }
  if (const NodeClassReference& reference = node_claim_template.node_class_ref;
      !is_empty(reference)) {
    hash.field("NodeClassRef", StructHash("NodeClassReference")
                                   .text("Kind", reference.kind)
                                   .text("Name", reference.name)
                                   .text("Group", reference.group)
                                   .hash());
  }
  if (const auto period = node_claim_template.termination_grace_period.value()) {
    // metav1.Duration holds its value directly, so that zero is skipped ...
    StructHash duration("Duration");
    if (period->count() != 0) {
      duration.field("Duration", hash_integer(period->count()));
    }
    hash.field("TerminationGracePeriod", duration.hash());
  }
  if (const auto expire = node_claim_template.expire_after.value()) {
    // ... and NillableDuration by pointer, so that zero counts.
    hash.field(
        "ExpireAfter",
        StructHash("NillableDuration").field("Duration", hash_integer(expire->count())).hash());
  }
  return hash.hash();
}

}  // namespace

std::string nodepool_hash(const NodeClaimTemplate& node_claim_template) {
  StructHash hash("NodeClaimTemplate");
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

}  // namespace millwright::model
