// Keeps the account of what nodes cost and what they were used for (telemetry::CostLedger).
#pragma once

#include "millwright/controllers/services.hpp"

#include <stop_token>

namespace millwright::controllers {

// Looks at the cluster every ten seconds until `stop`. Loop thread only.
base::Task<void> run_cost_watch(Services& services, std::stop_token stop);

}  // namespace millwright::controllers
