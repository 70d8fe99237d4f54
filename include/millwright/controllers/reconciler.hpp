// A level-triggered work queue, as controller-runtime has. A key is reconciled when something about
// it may have changed, never by two tasks at once. It is reconciled again after the time it asks
// for, and after failures with backoff. Loop thread only.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/metrics.hpp"
#include "millwright/base/random.hpp"
#include "millwright/base/task.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

namespace millwright::controllers {

// When to look at the key again without any event; nullopt: not needed.
using Requeue = std::optional<base::Duration>;
Requeue sooner(Requeue a, Requeue b);

struct ReconcilerOptions {
  std::size_t max_concurrent = 1000;
  base::Duration min_backoff = std::chrono::milliseconds(100);
  base::Duration max_backoff = std::chrono::seconds(60);
};

// What a reconciler works with, and how its log records say who they are from.
struct ReconcilerContext {
  base::Loop& loop;
  base::Metrics& metrics;
  base::Logger log;
  std::string name;  // Karpenter's, for instance "nodeclaim.lifecycle"
  std::string
      kind;  // of the objects that the keys name; empty: the keys are not objects of one kind
  std::uint64_t seed = 0;
};

class Reconciler {
 public:
  // `log` carries the controller's name, the object and an id of this one reconciliation.
  using Function = std::function<base::Task<base::Result<Requeue>>(
      std::string key, base::Logger log, std::stop_token stop)>;

  Reconciler(ReconcilerContext context, Function function, ReconcilerOptions options = {});
  ~Reconciler();
  Reconciler(const Reconciler&) = delete;
  Reconciler& operator=(const Reconciler&) = delete;

  // Ignored until run() is called and after it ended: followers reconcile nothing.
  void enqueue(std::string key);
  // The same for a change that a reconciliation in progress may have made itself, such as of a
  // status: if that one fails, the key waits as after any failure.
  void nudge(std::string key);
  // Until `stop`; then waits for what is in progress.
  base::Task<void> run(std::stop_token stop);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace millwright::controllers
