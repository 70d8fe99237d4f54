// One replica of the program in a simulated cluster, as `millwright controller` puts it together:
// election, decorated client and clouds, engine, a term. It can be stopped (SIGSTOP), cut off from
// the API server, and killed.
#pragma once

#include "app/engine/leading.hpp"
#include "millwright/base/metrics.hpp"
#include "millwright/cloud/provider.hpp"
#include "millwright/kube/leader_election.hpp"
#include "millwright/sandbox/world.hpp"
#include "sandbox/ha/pausable_loop.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace millwright::test {

// A write that a replica's controllers sent to the API server, or asked of the cloud.
struct Write {
  std::string replica;
  std::string what;  // "POST /apis/...", "create web-1"
  base::TimePoint time;
};

// The way from one replica to the API server.
class Wire final : public kube::Transport {
 public:
  // `loop` is the replica's own, `world` that of everything else.
  Wire(base::Loop& loop, base::Loop& world, std::shared_ptr<kube::Transport> inner)
      : loop_(loop), world_(world), inner_(std::move(inner)), on_the_way_(world) {}

  base::Task<base::Result<net::Response>> call(kube::ApiRequest request,
                                               std::stop_token stop) override;
  base::Task<base::Result<net::Response>> stream(kube::ApiRequest request,
                                                 std::function<void(std::string_view)> on_chunk,
                                                 std::stop_token stop) override;
  // Nothing gets through, and watches end.
  void cut(bool cut);
  void end_watches() { std::exchange(cuts_, std::stop_source()).request_stop(); }
  // Sees each write as it is sent.
  std::function<void(const kube::ApiRequest&)> on_write;
  // A request that is answered with a time-out and takes effect so much later; zero: it is not.
  std::function<base::Duration(const kube::ApiRequest&)> late;

 private:
  static base::Task<void> send_late(base::Loop& loop, std::shared_ptr<kube::Transport> inner,
                                    kube::ApiRequest request, base::Duration delay);

  base::Loop& loop_;
  base::Loop& world_;
  std::shared_ptr<kube::Transport> inner_;
  base::TaskGroup on_the_way_;
  bool cut_ = false;
  std::stop_source cuts_;
};

// Plans take time: what they are made of may have changed when they come.
class SlowCompute final : public base::Compute {
 public:
  SlowCompute(base::Loop& loop, std::function<base::Duration()> solve_time)
      : loop_(loop), solve_time_(std::move(solve_time)) {}
  void run(std::function<void()> work) override {
    if (solve_time_) {
      loop_.after(solve_time_(), std::move(work));
    } else {
      work();
    }
  }
  void run_in_background(std::function<void()> work) override { run(std::move(work)); }

 private:
  base::Loop& loop_;
  std::function<base::Duration()> solve_time_;
};

class Replica {
 public:
  struct Parts {
    base::Loop& loop;  // the world's
    sandbox::World& world;
    // Makes its way to the cloud; told what the replica writes there.
    std::function<std::unique_ptr<cloud::Provider>(base::Loop&, base::Metrics&,
                                                   std::function<void(std::string)> on_write)>
        provider;
    std::string name;
    std::string address;
    std::uint64_t seed = 1;
    std::function<void(Write)> on_write;                   // as it is sent
    std::shared_ptr<kube::Transport> transport = nullptr;  // nullptr: the world's own
    std::function<base::Duration()> solve_time = nullptr;  // nullptr: plans take no time
    base::Duration ahead{};                                // its clock, of the world's
    controllers::Options options{};
  };
  explicit Replica(Parts parts);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  const std::string& name() const { return parts_.name; }
  const std::string& address() const { return parts_.address; }
  base::Duration ahead() const { return parts_.ahead; }
  base::Leadership& leadership() { return leadership_; }
  app::Engine& engine() { return *engine_; }
  bool stuck() const { return stuck_; }
  // It has found that etcd was restored, and wants to be started anew. Says so once.
  bool take_rewound() { return std::exchange(rewound_, false); }
  // When its newest term began.
  base::TimePoint began() const { return began_; }
  int most_terms_at_once() const { return most_at_once_; }

  void pause() { loop_.pause(); }
  void go_on() { loop_.go_on(); }
  bool paused() const { return loop_.paused(); }
  void cut(bool cut) { wire_->cut(cut); }
  Wire& wire() { return *wire_; }
  // kill -9: nothing more is sent, nothing is given up.
  void kill() {
    tasks_.reset();
    loop_.end();
  }
  // How many callbacks its process has run.
  std::uint64_t callbacks() const { return loop_.callbacks(); }
  bool killed() const { return tasks_ == nullptr; }
  // SIGTERM.
  void stop() { tasks_->request_stop(); }

 private:
  base::Task<void> lead(std::stop_token stop);

  Parts parts_;
  PausableLoop loop_;
  SlowCompute compute_;
  base::Metrics metrics_;
  base::Leadership leadership_;
  std::shared_ptr<Wire> wire_;
  std::unique_ptr<kube::Client> lease_client_;
  std::unique_ptr<kube::Client> leader_client_;
  cloud::ProviderSet providers_;
  std::unique_ptr<app::Engine> engine_;
  std::unique_ptr<app::Leading> leading_;
  base::TimePoint began_;
  int terms_now_ = 0;
  int most_at_once_ = 0;
  bool stuck_ = false;
  bool rewound_ = false;
  std::unique_ptr<base::TaskGroup> tasks_;
};

}  // namespace millwright::test
