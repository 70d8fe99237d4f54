// The figures of both sides next to each other, and which targets ours miss.
#pragma once

#include "plane/field/figures.hpp"
#include "plane/field/scenarios.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace millwright::field {

struct Pair {
  Phase phase;
  std::optional<Figures> ours;  // nullopt: not played
  std::optional<Figures> peer;
};

// Adds what was spent until both sides were at rest. The one that settles first pays on for the
// nodes that it has left; without this, whoever settles later would seem to spend more. There is no
// target for it: who has nodes sooner also pays for them longer.
void add_dollars_until_both(Pair& pair);

// Keys of the figures of ours that miss their target. A target counts if the peer has that figure
// too, and the first claim's if the phase begins without room. Seconds until all pods are bound
// count from the last step of a phase: what comes before is the same for both.
std::vector<std::string_view> missed_targets(const Pair& pair);

// A line per figure: ours, the peer's, the ratio, the target and whether it is missed.
std::string comparison_text(const Pair& pair);

boost::json::object to_json(const Pair& pair);

}  // namespace millwright::field
