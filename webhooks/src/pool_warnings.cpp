// What a pool's own text brings about: ties with other pools, disruption that never happens.
#include "millwright/base/cron.hpp"
#include "millwright/scheduling/requirements.hpp"
#include "webhooks/src/warnings.hpp"

#include <algorithm>
#include <set>
#include <span>

namespace millwright::webhooks {
namespace {

using scheduling::Requirements;

Requirements requirements_of(const model::NodeClaimTemplate& claim_template) {
  Requirements all{std::span<const model::SelectorRequirement>(claim_template.requirements)};
  if (claim_template.labels) {
    all.add(Requirements::from_labels(*claim_template.labels));
  }
  return all;
}

// Taints that keep pods away; pools that differ in them serve different pods.
std::set<std::string> closing_taints(const model::NodeClaimTemplate& claim_template) {
  std::set<std::string> taints;
  for (const model::Taint& taint : claim_template.taints.value_or(std::vector<model::Taint>())) {
    if (taint.effect != "PreferNoSchedule") {
      taints.insert(taint.to_string());
    }
  }
  return taints;
}

bool overlaps(const model::NodePool& a, const model::NodePool& b) {
  return closing_taints(a.template_) == closing_taints(b.template_) &&
         requirements_of(a.template_).intersects(requirements_of(b.template_));
}

constexpr std::string_view kReasons[] = {"Underutilized", "Empty", "Drifted"};

class BudgetCheck {
 public:
  BudgetCheck(base::TimePoint now, Warnings& warnings) : now_(now), warnings_(warnings) {}

  void budget(std::size_t index, const model::DisruptionBudget& budget) {
    const std::string where = "spec.disruption.budgets[" + std::to_string(index) + "]";
    if (budget.schedule.empty()) {
      if (allows_nothing(budget)) {
        close(budget);
      }
      return;
    }
    const auto schedule = base::CronSchedule::parse(budget.schedule);
    if (!schedule) {
      warnings_.add(where + ".schedule: " + schedule.error().message +
                    "; until it is mended no node of the pool is disrupted");
      unreadable_ = true;
      return;
    }
    const auto duration = base::parse_go_duration(budget.duration);
    if (!schedule->next(now_)) {
      warnings_.add(where + ".schedule: \"" + budget.schedule +
                    "\" never comes, so the budget never applies");
    } else if (duration && duration->count() == 0) {
      warnings_.add(where + ".duration: the budget lasts no time, so it never applies");
    } else if (duration && allows_nothing(budget) && covers_all_time(*schedule, *duration)) {
      close(budget);
    }
  }

  void conclude() {
    if (unreadable_ || closed_.empty()) {
      return;
    }
    if (closed_.size() == std::size(kReasons)) {
      warnings_.add(
          "spec.disruption.budgets: no node of the pool is ever disrupted, since a budget of 0 "
          "nodes applies at any time; only expiration and deletion remove its nodes");
      return;
    }
    std::string reasons;
    for (const std::string& reason : closed_) {
      reasons += (reasons.empty() ? "" : ", ") + reason;
    }
    warnings_.add("spec.disruption.budgets: no node of the pool is ever disrupted as " + reasons +
                  ", since a budget of 0 nodes applies at any time");
  }

 private:
  static bool allows_nothing(const model::DisruptionBudget& budget) {
    const std::size_t digits =
        budget.nodes.ends_with('%') ? budget.nodes.size() - 1 : budget.nodes.size();
    return digits > 0 && budget.nodes.find_first_not_of('0') >= digits;
  }

  void close(const model::DisruptionBudget& budget) {
    if (budget.reasons.empty()) {
      closed_.insert(std::begin(kReasons), std::end(kReasons));
    } else {
      closed_.insert(budget.reasons.begin(), budget.reasons.end());
    }
  }

