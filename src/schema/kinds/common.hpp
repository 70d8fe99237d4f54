// Pieces that several kinds share: taints, requirements, references, conditions, selectors.
#pragma once

#include "millwright/schema/schema.hpp"
#include "schema/engine/field.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace millwright::schema {

Field resource_map(std::string description);
Field taint_list(std::string description);

// Whose requirements: a NodeClaim and a NodeOverlay may name NodePools, a Provisioner knows fewer
// operators, and neither it nor a NodeOverlay has minValues.
enum class RequirementsOf : std::uint8_t { NodePool, NodeClaim, NodeOverlay, Provisioner };
Field requirement_list(std::string description, RequirementsOf owner);
// What a node image needs, in the status of a NodeClass: key, operator and values only.
Field image_requirement_list();

enum class ReferenceChange : std::uint8_t { NameOnly, Any };
Field node_class_ref(ReferenceChange change);

enum class ConditionText : std::uint8_t { Complete, ReasonOptional };
Field condition_list(ConditionText text);

// Rules over label maps and requirement keys: domains and keys that the controller keeps.
Field label_map(std::string description);

// Tags that select cloud resources: at most 20.
Field selector_tags(EntryRule rule);
// ORed terms over tags, id and name; AWS and Alibaba Cloud say it alike but for empty tag values.
Field security_group_terms(EntryRule tag_rule);
// [{"id": ..., "name": ...}]: what a selector resolved to, in the status of a NodeClass.
Field resolved_list(std::string description, std::vector<Member> members);

inline constexpr PrinterColumn kReadyColumn{"Ready", "string",
                                            R"(.status.conditions[?(@.type=="Ready")].status)"};
inline constexpr PrinterColumn kAgeColumn{"Age", "date", ".metadata.creationTimestamp"};

}  // namespace millwright::schema
