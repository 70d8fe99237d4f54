// plane_stories [STORY|all|list] [--keep]: a sandbox story told on a real control plane, in real
// time, with `millwright controller` as a process of its own beside the stock kube-scheduler.

#include "app/commands/live_table.hpp"
#include "millwright/base/loop.hpp"
#include "millwright/kube/config.hpp"
#include "millwright/sandbox/story.hpp"
#include "plane/runner/controller.hpp"
#include "plane/runner/watched.hpp"

#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>

namespace {

using namespace millwright;

constexpr auto kLine = std::chrono::seconds(5);  // between two lines on how things stand

struct Parts {
  std::unique_ptr<plane::Plane> plane;
  std::unique_ptr<plane::Controller> controller;
};

base::Result<Parts> start_parts(const sandbox::StoryInfo& story) {
  Parts parts;
  MW_TRY(made, plane::Plane::start());
  parts.plane = std::move(made);
  auto done = parts.plane->start_controller_manager();
  done = done ? parts.plane->start_kwok() : done;
  done = done ? plane::apply_crds(*parts.plane) : done;
  if (!done) {
    return tl::unexpected(done.error());
  }
  plane::ControllerOptions options;
  options.clouds = std::string(story.provider);
  if (story.best_effort_min_values) {
    options.flags.push_back("--min-values-policy=BestEffort");
  }
  MW_TRY(controller, plane::Controller::start(*parts.plane, std::move(options)));
  parts.controller = std::move(controller);
  done = parts.controller->register_webhooks();
  done = done ? parts.plane->start_scheduler(parts.controller->extender()) : done;
  if (!done) {
    return tl::unexpected(done.error());
  }
  return parts;
}

void print_step(const sandbox::StoryStep& step, base::TimePoint begun) {
  std::printf("%s t+%-7s %s\n", step.ok ? "ok  " : "FAIL",
              base::format_human_duration(step.time - begun).c_str(), step.text.c_str());
  std::fflush(stdout);
}

// Tells one story on its own loop and ends that.
class Telling {
 public:
  Telling(const std::string& story, const std::string& kubeconfig)
      : story_(story), kubeconfig_(kubeconfig), group_(loop_) {}

  base::Result<sandbox::StoryReport> run() {
    MW_TRY(config, kube::load_kubeconfig(kubeconfig_));
    std::shared_ptr<kube::Transport> transport =
        kube::make_transport(loop_, std::move(config), base::Logger(), "plane-stories");
    client_ = std::make_unique<kube::Client>(loop_, transport);
    recorder_ = std::make_unique<sandbox::Recorder>(loop_);
    watched_ = std::make_unique<plane::Watched>(*client_, *recorder_, base::Logger());
    begun_ = loop_.now();
    group_.spawn(watched_->run(group_.stop_token()));
    group_.spawn(tell());
    next_line();
    loop_.run();
    return report_;
  }

 private:
  base::Task<void> tell() {
    sandbox::StoryEnvironment environment;
    environment.recorder = recorder_.get();
    environment.client = client_.get();
    environment.manifests = SOURCE_ROOT "/manifests/examples";
    environment.on_step = [this](const sandbox::StoryStep& step) { print_step(step, begun_); };
    report_ = co_await sandbox::run_story(story_, environment, group_.stop_token());
    loop_.stop();
  }

  void next_line() {
    loop_.after(kLine, [this] {
      std::fputs(app::live_line(recorder_->view(), begun_).c_str(), stdout);
      std::fflush(stdout);
      next_line();
    });
  }

  std::string story_;
  std::string kubeconfig_;
  base::RealLoop loop_;
  base::TimePoint begun_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<sandbox::Recorder> recorder_;
  std::unique_ptr<plane::Watched> watched_;
  sandbox::StoryReport report_;
  base::TaskGroup group_;
};

void wait_for_interrupt(const Parts& parts) {
  std::printf("The control plane stays up until Ctrl-C.\n  export KUBECONFIG=%s\n",
              parts.plane->kubeconfig().c_str());
  std::fflush(stdout);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  int signal = 0;
  sigwait(&set, &signal);
}

// True when it held.
bool tell(const sandbox::StoryInfo& story, bool keep) {
  const std::string name(story.name);
  std::printf("== %s: %s\n", name.c_str(), std::string(story.summary).c_str());
  std::fflush(stdout);
  auto parts = start_parts(story);
  if (!parts) {
    std::printf("FAIL: the control plane is not up: %s\n", parts.error().message.c_str());
    return false;
  }
  std::printf(
      "A real control plane at %s.\n  kubectl --kubeconfig %s get nodes,nodeclaims,pods\n\n",
      parts->plane->url().c_str(), parts->plane->kubeconfig().c_str());
  std::fflush(stdout);
  const auto report = Telling(name, parts->plane->kubeconfig()).run();
  const bool held = report && report->ok();
  for (const auto& failure :
       report ? report->failures : std::vector<std::string>{report.error().message}) {
    std::printf("  did not hold: %s\n", failure.c_str());
  }
  if (!held) {
    std::printf("the controller said last:\n%s\n",
                parts->controller->process().log_tail(20).c_str());
  }
  std::printf("\n%s: story '%s' %s on a real control plane.\n\n", held ? "PASS" : "FAIL",
              name.c_str(), held ? "held" : "did not hold");
  std::fflush(stdout);
  if (keep) {
    wait_for_interrupt(*parts);
  }
  return held;
}

// Stories that begin at a time of their own need a clock that can be set.
bool can_be_told(const sandbox::StoryInfo& story) {
  return story.start.empty();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App cli("The sandbox's stories on a real control plane", "plane_stories");
  std::string story(sandbox::kDefaultStory);
  bool keep = false;
  cli.add_option("story", story, "a story, all, or list")->capture_default_str();
  cli.add_flag("--keep", keep, "leave the cluster up afterwards, for kubectl");
  CLI11_PARSE(cli, argc, argv);
  int failed = 0;
  bool known = false;
  for (const auto& info : sandbox::stories()) {
    if (story == "list") {
      std::printf("%-18s %s%s\n", std::string(info.name).c_str(), std::string(info.summary).c_str(),
                  can_be_told(info) ? "" : " (sandbox only: it needs a clock of its own)");
      continue;
    }
    if ((story == "all" && can_be_told(info)) || story == info.name) {
      known = true;
      if (!can_be_told(info)) {
        std::printf("'%s' begins at %s: only the sandbox has a clock for that.\n", story.c_str(),
                    std::string(info.start).c_str());
        return 2;
      }
      failed += tell(info, keep) ? 0 : 1;
    }
  }
  if (story != "list" && !known) {
    std::printf("no story '%s'; see: plane_stories list\n", story.c_str());
    return 2;
  }
  return failed == 0 ? 0 : 1;
}
