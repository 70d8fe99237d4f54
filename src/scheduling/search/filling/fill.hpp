// A fill: a machine and the pods to put on it. It is what the planner buys, and a column of the
// linear program that chooses what to buy (a "pattern" in the literature on cutting stock).
#pragma once

#include "scheduling/values/ids.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace millwright::scheduling {

// Lot and how many of its pods; sorted by lot.
using FillPods = std::vector<std::pair<LotId, std::uint32_t>>;

struct Fill {
  std::size_t row = 0;  // of the NodePool's type table: the machine to buy
  double price = 0;
  FillPods pods;
  std::optional<std::size_t> node{};  // an existing node instead of a machine to buy
  auto operator<=>(const Fill&) const = default;
};

}  // namespace millwright::scheduling
