#include "disruption/candidates/budgets.hpp"

#include "disruption/simulation/destinations.hpp"
#include "millwright/base/cron.hpp"
#include "millwright/base/mutant.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace millwright::disruption {
namespace {

// "3", or "10%" of `total` rounded up.
std::optional<int> amount(std::string_view text, int total) {
  const bool percent = text.ends_with('%');
  if (percent) {
    text.remove_suffix(1);
  }
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 ||
      (percent && value > 100)) {
    return std::nullopt;
  }
  if (!percent) {
    return value;
  }
  return static_cast<int>((std::int64_t{total} * value + 99) / 100);
}

struct Window {
  base::CronSchedule schedule;
  base::Duration duration;
};

// nullopt when the budget has no schedule; Invalid when only half of one or unreadable.
base::Result<std::optional<Window>> window_of(const model::DisruptionBudget& budget) {
  if (budget.schedule.empty() && budget.duration.empty()) {
    return std::optional<Window>();
  }
  MW_TRY(schedule, base::CronSchedule::parse(budget.schedule));
  MW_TRY(duration, base::parse_go_duration(budget.duration));
  return std::optional<Window>(Window{schedule, duration});
}

bool is_active(const Window& window, base::TimePoint now) {
  const auto opening = window.schedule.next(now - window.duration);
  return opening && *opening <= now;
}

bool concerns(const model::DisruptionBudget& budget, std::optional<Reason> reason) {
  return budget.reasons.empty() ||
         (reason && std::find(budget.reasons.begin(), budget.reasons.end(), to_string(*reason)) !=
                        budget.reasons.end());
}

}  // namespace

// As in Karpenter.
bool counts_in_budgets(const scheduling::NodeRecord& record) {
  return record.managed() && record.node && record.initialized() &&
         !model::is_true(record.claim->conditions, model::kInstanceTerminating);
}

int allowed_by_budgets(const model::NodePool& pool, int nodes, std::optional<Reason> reason,
                       base::TimePoint now) {
  int allowed = std::numeric_limits<int>::max();
  for (const auto& budget : pool.budgets) {
    const auto parsed = window_of(budget);
    const auto value = amount(budget.nodes, nodes);
    if (!parsed || !value) {
      return 0;
    }
    const auto& window = *parsed;
    if (concerns(budget, reason) && (!window || is_active(*window, now))) {
      allowed = std::min(allowed, *value);
    }
  }
  return allowed;
}

std::optional<base::TimePoint> next_budget_change(const model::NodePool& pool,
                                                  base::TimePoint now) {
  std::optional<base::TimePoint> next;
  const auto consider = [&next](std::optional<base::TimePoint> time) {
    if (time && (!next || *time < *next)) {
      next = time;
    }
  };
  for (const auto& budget : pool.budgets) {
    const auto parsed = window_of(budget);
    const auto window = parsed ? *parsed : std::nullopt;
    if (!window) {
      continue;
    }
    consider(window->schedule.next(now));
    const base::Duration duration = window->duration;
    if (const auto opening = window->schedule.last(now - duration, now)) {
      consider(*opening + duration);
    }
  }
  return next;
}

RemainingBudgets::RemainingBudgets(const Input& input, const PoolIndex& pools)
    : now_(input.now), pools_(pools) {
  for (const auto& record : input.snapshot->nodes) {
    if (counts_in_budgets(*record)) {
      auto& count = counts_[record->node_pool()];
      ++count.nodes;
      count.disrupting += is_going(input, *record) || !model::is_ready(*record->node) ? 1 : 0;
    }
  }
}

int RemainingBudgets::of(const model::NodePool& pool, Reason reason) const {
  if (pools_.preferences_of(pool).closed(reason, now_)) {
    return 0;
  }
  const auto found = counts_.find(pool.meta.name);
  Count count = found == counts_.end() ? Count{} : found->second;
  if (base::planted(base::Mutant::BudgetsIgnored)) {
    count.disrupting = 0;
  }
  return std::max(0, allowed_by_budgets(pool, count.nodes, reason, now_) - count.disrupting);
}

int allowed_disruptions(const model::NodePool& pool,
                        const std::vector<scheduling::NodeRecordPtr>& nodes, Reason reason,
                        base::TimePoint now) {
  if (parse_preferences(pool.meta.annotations).closed(reason, now)) {
    return 0;
  }
  int total = 0;
  int disrupting = 0;
  for (const auto& record : nodes) {
    if (record->node_pool() == pool.meta.name && counts_in_budgets(*record)) {
      ++total;
      disrupting += record->marked_for_deletion || !model::is_ready(*record->node) ? 1 : 0;
    }
  }
  return std::max(0, allowed_by_budgets(pool, total, reason, now) - disrupting);
}

}  // namespace millwright::disruption
