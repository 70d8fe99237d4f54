#include "plane/field/run.hpp"

#include "millwright/model/codec.hpp"
#include "plane/field/accounting.hpp"
#include "plane/field/forecast.hpp"
#include "plane/field/observer.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <thread>

namespace millwright::field {
namespace {

namespace json = boost::json;
using plane::Plane;
using plane::text_at;

constexpr auto kPoolsLimit = std::chrono::seconds(30);
constexpr auto kPoll = std::chrono::seconds(1);
constexpr auto kRecordingBegins = std::chrono::seconds(30);
constexpr auto kRecordingEnds = std::chrono::seconds(30);

std::string path_of(const json::value& object) {
  static const std::map<std::string, std::string> kPlurals{{"Deployment", "deployments"},
                                                           {"Job", "jobs"},
                                                           {"NodePool", "nodepools"},
                                                           {"KWOKNodeClass", "kwoknodeclasses"}};
  const auto space = text_at(object, "/metadata/namespace");
  return fmt::format("/apis/{}/{}{}/{}?fieldManager=field&force=true",
                     text_at(object, "/apiVersion"),
                     space.empty() ? "" : "namespaces/" + space + "/",
                     kPlurals.at(text_at(object, "/kind")), text_at(object, "/metadata/name"));
}

base::Result<> apply(Plane& plane, const std::string& yaml) {
  MW_TRY(objects, model::parse_yaml(yaml));
  for (const auto& object : objects) {
    const auto answer =
        plane.call("PATCH", path_of(object), object, "application/apply-patch+yaml");
    if (answer.status != 200 && answer.status != 201) {
      return base::fail(base::ErrorKind::Invalid,
                        fmt::format("{}: {}", path_of(object), json::serialize(answer.body)));
    }
  }
  return {};
}

// Evicted pods of a Job are made again only after a back-off, so for a while no pod waits.
std::size_t unfinished_jobs(Plane& plane) {
  const auto jobs = plane.list("/apis/batch/v1/jobs");
  return static_cast<std::size_t>(std::count_if(jobs.begin(), jobs.end(), [](const auto& job) {
    boost::system::error_code error;
    return job.find_pointer("/status/completionTime", error) == nullptr;
  }));
}

base::Duration to_duration(double seconds) {
  return std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(seconds));
}

class Playing {
 public:
  Playing(Plane& plane, Side& side) : plane_(plane), side_(side), observer_(plane.kubeconfig()) {}

  // NodePools are Ready when this returns.
  base::Result<> set_up(const std::string& pools) {
    auto applied = apply(plane_, pools);
    if (!applied) {
      return applied;
    }
    const auto ready = plane_.kubectl({"wait", "--for=condition=Ready", "nodepool", "--all",
                                       fmt::format("--timeout={}s", kPoolsLimit.count())});
    if (ready.exit_code != 0) {
      return base::fail(base::ErrorKind::Timeout, ready.text);
    }
    return {};
  }

  base::Result<Figures> play(const Phase& phase) {
    const Usage before = usage();
    const Calls calls_before = calls();
    const auto begin = observer_.now();
    for (const auto& step : phase.steps) {
      std::this_thread::sleep_for(
          std::max(base::Duration(0), begin + to_duration(step.at) - observer_.now()));
      auto applied = apply(plane_, step.objects);
      if (!applied) {
        return tl::unexpected(applied.error());
      }
    }
    const Window window = come_to_rest(begin);
    if (auto* const ended = first_ended(); ended != nullptr) {
      return base::fail(base::ErrorKind::Unavailable,
                        "the controller ended; it said:\n" + ended->log_tail());
    }
    auto figures = observer_.figures(window);
    if (const auto unfinished = unfinished_jobs(plane_); unfinished > 0) {
      figures.all_bound = std::nullopt;
      figures.reasons["allBound"] = fmt::format("{} Jobs are not complete", unfinished);
    }
    const Usage after = usage();
    const Calls calls_after = calls();
    figures.cpu_seconds = after.cpu_seconds - before.cpu_seconds;
    figures.peak_rss_mib = after.peak_rss_mib;
    figures.requests = calls_after.requests - calls_before.requests;
    figures.evicted = calls_after.evicted - calls_before.evicted;
    return figures;
  }

 private:
  // Of all replicas together.
  Usage usage() {
    Usage total;
    for (auto* const process : side_.processes()) {
      const Usage one = usage_of(process->pid());
      total.cpu_seconds += one.cpu_seconds;
      total.peak_rss_mib += one.peak_rss_mib;
    }
    return total;
  }

