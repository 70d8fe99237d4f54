// A level-triggered work queue: a key is reconciled when something about it may have changed, never
// by two tasks at once, again after the time it asks for, and after failures with backoff.
// Loop thread only.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/metrics.hpp"
#include "millwright/base/task.hpp"

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

struct ReconcilerOptions {
  std::size_t max_concurrent = 1000;
  base::Duration min_backoff = std::chrono::milliseconds(100);
  base::Duration max_backoff = std::chrono::seconds(60);
};

class Reconciler {
 public:
  using Function =
      std::function<base::Task<base::Result<Requeue>>(std::string key, std::stop_token stop)>;

  Reconciler(base::Loop& loop, std::string name, Function function, base::Logger log,
             base::Metrics& metrics, ReconcilerOptions options = {});
  ~Reconciler();
  Reconciler(const Reconciler&) = delete;
  Reconciler& operator=(const Reconciler&) = delete;

  // Ignored until run() is called and after it ended: followers reconcile nothing.
  void enqueue(std::string key);
  void enqueue_after(std::string key, base::Duration delay);
  // Until `stop`; then waits for what is in progress.
  base::Task<void> run(std::stop_token stop);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace millwright::controllers
