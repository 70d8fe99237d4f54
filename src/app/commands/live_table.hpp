// The sandbox's live view as text: pods, nodes with their type, zone, capacity type, price and age.
#pragma once

#include "millwright/sandbox/recorder.hpp"

#include <cstddef>
#include <string>

namespace millwright::app {

// Several lines, each ended with a newline; those of nodes are no wider than `width`.
std::string live_table(const sandbox::LiveView& view, base::TimePoint begun, std::size_t width);
// The same in one line, for output that is not a terminal.
std::string live_line(const sandbox::LiveView& view, base::TimePoint begun);

}  // namespace millwright::app