  // Whether each time of the schedule comes before the budget's last one has ended. A schedule that
  // leaves no gap in a week of minutes or in a year of rarer times leaves none at all.
  bool covers_all_time(const base::CronSchedule& schedule, base::Duration duration) const {
    constexpr int kMostTimes = 7 * 24 * 60;
    constexpr base::Duration kHorizon = std::chrono::hours(24 * 366);
    const auto first = schedule.next(now_);
    if (!first) {
      return false;
    }
    base::TimePoint last = *first;
    for (int i = 0; i < kMostTimes && last < now_ + kHorizon; ++i) {
      const auto next = schedule.next(last);
      if (!next || *next - last > duration) {
        return false;
      }
      last = *next;
    }
    return true;
  }

  base::TimePoint now_;
  Warnings& warnings_;
  std::set<std::string> closed_;
  bool unreadable_ = false;
};

void warn_of_consolidation(const model::NodePool& pool, Warnings& warnings) {
  const bool never = pool.consolidate_after.text == "Never";
  if (pool.replicas) {
    if (never || pool.consolidation_policy != "WhenEmptyOrUnderutilized") {
      warnings.add(
          "spec.disruption: a static pool (spec.replicas) is not consolidated; "
          "consolidateAfter and consolidationPolicy have no effect");
    }
    return;
  }
  if (!never) {
    return;
  }
  const std::string& expiry = pool.template_.expire_after.text;
  warnings.add(
      "spec.disruption.consolidateAfter: \"Never\" turns consolidation off; empty and "
      "underused nodes stay until they drift" +
      (expiry == "Never" ? ", and expireAfter is \"Never\" too"
                         : " or expire" + (expiry.empty() ? "" : " after " + expiry)));
}

}  // namespace

void warn_of_weight_ties(const model::NodePool& pool, const ClusterSnapshot& cluster,
                         Warnings& warnings) {
  constexpr std::size_t kNamed = 3;
  if (pool.replicas) {
    return;
  }
  std::vector<std::string> tied;
  for (const auto& each : cluster.node_pools) {
    const model::NodePool& other = *each;
    if (other.meta.name != pool.meta.name && !other.meta.is_deleting() && !other.replicas &&
        other.weight == pool.weight && overlaps(pool, other)) {
      tied.push_back(other.meta.name);
    }
  }
  if (tied.empty()) {
    return;
  }
  std::sort(tied.begin(), tied.end());
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, tied.size()); ++i) {
    names += (names.empty() ? "\"" : ", \"") + tied[i] + "\"";
  }
  if (tied.size() > kNamed) {
    names += " and " + std::to_string(tied.size() - kNamed) + " more";
  }
  warnings.add("spec.weight: " + std::to_string(pool.weight) + " is also the weight of " + names +
               ", which may take the same pods; the pool whose name comes last wins unless the "
               "weights differ");
}

void warn_of_disruption(const model::NodePool& pool, base::TimePoint now, Warnings& warnings) {
  constexpr std::size_t kMostBudgets = 50;  // the CRD allows no more
  BudgetCheck check(now, warnings);
  for (std::size_t i = 0; i < std::min(pool.budgets.size(), kMostBudgets); ++i) {
    check.budget(i, pool.budgets[i]);
  }
  check.conclude();
  warn_of_consolidation(pool, warnings);
}

void warn_of_pool_limits(const model::NodePool& pool, Warnings& warnings) {
  constexpr std::size_t kLabelValue = 63;
  if (pool.meta.name.size() > kLabelValue) {
    warnings.add(
        "metadata.name: longer than 63 characters; NodeClaims carry it as the value of the "
        "label karpenter.sh/nodepool, so the pool will make no node");
  }
  for (const auto& [resource, amount] : pool.limits.value_or(model::ResourceList())) {
    if (amount.milli() <= 0) {
      warnings.add("spec.limits[" + resource + "]: the limit is " + amount.to_string() +
                   ", so the pool will make no node");
    }
  }
}

}  // namespace millwright::webhooks
