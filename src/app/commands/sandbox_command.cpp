#include "app/commands/sandbox_command.hpp"

#include "app/commands/live_table.hpp"
#include "app/commands/sandbox_ports.hpp"
#include "app/program/decision_file.hpp"
#include "app/program/signals.hpp"
#include "app/top/terminal.hpp"
#include "millwright/app/embedded_cluster.hpp"
#include "millwright/sandbox/story.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <mutex>
#include <vector>

namespace millwright::app {
namespace {

constexpr auto kFrame = std::chrono::milliseconds(500);  // of real time between two frames
constexpr auto kQuietFrames = 10;                        // one plain line every so many frames

// Prints steps and the table below them; redraws the table in place on a terminal.
class Screen {
 public:
  Screen(sandbox::Recorder& recorder, base::TimePoint begun)
      : recorder_(recorder), begun_(begun), terminal_(isatty(STDOUT_FILENO) == 1) {}

  void step(const sandbox::StoryStep& step) {
    erase();
    std::printf("%s t+%-7s %s\n", step.ok ? "ok  " : "FAIL",
                base::format_human_duration(step.time - begun_).c_str(), step.text.c_str());
    draw();
    std::fflush(stdout);
  }

  void frame() {
    if (terminal_) {
      erase();
      draw();
    } else if (++frames_ % kQuietFrames == 0) {
      std::fputs(live_line(recorder_.view(), begun_).c_str(), stdout);
    }
    std::fflush(stdout);
  }

  void erase() {
    if (drawn_ > 0) {
      std::printf("\x1b[%dA\x1b[J", drawn_);
      drawn_ = 0;
    }
  }

 private:
  void draw() {
    if (!terminal_) {
      return;
    }
    const std::string text = live_table(recorder_.view(), begun_, screen_size().columns);
    for (const char c : text) {
      drawn_ += c == '\n' ? 1 : 0;
    }
    std::fputs(text.c_str(), stdout);
  }

  sandbox::Recorder& recorder_;
  base::TimePoint begun_;
  bool terminal_;
  int drawn_ = 0;
  int frames_ = 0;
};

// One sandbox from start to stop, on its own loop.
class Session {
 public:
  Session(const SandboxArguments& arguments, std::string story)
      : arguments_(arguments),
        story_(std::move(story)),
        loop_(arguments.speed, start_of(sandbox::find_story(story_))),
        group_(loop_) {}

  // Asks the session to end; any thread.
  void interrupt() {
    loop_.post([this] { group_.request_stop(); });
  }

  int run() {
    const auto* info = sandbox::find_story(story_);
    const auto profile =
        cloud::parse_profile(info != nullptr ? info->provider : arguments_.profile);
    if (!profile) {
      std::fprintf(stderr, "sandbox: no cloud profile '%s'; there are kwok, aws, alibaba, huawei\n",
                   arguments_.profile.c_str());
      return 2;
    }
    EmbeddedOptions options;
    options.seed = arguments_.seed;
    options.profiles = {*profile};
    options.sockets = true;
    if (info != nullptr && info->best_effort_min_values) {
      options.controllers.solve.min_values = scheduling::MinValuesPolicy::BestEffort;
    }
    if (arguments_.verbose) {
      options.log = base::Logger(base::stdout_sink(base::LogLevel::Info, base::LogFormat::Text,
                                                   [this] { return loop_.now(); }),
                                 "millwright");
    }
    if (!arguments_.decision_log.empty()) {
      const auto file = DecisionFile::open(arguments_.decision_log, options.log);
      if (!file) {
        std::fprintf(stderr, "sandbox: %s\n", file.error().message.c_str());
        return 1;
      }
      options.write_decision = [file = *file](std::string_view line) { file->write(line); };
    }
    auto made = EmbeddedCluster::make(loop_, compute_, std::move(options));
    if (!made) {
      std::fprintf(stderr, "sandbox: %s\n", made.error().message.c_str());
      return 1;
    }
    cluster_ = *std::move(made);
    if (!announce(*profile)) {
      return 1;
    }
    group_.spawn(play());
    loop_.run();
    console_.reset();
    asking_.reset();
    metrics_.reset();
    cluster_.reset();
    return status_;
  }

