// The conditions of one claim: Consolidatable and Drifted (Karpenter's nodeclaim.disruption).
#include "disruption/candidates/candidate.hpp"
#include "millwright/disruption/decide.hpp"

#include <algorithm>

namespace millwright::disruption {

namespace {

constexpr auto kMinAgeToJudgeSale = std::chrono::hours(1);

}  // namespace

std::optional<base::TimePoint> pods_unchanged_since(const model::NodeClaim& claim) {
  const auto* initialized = model::find_condition(claim.conditions, model::kInitialized);
  if (initialized == nullptr || initialized->status != model::ConditionStatus::True) {
    return std::nullopt;
  }
  return claim.last_pod_event_time ? claim.last_pod_event_time : initialized->last_transition_time;
}

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::Empty:
      return "Empty";
    case Reason::Drifted:
      return "Drifted";
    case Reason::Underutilized:
      return "Underutilized";
  }
  return "";
}

Consolidatable consolidatable(const model::NodeClaim& claim, const model::NodePool& pool,
                              base::TimePoint now) {
  const auto after = pool.consolidate_after.value();
  const auto since = pods_unchanged_since(claim);
  if (pool.replicas || !after || !since) {
    return {};
  }
  const auto from = base::sum_of(*since, *after);
  return from && now >= *from ? Consolidatable{.value = true, .next = std::nullopt}
                              : Consolidatable{.value = false, .next = from};
}

std::string drift_reason(const model::NodeClaim& claim, const model::NodePool& pool) {
  if (!model::is_true(claim.conditions, model::kLaunched)) {
    return {};
  }
  const auto& claim_hash = claim.meta.annotation(model::kNodePoolHashAnnotation);
  const auto& claim_version = claim.meta.annotation(model::kNodePoolHashVersionAnnotation);
  const auto& pool_hash = pool.meta.annotation(model::kNodePoolHashAnnotation);
  const auto& pool_version = pool.meta.annotation(model::kNodePoolHashVersionAnnotation);
  const bool comparable = !claim_hash.empty() && !pool_hash.empty() && !claim_version.empty() &&
                          claim_version == pool_version;
  if (comparable && claim_hash != pool_hash) {
    return "NodePoolDrifted";
  }
  const scheduling::Requirements wanted(pool.template_.requirements);
  const auto has = scheduling::Requirements::from_labels(claim.meta.labels);
  return has.compatible(wanted, scheduling::AllowUndefined::None) ? "" : "RequirementsDrifted";
}

std::string sale_drift_reason(const model::NodeClaim& claim, const scheduling::InstanceTypes& types,
                              base::TimePoint now) {
  const bool old =
      claim.meta.creation_timestamp && now - *claim.meta.creation_timestamp >= kMinAgeToJudgeSale;
  const auto& name = claim.meta.label(model::kInstanceTypeLabel);
  if (!old || name.empty() || types == nullptr || types->empty()) {
    return {};
  }
  const auto& zone = claim.meta.label(model::kZoneLabel);
  const auto& capacity_type = claim.meta.label(model::kCapacityTypeLabel);
  const auto is_its_own = [&](const scheduling::Offering& offering) {
    return (zone.empty() || offering.zone() == zone) &&
           (capacity_type.empty() || offering.capacity_type() == capacity_type ||
            (capacity_type == model::kReserved && offering.capacity_type() == model::kOnDemand));
  };
  const auto* type = scheduling::find_type(types, name);
  return type != nullptr && std::any_of(type->offerings.begin(), type->offerings.end(), is_its_own)
             ? ""
             : "InstanceTypeNotFound";
}

}  // namespace millwright::disruption
