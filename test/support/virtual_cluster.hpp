// A whole cluster in virtual time, for behaviour tests: one thread, no sockets, one seed one run.
#pragma once

#include "millwright/app/embedded_cluster.hpp"
#include "millwright/base/loop.hpp"
#include "millwright/sandbox/story.hpp"

#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace millwright::test {

// At once on the caller's thread; plans, and what is in nobody's hurry, wait on demand.
class PausableCompute final : public base::Compute {
 public:
  void run(std::function<void()> work) override {
    if (plans_paused_) {
      held_plans_.push_back(std::move(work));
    } else {
      work();
    }
  }
  void run_in_background(std::function<void()> work) override {
    if (paused_) {
      held_.push_back(std::move(work));
    } else {
      work();
    }
  }
  void pause_background() { paused_ = true; }
  void resume_background() {
    paused_ = false;
    for (const auto& work : std::exchange(held_, {})) {
      work();
    }
  }
  // Pieces of work that wait.
  std::size_t held() const { return held_.size(); }
  void pause_plans() { plans_paused_ = true; }
  void resume_plans() {
    plans_paused_ = false;
    for (const auto& work : std::exchange(held_plans_, {})) {
      work();
    }
  }
  std::size_t held_plans() const { return held_plans_.size(); }

 private:
  bool paused_ = false;
  bool plans_paused_ = false;
  std::vector<std::function<void()>> held_;
  std::vector<std::function<void()>> held_plans_;
};

class VirtualCluster {
 public:
  explicit VirtualCluster(app::EmbeddedOptions options,
                          base::TimePoint start = base::TimePoint(std::chrono::days(20'000)))
      : loop(start), group_(loop) {
    options.sockets = false;
    // MILLWRIGHT_TEST_LOG=1 shows what the controllers say, in the run's own time.
    if (std::getenv("MILLWRIGHT_TEST_LOG") != nullptr) {
      options.log = base::Logger(base::stdout_sink(base::LogLevel::Debug, base::LogFormat::Text,
                                                   [this] { return loop.now(); }),
                                 "millwright");
    }
    auto made = app::EmbeddedCluster::make(loop, compute, std::move(options));
    if (!made) {
      throw std::runtime_error(made.error().message);
    }
    cluster = *std::move(made);
    cluster->start();
  }
  ~VirtualCluster() { stop(); }
  VirtualCluster(const VirtualCluster&) = delete;
  VirtualCluster& operator=(const VirtualCluster&) = delete;

  void stop() {
    if (cluster) {
      bool stopped = false;
      group_.spawn(stop_and_tell(*cluster, stopped));
      loop.run_until([&] { return stopped; }, std::chrono::hours(1));
      cluster.reset();
    }
  }

  // Runs the story to its end, or as long as `limit`.
  sandbox::StoryReport tell(const std::string& name, base::Duration limit) {
    sandbox::StoryEnvironment environment;
    environment.recorder = &cluster->world().recorder();
    environment.client = &cluster->client();
    environment.manifests = std::string(SOURCE_ROOT) + "/manifests/examples";
    std::optional<sandbox::StoryReport> report;
    group_.spawn(tell_and_keep(name, environment, group_.stop_token(), report));
    loop.run_until([&] { return report.has_value(); }, limit);
    if (!report) {
      sandbox::StoryReport unfinished;
      unfinished.story = name;
      unfinished.failures.push_back("the story did not end");
      return unfinished;
    }
    return *report;
  }

  base::VirtualLoop loop;
  PausableCompute compute;
  std::unique_ptr<app::EmbeddedCluster> cluster;

 private:
  static base::Task<void> stop_and_tell(app::EmbeddedCluster& cluster, bool& stopped) {
    co_await cluster.stop();
    stopped = true;
  }
  static base::Task<void> tell_and_keep(std::string name, sandbox::StoryEnvironment environment,
                                        std::stop_token stop,
                                        std::optional<sandbox::StoryReport>& report) {
    report = co_await sandbox::run_story(name, environment, stop);
  }

  base::TaskGroup group_;
};

}  // namespace millwright::test
