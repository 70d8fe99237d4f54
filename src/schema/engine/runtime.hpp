// Karpenter's run-time validation: what its controllers check beyond the CRD and report as the
// condition ValidationSucceeded. An object that fails these is stored but never used.
#pragma once

#include "millwright/schema/schema.hpp"
#include "schema/engine/access.hpp"

#include <string>
#include <vector>

namespace millwright::schema {

void check_node_pool(const json::value& object, std::vector<Problem>& problems);
void check_node_claim(const json::value& object, std::vector<Problem>& problems);
void check_node_overlay(const json::value& object, std::vector<Problem>& problems);
void check_provisioner(const json::value& object, std::vector<Problem>& problems);

}  // namespace millwright::schema