 private:
  static base::TimePoint start_of(const sandbox::StoryInfo* info) {
    const auto wanted = info != nullptr ? base::parse_rfc3339(info->start) : std::nullopt;
    return wanted.value_or(base::system_now());
  }

  bool announce(cloud::Profile profile) {
    path_ = arguments_.kubeconfig.empty()
                ? (std::filesystem::temp_directory_path() /
                   ("millwright-sandbox-" + std::to_string(getpid()) + ".kubeconfig"))
                      .string()
                : arguments_.kubeconfig;
    const auto written = cluster_->endpoint()->write_kubeconfig(path_);
    if (!written) {
      std::fprintf(stderr, "sandbox: %s\n", written.error().message.c_str());
      return false;
    }
    std::printf(
        "A cluster in this process at %s, time runs %gx.\n"
        "Its cloud is simulated (%s): no machine is bought.\n"
        "  kubectl --kubeconfig %s get nodes,nodeclaims,pods\n\n",
        cluster_->endpoint()->url().c_str(), arguments_.speed,
        std::string(cloud::to_string(profile)).c_str(), path_.c_str());
    if (!open_console() || !open_asking_port() || !open_metrics_port()) {
      return false;
    }
    std::fflush(stdout);
    return true;
  }

  bool open_console() {
    if (!arguments_.console) {
      return true;
    }
    auto opened = SandboxConsole::open(*cluster_, arguments_.speed, arguments_.console_port);
    if (!opened) {
      std::fprintf(stderr, "sandbox: the console: %s\n", opened.error().message.c_str());
      return false;
    }
    console_ = *std::move(opened);
    std::printf("Its console, for a browser:\n  %s\n\n", console_->url().c_str());
    return true;
  }

  bool open_asking_port() {
    if (!arguments_.asking_port) {
      return true;
    }
    auto opened = SandboxAskingPort::open(*cluster_, arguments_.speed, *arguments_.asking_port);
    if (!opened) {
      std::fprintf(stderr, "sandbox: --asking-port: %s\n", opened.error().message.c_str());
      return false;
    }
    asking_ = *std::move(opened);
    std::printf(
        "Its asking port, for `millwright why`, `top` and `console`:\n"
        "  kubectl --kubeconfig %s get secret -n %s %s -o jsonpath='{.data.ca\\.crt}' \\\n"
        "    | base64 -d > ca.crt\n"
        "  millwright top --kubeconfig %s --server %s --certificate-authority ca.crt\n\n",
        path_.c_str(), std::string(kSandboxNamespace).c_str(), std::string(kSandboxSecret).c_str(),
        path_.c_str(), asking_->url().c_str());
    return true;
  }

  bool open_metrics_port() {
    if (!arguments_.metrics_port) {
      return true;
    }
    auto opened = open_sandbox_metrics(*cluster_, *arguments_.metrics_port);
    if (!opened) {
      std::fprintf(stderr, "sandbox: --metrics-port: %s\n", opened.error().message.c_str());
      return false;
    }
    metrics_ = *std::move(opened);
    std::printf("Its metrics, for Prometheus:\n  http://127.0.0.1:%d/metrics\n\n",
                metrics_->port());
    return true;
  }

