// The parts of the page, each in its own file.
#pragma once

#include "millwright/telemetry/page.hpp"
#include "telemetry/text.hpp"

namespace millwright::telemetry {

void write_cluster(Text& text, const PageInput& input);  // state, plans, disruption
void write_pools(Text& text, const PageInput& input);    // NodePools: limits, usage, cost, budgets
void write_nodes(Text& text, const PageInput& input);    // resources of each node
void write_pods(Text& text, const PageInput& input);     // state and waiting times of each pod
void write_conditions(Text& text, const PageInput& input);  // operator_<kind>_*

inline double seconds_since(base::TimePoint then, base::TimePoint now) {
  return std::chrono::duration<double>(now - then).count();
}

}  // namespace millwright::telemetry
