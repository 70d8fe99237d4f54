#include "millwright/controllers/reconciler.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

namespace millwright::controllers {

struct Reconciler::State {
  State(base::Loop& l, std::string n, Function f, base::Logger lg, base::Metrics& m,
        ReconcilerOptions o)
      : loop(l),
        name(std::move(n)),
        function(std::move(f)),
        log(std::move(lg)),
        metrics(m),
        options(o),
        wake(l) {}

  void add(std::string key) {
    if (!running) {
      return;
    }
    if (active.contains(key)) {
      again.insert(std::move(key));
    } else if (queued.insert(key).second) {
      queue.push_back(std::move(key));
      wake.notify();
    }
  }

  void add_after(const std::string& key, base::Duration delay) {
    const base::TimePoint due = loop.now() + delay;
    auto& slot = timers[key];
    if (slot.id != 0 && slot.due <= due) {
      return;
    }
    if (slot.id != 0) {
      loop.cancel(slot.id);
    }
    slot.due = due;
    slot.id = loop.at(due, [this, key] {
      timers.erase(key);
      add(key);
    });
  }

  void cancel_timers() {
    for (const auto& [key, timer] : timers) {
      loop.cancel(timer.id);
    }
    timers.clear();
  }

  base::Duration backoff(int failures) const {
    base::Duration delay = options.min_backoff;
    for (int i = 1; i < failures && delay < options.max_backoff; ++i) {
      delay *= 2;
    }
    return std::min(delay, options.max_backoff);
  }

  void measure(base::TimePoint begun, const char* result) {
    const std::chrono::duration<double> took = loop.now() - begun;
    metrics.count("controller_runtime_reconcile_total", "Reconciliations, by how they ended.",
                  {{"controller", name}, {"result", result}});
    metrics.observe("controller_runtime_reconcile_time_seconds", "How long reconciliations took.",
                    {{"controller", name}}, took.count());
  }

  void measure_depth() {
    if (std::exchange(told_depth, queue.size()) != queue.size()) {
      metrics.set("workqueue_depth", "Keys that wait to be reconciled.",
                  {{"name", name}, {"controller", name}}, static_cast<double>(queue.size()));
    }
  }

  base::Task<void> work(std::string key, std::stop_token stop) {
    const base::TimePoint begun = loop.now();
    auto outcome = co_await function(key, stop);
    active.erase(key);
    const bool conflict = !outcome && outcome.error().kind == base::ErrorKind::Conflict;
    measure(begun, conflict   ? "requeue"
                   : !outcome ? "error"
                   : *outcome ? "requeue_after"
                              : "success");
    if (conflict) {
      // Somebody else wrote the object first: everyday on a busy cluster, and no failure.
      log.debug("the object changed meanwhile, will look again",
                {{"key", key}, {"error", outcome.error().message}});
      add_after(key, backoff(++failed[key]));
    } else if (!outcome) {
      const int failures = ++failed[key];
      metrics.count("controller_runtime_reconcile_errors_total",
                    "Reconciliations that ended with an error.", {{"controller", name}});
      log.warn("reconcile failed, will retry", {{"key", key}, {"error", outcome.error().message}});
      add_after(key, std::max<base::Duration>(backoff(failures), outcome.error().retry_after));
    } else {
      failed.erase(key);
      if (*outcome) {
        add_after(key, **outcome);
      }
    }
    if (again.erase(key) > 0) {
      add(key);
    }
    wake.notify();
  }

  struct Timer {
    base::TimerId id = 0;
    base::TimePoint due;
  };

  base::Loop& loop;
  std::string name;
  Function function;
  base::Logger log;
  base::Metrics& metrics;
  ReconcilerOptions options;
  base::Signal wake;
  bool running = false;
  std::size_t told_depth = std::numeric_limits<std::size_t>::max();
  std::deque<std::string> queue;
  std::set<std::string, std::less<>> queued;
  std::set<std::string, std::less<>> active;
  std::set<std::string, std::less<>> again;  // changed while being reconciled
  std::map<std::string, int, std::less<>> failed;
  std::map<std::string, Timer, std::less<>> timers;
};

Reconciler::Reconciler(base::Loop& loop, std::string name, Function function, base::Logger log,
                       base::Metrics& metrics, ReconcilerOptions options)
    : state_(std::make_shared<State>(loop, std::move(name), std::move(function), std::move(log),
                                     metrics, options)) {}

Reconciler::~Reconciler() {
  state_->cancel_timers();
}

void Reconciler::enqueue(std::string key) {
  state_->add(std::move(key));
}

void Reconciler::enqueue_after(std::string key, base::Duration delay) {
  if (state_->running) {
    state_->add_after(key, delay);
  }
}

base::Task<void> Reconciler::run(std::stop_token stop) {
  const auto state = state_;
  base::TaskGroup group(state->loop);
  const std::stop_callback stop_children(stop, [&group] { group.request_stop(); });
  state->running = true;
  while (!stop.stop_requested()) {
    state->measure_depth();
    while (!state->queue.empty() && state->active.size() < state->options.max_concurrent) {
      std::string key = std::move(state->queue.front());
      state->queue.pop_front();
      state->queued.erase(key);
      state->active.insert(key);
      group.spawn(state->work(std::move(key), group.stop_token()));
    }
    state->measure_depth();
    co_await state->wake.wait(stop);
  }
  state->running = false;
  state->queue.clear();
  state->queued.clear();
  state->cancel_timers();
  co_await group.join();
  state->again.clear();
  state->failed.clear();
}

}  // namespace millwright::controllers
