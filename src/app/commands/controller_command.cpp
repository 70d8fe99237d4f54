#include "app/commands/controller_command.hpp"

#include "app/program/open_files.hpp"
#include "app/program/program.hpp"
#include "app/program/signals.hpp"
#include "app/shadow/run_shadow.hpp"
#include "millwright/app/cluster_clock.hpp"
#include "millwright/base/version.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

namespace millwright::app {
namespace {

// Two seconds for who still calls, five for who waits for an answer, five to give up the Lease, and
// some to spare. Kubernetes kills what has not ended after 30.
constexpr auto kStopLimit = std::chrono::seconds(20);
constexpr auto kClockLimit = std::chrono::milliseconds(5'000);

// An API server that cannot be reached is reported later, when the program is built.
base::TimePoint start_time(const Settings& settings, const Environment& environment,
                           std::stop_token stop) {
  auto config = api_server_config(settings, environment);
  const auto cluster = config ? ask_cluster_clock(*std::move(config), kClockLimit, std::move(stop))
                              : std::optional<base::TimePoint>();
  return choose_start(base::system_now(), cluster);
}

// Work that does not end is still there: nothing of it may be waited for, or destroyed under it.
void leave_at_once() {
  std::fflush(stdout);
  std::_Exit(1);
}

base::Task<void> stop_program(Program& program, base::RealLoop& loop) {
  co_await program.stop();
  loop.stop();
}

}  // namespace

int run_controller(const std::map<std::string, std::string>& flags,
                   const Environment& environment) {
  // First of all: the kernel drops a signal that the first process of a container does not expect
  // yet, and what follows may take seconds. Who asks for the token later hears of it as well.
  std::stop_source told;
  const Signals signals([&told](int) { told.request_stop(); });
  const LoadedSettings loaded = load_settings(flags, environment);
  for (const auto& problem : loaded.problems) {
    std::fprintf(stderr, "millwright controller: %s\n", problem.c_str());
  }
  if (!loaded.problems.empty()) {
    return 2;
  }
  allow_open_files();
  base::RealLoop loop(1.0, start_time(loaded.settings, environment, told.get_token()));
  base::Logger log(base::stdout_sink(loaded.settings.log_level, loaded.settings.log_format,
                                     [&loop] { return loop.now(); }),
                   "controller");
  if (const std::string commit = base::commit(); !commit.empty()) {
    log = log.with({{"commit", commit}});
  }
  for (const auto& warning : loaded.warnings) {
    log.warn(warning);
  }
  if (told.stop_requested()) {
    log.info("told to end before anything was begun");
    return 0;
  }
  if (loaded.settings.shadow) {
    return run_shadow(loaded.settings, environment, loop, log, told.get_token());
  }
  std::function<void()> on_stop;  // set before the loop runs, called on it
  const auto stop_once = [&on_stop] {
    // Taken out first: it runs once, and must outlive its own call.
    if (const auto stop = std::exchange(on_stop, nullptr)) {
      stop();
    }
  };
  const std::stop_callback on_told(told.get_token(), [&] { loop.post(stop_once); });
  int status = 0;
  const auto start_anew = [&](const std::string& why) {
    if (std::exchange(status, 1) == 0) {
      log.error("leaving, to be started anew", {{"error", why}});
      loop.post(stop_once);
    }
  };
  Program program(loaded.settings, loop, log,
                  {.start_anew = start_anew, .leave_at_once = leave_at_once});
  const auto built = program.build(environment);
  if (!built) {
    std::fprintf(stderr, "millwright controller: %s\n", built.error().message.c_str());
    return 1;
  }
  if (told.stop_requested()) {  // a cloud's metadata service may have been asked for seconds
    log.info("told to end before anything was begun");
    return 0;
  }
  base::TaskGroup stopping(loop);
  on_stop = [&] {
    log.info("stopping");
    stopping.spawn(stop_program(program, loop));
    loop.after(kStopLimit, [&] {
      log.error("stopping took too long; leaving");
      loop.stop();
    });
  };
  program.start();
  loop.run();
  return status;
}

}  // namespace millwright::app
