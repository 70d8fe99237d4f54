// What the shadow came to beside the cluster, and what it would have bought. Pure.
#pragma once

#include "app/replay/replay.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace millwright::app {

// Machines of one kind that the shadow's NodeClaims stand for, made since its start.
struct WouldBuy {
  std::string node_pool;
  std::string instance_type;
  std::string zone;
  std::string capacity_type;
  std::size_t machines = 0;
  std::optional<double> price;  // per hour, of each
};

struct ShadowReport {
  ReplayReport courses;  // "recorded" is the cluster, "replayed" the shadow
  std::vector<WouldBuy> bought;
};

// Those that were launched, by NodePool, type, zone and capacity type.
std::vector<WouldBuy> would_buy(const sandbox::Recorder& shadow, base::TimePoint since,
                                const sandbox::Recorder::PriceLookup& price);
std::string to_text(const ShadowReport& report);

}  // namespace millwright::app
