#include "millwright/controllers/reconciler.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

namespace millwright::controllers {

Requeue sooner(Requeue a, Requeue b) {
  if (a && b) {
    return std::min(*a, *b);
  }
  return a ? a : b;
}

struct Reconciler::State {
  State(ReconcilerContext context, Function f, ReconcilerOptions o)
      : loop(context.loop),
        name(std::move(context.name)),
        kind(std::move(context.kind)),
        function(std::move(f)),
        log(context.log.with({{"controller", name}})),
        metrics(context.metrics),
        options(o),
        ids(context.seed ^ std::hash<std::string>{}(name)),
        wake(context.loop) {}

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

  void nudge(std::string key) {
    if (active.contains(key)) {
      nudged.insert(std::move(key));
    } else {
      add(std::move(key));
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

  // As controller-runtime's logger of one reconciliation.
  base::Logger log_for(const std::string& key) {
    const auto slash = key.find('/');
    const bool named = slash == std::string::npos;
    const base::Logger about =
        log.with({{"namespace", named ? std::string() : key.substr(0, slash)},
                  {"name", named ? key : key.substr(slash + 1)},
                  {"reconcileID", ids.uuid()}});
    return kind.empty() ? about : about.with({{kind, key}});
  }

  base::Task<void> work(std::string key, std::stop_token stop) {
    const base::TimePoint begun = loop.now();
    const base::Logger about = log_for(key);
    auto result = co_await function(key, about, stop);
    active.erase(key);
    const bool conflict = !result && result.error().kind == base::ErrorKind::Conflict;
    measure(begun, conflict  ? "requeue"
                   : !result ? "error"
                   : *result ? "requeue_after"
                             : "success");
    if (conflict) {
      // Somebody else wrote the object first: everyday on a busy cluster, and no failure. What
      // failed before may be done by now, and its long pause is not for this.
      about.debug("the object changed meanwhile, will look again",
                  {{"error", result.error().message}});
      add_after(key, backoff(++conflicts[key]));
    } else if (!result) {
      conflicts.erase(key);
      const int failures = ++failed[key];
      metrics.count("controller_runtime_reconcile_errors_total",
                    "Reconciliations that ended with an error.", {{"controller", name}});
      about.warn("reconcile failed, will retry", {{"error", result.error().message}});
      add_after(key, std::max<base::Duration>(backoff(failures), result.error().retry_after));
    } else {
      conflicts.erase(key);
      failed.erase(key);
      if (const Requeue& after = *result) {
        add_after(key, *after);
      }
    }
    const bool failed_now = !result && !conflict;
    const bool has_news = again.erase(key) > 0;
    const bool was_nudged = nudged.erase(key) > 0;
    if (has_news || (was_nudged && !failed_now)) {
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
  std::string kind;
  Function function;
  base::Logger log;
  base::Metrics& metrics;
  ReconcilerOptions options;
  base::Random ids;  // of reconciliations
  base::Signal wake;
  bool running = false;
  std::size_t told_depth = std::numeric_limits<std::size_t>::max();
  std::deque<std::string> queue;
  std::set<std::string, std::less<>> queued;
  std::set<std::string, std::less<>> active;
  std::set<std::string, std::less<>> again;   // changed while being reconciled
  std::set<std::string, std::less<>> nudged;  // changed then, maybe by that
  // How often in a row.
  std::map<std::string, int, std::less<>> conflicts;
  std::map<std::string, int, std::less<>> failed;
  std::map<std::string, Timer, std::less<>> timers;
};

Reconciler::Reconciler(ReconcilerContext context, Function function, ReconcilerOptions options)
    : state_(std::make_shared<State>(std::move(context), std::move(function), options)) {}

Reconciler::~Reconciler() {
  state_->cancel_timers();
}

void Reconciler::enqueue(std::string key) {
  state_->add(std::move(key));
}

void Reconciler::nudge(std::string key) {
  state_->nudge(std::move(key));
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
  state->nudged.clear();
  state->conflicts.clear();
  state->failed.clear();
}

}  // namespace millwright::controllers
