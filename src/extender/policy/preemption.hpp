// ExtenderPreemptionArgs and ExtenderPreemptionResult: which pods would be evicted from which node.
#pragma once

#include "extender/wire/json_fields.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::extender {

struct PreemptionNode {
  std::string name;
  std::vector<std::string> victim_uids;  // may be empty (kubernetes/kubernetes#135486)
  std::int64_t pdb_violations = 0;
};

struct PreemptionRequest {
  const boost::json::value* pod = nullptr;
  std::vector<PreemptionNode> nodes;  // in the order they were sent
};

// `json` must outlive the request. Victims come as UIDs (cache-capable) or as whole pods.
base::Result<PreemptionRequest> read_preemption(const boost::json::value& json);

// What evicting the victims frees on the node; nothing when the node is unknown.
model::ResourceList freed_by(const PreemptionNode& node, const scheduling::NodeRecord* record);

// Always in the form with UIDs.
std::string preemption_result(const std::vector<PreemptionNode>& nodes);

}  // namespace millwright::extender
