// In which domain (a zone, say) a claim's node will be, and which groups will count its pods there.
// Both follow from the claim's shape.
#pragma once

#include "scheduling/claims/claim_builder.hpp"
#include "scheduling/topology/narrowings.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace millwright::scheduling {

enum class Counting : std::uint8_t { No, Perhaps, Surely };

class ClaimDomains {
 public:
  ClaimDomains(const Topology& topology, ClaimBuilder& builder, Narrowings& narrowings)
      : topology_(topology), builder_(builder), narrowings_(narrowings) {}

  // The domain of every claim of the shape; kUnknownDomain while it is open.
  std::int32_t of(ShapeId shape, KeyId key);

  // Whether the group's node filter counts the claim's pods.
  Counting counting(const ClaimDraft& claim, TopologyGroupId group);
  // Pods with the constraint count in the same groups on both.
  bool counts_alike(const ClaimDraft& before, const ClaimDraft& after,
                    const Constraint& constraint);

  const Narrowing& narrowing(KeyId key, std::int32_t domain) {
    return narrowings_.one(key, domain);
  }
  // Narrows the applicant to the domains of the claim that it is on. False when one of those is
  // still open.
  bool freeze(const ClaimDraft& claim, Applicant& applicant);
  // Moving the pod there changes no count that anybody was placed by.
  bool may_move(const ClaimDraft& from, const ClaimDraft& to, const Constraint& constraint);
  // Ties `part`, some pods of `whole`, to the domains where those were counted. False when it
  // cannot be there.
  bool keep(const ClaimDraft& whole, ClaimDraft& part);

 private:
  std::int32_t look_up(ShapeId shape, const TopologyKey& key) const;
  Counting work_out(const ClaimDraft& claim, const NodeFilter& filter) const;

  const Topology& topology_;
  ClaimBuilder& builder_;
  Narrowings& narrowings_;
  ById<ShapeId, ById<KeyId, std::int32_t>> domains_;
  std::unordered_map<std::uint64_t, Counting> counting_;  // by shape and group
};

}  // namespace millwright::scheduling