  base::Task<void> play() {
    cluster_->start();
    screen_ = std::make_unique<Screen>(cluster_->world().recorder(), loop_.now());
    next_frame();
    if (!story_.empty()) {
      sandbox::StoryEnvironment environment;
      environment.recorder = &cluster_->world().recorder();
      environment.client = &cluster_->client();
      environment.manifests = arguments_.examples;
      environment.on_step = [this](const sandbox::StoryStep& step) { screen_->step(step); };
      auto report = co_await sandbox::run_story(story_, environment, group_.stop_token());
      screen_->erase();
      print_verdict(report);
      status_ = report.ok() ? 0 : 1;
    }
    if (arguments_.keep || story_.empty()) {
      std::printf("The sandbox stays up until Ctrl-C.\n  export KUBECONFIG=%s\n", path_.c_str());
      std::fflush(stdout);
      base::Signal never(loop_);
      co_await never.wait(group_.stop_token());
    }
    screen_->erase();
    screen_.reset();
    co_await cluster_->stop();
    if (arguments_.kubeconfig.empty()) {
      std::error_code ignored;  // it is a temporary file
      std::filesystem::remove(path_, ignored);
    }
    loop_.stop();
  }

  void next_frame() {
    const auto delay = std::chrono::duration_cast<base::Duration>(kFrame * arguments_.speed);
    loop_.after(delay, [this] {
      if (screen_) {
        screen_->frame();
        next_frame();
      }
    });
  }

  static void print_verdict(const sandbox::StoryReport& report) {
    for (const auto& failure : report.failures) {
      std::printf("  did not hold: %s\n", failure.c_str());
    }
    std::printf("\n%s: story '%s' %s after %s of its time.\n\n", report.ok() ? "PASS" : "FAIL",
                report.story.c_str(), report.ok() ? "held" : "did not hold",
                base::format_human_duration(report.took).c_str());
    std::fflush(stdout);
  }

  const SandboxArguments& arguments_;
  std::string story_;
  std::string path_;
  base::RealLoop loop_;
  base::ComputeThreads compute_;
  std::unique_ptr<EmbeddedCluster> cluster_;
  std::unique_ptr<SandboxConsole> console_;
  std::unique_ptr<SandboxAskingPort> asking_;
  std::unique_ptr<net::Server> metrics_;
  std::unique_ptr<Screen> screen_;
  int status_ = 0;
  base::TaskGroup group_;
};

int list_stories() {
  for (const auto& story : sandbox::stories()) {
    std::printf("%-18s %s\n", std::string(story.name).c_str(), std::string(story.summary).c_str());
  }
  return 0;
}

}  // namespace

int run_sandbox(const SandboxArguments& arguments) {
  if (arguments.story == "list") {
    return list_stories();
  }
  std::vector<std::string> names;
  if (arguments.story == "all") {
    for (const auto& story : sandbox::stories()) {
      names.emplace_back(story.name);
    }
  } else {
    names.push_back(arguments.story);
  }
  std::mutex mutex;  // the session must not go while it is being interrupted
  Session* current = nullptr;
  bool interrupted = false;
  const Signals signals([&](int) {
    const std::scoped_lock lock(mutex);
    interrupted = true;
    if (current != nullptr) {
      current->interrupt();
    }
  });
  int failed = 0;
  for (const auto& name : names) {
    if (!name.empty() && sandbox::find_story(name) == nullptr) {
      std::fprintf(stderr, "sandbox: no story '%s'; these exist:\n", name.c_str());
      list_stories();
      return 2;
    }
    if (const auto* story = sandbox::find_story(name)) {
      std::printf("== %s: %s\n", name.c_str(), std::string(story->summary).c_str());
    }
    Session session(arguments, name);
    const auto set_current = [&](Session* running) {
      const std::scoped_lock lock(mutex);
      current = running;
      return interrupted;
    };
    if (!set_current(&session)) {
      failed += session.run() == 0 ? 0 : 1;
    }
    if (set_current(nullptr)) {
      return 130;
    }
  }
  if (names.size() > 1) {
    std::printf("%s: %zu of %zu stories held.\n", failed == 0 ? "PASS" : "FAIL",
                names.size() - static_cast<std::size_t>(failed), names.size());
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace millwright::app
