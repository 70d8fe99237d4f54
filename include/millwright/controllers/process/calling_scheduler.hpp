// Finds out which scheduler calls the extender, if any does. The answer goes to the log and to
// metrics; an Event warns when the extender was installed but is never called.
//
// The API does not show kube-scheduler's configuration, so this watches what happens. A call names
// the scheduler of its pod. A pod that was placed after we began to serve, without a call, was
// placed without us. kube-scheduler calls the leader, so the replica that is called tells the
// others in a Lease (kExtenderLease: holderIdentity is the scheduler, renewTime the last call).
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/metrics.hpp"
#include "millwright/base/task.hpp"
#include "millwright/cluster/state.hpp"
#include "millwright/kube/events.hpp"

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace millwright::controllers {

inline constexpr std::string_view kExtenderLease = "millwright-extender";
// The name that our second kube-scheduler goes by.
inline constexpr std::string_view kSecondScheduler = "millwright-scheduler";

enum class Wiring {
  Extender,         // an existing kube-scheduler calls us
  SecondScheduler,  // the one that was installed along with us does
  Alone,            // pods are placed without us
};
std::string_view to_string(Wiring wiring);
// extender, second-scheduler, alone; nullopt for anything else.
std::optional<Wiring> parse_wiring(std::string_view text);

// The scheduler that a filter request's pod belongs to, read without parsing the request; empty
// when it is not there. The name is that of the first unescaped "schedulerName" key.
std::string scheduler_in(std::string_view request);
// A pod that was created since then and that a scheduler has placed; nullptr when there is none.
// DaemonSets' and static pods do not count. `scheduler` empty: any.
const model::Pod* placed_since(const scheduling::Snapshot& snapshot, base::TimePoint since,
                               std::string_view scheduler);

struct CallingSchedulerOptions {
  // What was installed; nullopt: nobody said.
  std::optional<Wiring> configured;
  std::string namespace_ = "kube-system";  // of the Lease and the Service
  base::Duration look_again = std::chrono::seconds(10);
  // How long calls may stay away after a pod was placed without one.
  base::Duration patience = std::chrono::seconds(30);
  base::Logger log;
  std::uint64_t seed = 0;  // of the Events' names
};

class CallingScheduler {
 public:
  CallingScheduler(kube::Client& client, cluster::State& state, base::Metrics& metrics,
                   CallingSchedulerOptions options);

  // An extender request came in. Any thread.
  void called(std::string_view request);
  // Requests can be answered from now on.
  void serving();
  // Only the leader records Events.
  void set_leading(bool leading) { leading_ = leading; }
  // Every replica, until `stop`.
  base::Task<void> run(std::stop_token stop);

 private:
  base::Task<void> look(base::TimePoint serving_since);
  base::Task<base::Result<>> tell();
  base::Task<void> ask();
  void judge(base::TimePoint serving_since);
  void conclude(Wiring wiring);
  void complain(const model::Pod& pod, Wiring installed);

  kube::Client& client_;
  cluster::State& state_;
  base::Metrics& metrics_;
  CallingSchedulerOptions options_;
  base::Logger log_;
  kube::EventRecorder events_;
  bool leading_ = false;
  std::optional<base::TimePoint> serving_since_;
  std::optional<base::TimePoint> told_;
  std::optional<base::TimePoint> passed_over_since_;  // a pod was placed without a call
  bool was_called_ = false;                           // this replica or another
  bool complained_ = false;
  std::string scheduler_;
  std::optional<Wiring> wiring_;

  std::atomic<bool> called_{false};
  std::mutex mutex_;  // of caller_
  std::string caller_;
};

}  // namespace millwright::controllers
