// `millwright controller --shadow`: the process around a Shadow.
#pragma once

#include "millwright/app/settings.hpp"
#include "millwright/base/loop.hpp"

namespace millwright::app {

// Blocks until SIGINT or SIGTERM, or until the shadow fails; then prints the report. The process's
// exit status. The loop has not run yet.
int run_shadow(const Settings& settings, const Environment& environment, base::RealLoop& loop,
               const base::Logger& log);

}  // namespace millwright::app
