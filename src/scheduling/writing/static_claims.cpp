#include "millwright/scheduling/static_claims.hpp"

#include "scheduling/writing/planned_claims.hpp"

namespace millwright::scheduling {

PlannedClaim static_claim(const model::NodePool& pool) {
  PlannedClaim claim{.node_pool = pool.meta.name};
  claim.labels = pool.template_.labels.value_or(model::StringMap{});
  claim.labels.insert_or_assign(std::string(model::kNodePoolLabel), pool.meta.name);
  const auto& node_class = pool.template_.node_class_ref;
  if (!node_class.name.empty()) {
    claim.labels.insert_or_assign(node_class.label_key(), node_class.name);
  }
  claim.requirements = Requirements(pool.template_.requirements);
  claim.requirements.add(Requirements::from_labels(claim.labels));
  add_custom_labels(claim.requirements, claim.labels);
  claim.annotations = pool.template_.annotations.value_or(model::StringMap{});
  claim.annotations.insert_or_assign(std::string(model::kNodePoolHashAnnotation),
                                     model::nodepool_hash(pool.template_));
  claim.annotations.insert_or_assign(std::string(model::kNodePoolHashVersionAnnotation),
                                     std::string(model::kNodePoolHashVersion));
  claim.annotations.insert_or_assign(std::string(model::kMinValuesRelaxedAnnotation), "false");
  return claim;
}

}  // namespace millwright::scheduling