  // nullptr while all of them run.
  plane::Process* first_ended() {
    const auto processes = side_.processes();
    const auto found = std::find_if(processes.begin(), processes.end(),
                                    [](auto* process) { return !process->running(); });
    return found == processes.end() ? nullptr : *found;
  }

  Calls calls() { return calls_in(plane_.directory() + "/audit.log", side_.users()); }

  // Until nothing moved for kQuiet and nothing waits. What waits for three times as long waits for
  // ever: that is rest, too.
  Window come_to_rest(base::TimePoint begin) {
    const auto last_step = observer_.now();
    while (observer_.now() < last_step + kRestLimit && first_ended() == nullptr) {
      const auto moved = std::max(begin, observer_.last_move());
      const auto still = observer_.now() - std::max(moved, last_step);
      if (still > kQuiet && (!observer_.has_waiting() || still > 3 * kQuiet)) {
        return {.begin = begin, .end = moved};
      }
      std::this_thread::sleep_for(kPoll);
    }
    return {.begin = begin, .end = observer_.now(), .at_rest = false};
  }

  Plane& plane_;
  Side& side_;
  Observer observer_;
};

base::Result<> start(Plane& plane, Side& side, int manager_qps) {
  auto done = plane.start_controller_manager(manager_qps);
  done = done ? plane.start_kwok() : done;
  done = done ? side.start(plane) : done;
  return done ? plane.start_scheduler(side.extenders()) : done;
}

// `millwright record` beside a scenario; nullptr: nobody asked for it.
using Recording = std::unique_ptr<plane::Process>;

base::Result<Recording> begin_recording(Plane& plane, const std::string& file) {
  if (file.empty()) {
    return Recording();
  }
  MW_TRY(recording, plane::start_millwright(
                        plane, {"record", "--kubeconfig", plane.kubeconfig(), "--output", file}));
  // What is half done when it begins would be half known.
  const bool records = plane::wait_until(kRecordingBegins, [&recording] {
    return recording->log_text().find("Everything is listed") != std::string::npos;
  });
  if (!records) {
    return base::fail(base::ErrorKind::Timeout, "millwright record: " + recording->log_text());
  }
  return recording;
}

base::Result<> end_recording(const Recording& recording) {
  if (recording == nullptr) {
    return {};
  }
  recording->signal(SIGTERM);
  if (recording->wait(kRecordingEnds) != 0) {
    return base::fail(base::ErrorKind::Internal, "millwright record: " + recording->log_text());
  }
  return {};
}

// The error of what could not be played; phases told before stay told.
base::Result<> play_phases(const Scenario& scenario, Plane& plane, Side& side, const Tell& tell,
                           const PlayOptions& options, std::size_t& told) {
  auto started = start(plane, side, scenario.manager_qps);
  if (!started) {
    return started;
  }
  Playing playing(plane, side);
  auto done = playing.set_up(scenario.pools);
  MW_TRY(recording, begin_recording(plane, options.recording));
  for (std::size_t i = 0; done && i < scenario.phases.size(); ++i) {
    const auto& phase = scenario.phases[i];
    const auto outlook =
        options.forecast && phase.measured ? std::optional(outlook_of(plane, phase)) : std::nullopt;
    MW_TRY(figures, playing.play(phase));
    if (outlook && *outlook) {
      figures.outlook = **outlook;
    } else if (outlook) {
      figures.reasons["forecast"] = outlook->error().message;
    }
    const bool settled = figures.settled.has_value();
    if (phase.measured) {
      tell(phase, std::move(figures));
    }
    told = i + 1;
    if (!settled) {
      done = base::fail(base::ErrorKind::Timeout,
                        fmt::format("{} did not come to rest before it", phase.name));
    }
  }
  if (auto recorded = end_recording(recording); done && !recorded) {
    done = recorded;
  }
  return done;
}

}  // namespace

void play(const Scenario& scenario, std::unique_ptr<Side> given, const Tell& tell,
          const PlayOptions& options) {
  plane::PlaneOptions parts;
  parts.audit = true;
  parts.audit_rules = audit_rules(given->users());
  std::size_t told = 0;
  auto plane = Plane::start(std::move(parts));
  const std::unique_ptr<Side> side = std::move(given);  // ends before its plane
  const auto done = plane ? play_phases(scenario, **plane, *side, tell, options, told)
                          : base::Result<>(tl::unexpected(plane.error()));
  for (; !done && told < scenario.phases.size(); ++told) {
    if (scenario.phases[told].measured) {
      tell(scenario.phases[told], no_figures(done.error().message));
    }
  }
}

}  // namespace millwright::field
