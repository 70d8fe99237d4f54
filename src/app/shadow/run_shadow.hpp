// `millwright controller --shadow`: the process around a Shadow.
#pragma once

#include "millwright/app/settings.hpp"
#include "millwright/base/log.hpp"
#include "millwright/base/loop.hpp"

#include <stop_token>

namespace millwright::app {

// Blocks until `told`, which comes with SIGINT or SIGTERM, or until the shadow fails; then prints
// the report. The process's exit status. The loop has not run yet.
int run_shadow(const Settings& settings, const Environment& environment, base::RealLoop& loop,
               const base::Logger& log, std::stop_token told);

}  // namespace millwright::app
