// Ends servers while the loop goes on turning.
#pragma once

#include "millwright/base/task.hpp"
#include "millwright/net/server.hpp"

#include <chrono>
#include <vector>

namespace millwright::app {

// All at once: open requests get `grace` together, and not one server after another. Those that
// need the loop for their answer have it. The servers outlive the task.
base::Task<void> stop_servers(base::Loop* loop, std::vector<net::Server*> servers,
                              std::chrono::milliseconds grace);

}  // namespace millwright::app
