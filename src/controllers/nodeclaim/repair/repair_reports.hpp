// What people and alerts are told of node repair.
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"
#include "controllers/process/pace.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace millwright::controllers {

// Posts NodeRepairBlocked. When a zone fails, thousands of nodes are held back at once, and news of
// pods must not wait for theirs: at most five nodes are told each second (fifty at once). The
// NodePool is always told.
class RepairReports {
 public:
  enum class Cause : std::uint8_t { TooManyBroken, Budgets };
  // `message` is one sentence. It may vary; the same cause is told once in fifteen minutes.
  void tell_held_back(Services& services, const scheduling::NodeRecord& record, Cause cause,
                      const std::string& message);

 private:
  Pace pace_{5, 50};
};

// Counts the claim's end by its node's condition.
void count_repair(Services& services, const model::NodeClaim& claim, std::string_view condition);

// As Karpenter's metrics name a condition: "accelerated_hardware_ready".
std::string snake_case(std::string_view text);

}  // namespace millwright::controllers
