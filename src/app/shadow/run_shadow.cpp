#include "app/shadow/run_shadow.hpp"

#include "app/program/decision_file.hpp"
#include "app/program/program.hpp"
#include "app/serving/plain_ports.hpp"
#include "app/shadow/shadow.hpp"
#include "millwright/base/version.hpp"
#include "millwright/kube/read_only.hpp"

#include <atomic>
#include <cstdio>
#include <optional>
#include <utility>

namespace millwright::app {
namespace {

constexpr auto kShadowStopLimit = std::chrono::seconds(10);
constexpr auto kLookWhetherBegun = std::chrono::seconds(1);

class ShadowProcess {
 public:
  ShadowProcess(const Settings& settings, base::RealLoop& loop, base::Logger log)
      : settings_(settings), loop_(loop), log_(std::move(log)), heartbeat_(loop), group_(loop) {}

  base::Result<> build(const Environment& environment) {
    MW_TRY(config, api_server_config(settings_, environment));
    // Whoever is given this client cannot write, whatever it is told to do.
    client_ = std::make_unique<kube::Client>(
        loop_,
        kube::read_only(kube::make_transport(loop_, std::move(config), log_.named("kube"),
                                             std::string("millwright-shadow/") + base::version())),
        kube::ClientOptions{.qps = settings_.client_qps, .burst = settings_.client_burst},
        &metrics_);
    telemetry::DecisionLog::Write write_decision;
    if (!settings_.decision_log.empty()) {
      MW_TRY(file, DecisionFile::open(settings_.decision_log, log_.named("decision-log")));
      write_decision = [file](std::string_view line) { file->write(line); };
    }
    shadow_ = std::make_unique<Shadow>(
        ShadowParts{.client = *client_,
                    .compute = compute_,
                    .metrics = metrics_,
                    .redaction = Redaction(NameHash::make(), std::nullopt),
                    .stand_in = stand_in_options(std::move(write_decision)),
                    .report_every = settings_.shadow_report_interval,
                    .log = log_.named("shadow")});
    return open_ports();
  }

  // Until `stop`.
  void run(std::stop_token stop) {
    group_.spawn(heartbeat_.run(background_.get_token()));
    group_.spawn(look_whether_begun());
    group_.spawn(run_to_end(std::move(stop)));
    loop_.run();
  }

  const std::optional<base::Result<>>& outcome() const { return outcome_; }
  std::optional<ShadowReport> report() const { return shadow_->report(); }

 private:
  ReplayClusterOptions stand_in_options(telemetry::DecisionLog::Write write_decision) const {
    return {.clouds = settings_.simulated_clouds,
            .seed = base::entropy_seed(),
            .instance_types_file = settings_.instance_types_file,
            .controllers = settings_.controllers,
            .policy = settings_.policy,
            .extender = settings_.controllers.extender_called,
            .write_decision = std::move(write_decision),
            // What it says of its machines must not be taken for the cluster's.
            .log = log_.with({{"shadow", "true"}})};
  }

  base::Result<> open_ports() {
    ports_ = std::make_unique<PlainPorts>(
        PlainPortsParts{.settings = settings_,
                        .loop = loop_,
                        .metrics = metrics_,
                        .heartbeat = heartbeat_,
                        .metrics_page = [this] { return metrics_.render(); },
                        .ready = [this] { return has_begun_.load(); },
                        .not_ready = "still listing objects, or stopping",
                        .log = log_});
    return ports_->open();
  }

  base::Task<void> look_whether_begun() {
    bool goes_on = true;
    while (goes_on) {
      has_begun_ = shadow_->has_begun();
      goes_on = co_await base::sleep(loop_, kLookWhetherBegun, background_.get_token());
    }
    has_begun_ = false;
  }

  base::Task<void> run_to_end(std::stop_token stop) {
    auto ended = co_await shadow_->run(std::move(stop));
    outcome_ = std::move(ended);
    background_.request_stop();
    loop_.stop();
  }

  const Settings& settings_;
  base::RealLoop& loop_;
  base::Logger log_;
  base::Metrics metrics_;
  base::ComputeThreads compute_;
  Heartbeat heartbeat_;
  std::atomic<bool> has_begun_{false};
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<Shadow> shadow_;
  std::unique_ptr<PlainPorts> ports_;
  std::stop_source background_;
  std::optional<base::Result<>> outcome_;
  base::TaskGroup group_;
};

}  // namespace

int run_shadow(const Settings& settings, const Environment& environment, base::RealLoop& loop,
               const base::Logger& log, std::stop_token told) {
  std::stop_source stop;
  const std::stop_callback on_told(std::move(told), [&] {
    loop.post([&] {
      stop.request_stop();
      // What does not end by then changes nothing any more that the report tells.
      loop.after(kShadowStopLimit, [&loop] { loop.stop(); });
    });
  });
  ShadowProcess process(settings, loop, log);
  if (const auto built = process.build(environment); !built) {
    std::fprintf(stderr, "millwright controller: %s\n", built.error().message.c_str());
    return 1;
  }
  log.info("shadowing the cluster: nothing is bought and nothing written");
  process.run(stop.get_token());
  const auto report = process.report();
  if (report) {
    std::fputs(to_text(*report).c_str(), stdout);
    std::fflush(stdout);
  }
  if (const auto& outcome = process.outcome(); outcome && !*outcome) {
    std::fprintf(stderr, "millwright controller: --shadow: %s\n", outcome->error().message.c_str());
    return 1;
  }
  if (!report) {
    std::fputs("millwright controller: --shadow: it ended before everything was listed\n", stderr);
    return 1;
  }
  return 0;
}

}  // namespace millwright::app
