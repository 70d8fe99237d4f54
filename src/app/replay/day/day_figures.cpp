#include "app/replay/day/day_figures.hpp"

#include "app/replay/day/day_evictions.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

namespace millwright::app {
namespace {

constexpr double kCostSteps = 1e6;
constexpr std::size_t kMostMoments = 481;
constexpr auto kLeastBetween = std::chrono::seconds(30);

// From when to when something was there, within the day.
struct Span {
  base::TimePoint from;
  base::TimePoint to;

  bool holds(base::TimePoint time) const { return from <= time && time < to; }
  double hours() const {
    return std::chrono::duration<double, std::ratio<3600>>(to - from).count();
  }
};

double rounded(double sum) {
  // Sums of the same parts in another order are the same.
  return std::round(sum * kCostSteps) / kCostSteps;
}

bool counts_in_day(const model::Pod& pod) {
  return !model::is_owned_by_daemonset(pod) && !model::is_mirror(pod);
}

base::TimePoint machine_begins(const sandbox::ClaimRecord& claim) {
  return claim.launched.value_or(claim.created);
}

class DayAccount {
 public:
  DayAccount(const sandbox::Recorder& recorder, const DayBounds& bounds,
             const sandbox::Recorder::PriceLookup& price)
      : recorder_(recorder), bounds_(bounds), price_(price), evictions_(recorder) {}

  DayFigures figures() {
    account_machines();
    account_nodes();
    account_pods();
    for (std::size_t i = 0; i < bounds_.moments; ++i) {
      figures_.moments.push_back(moment(i));
    }
    figures_.cost = rounded(figures_.cost);
    figures_.machine_hours = rounded(figures_.machine_hours);
    return std::move(figures_);
  }

 private:
  struct Machine {
    Span span;
    double price = 0;
  };

  bool is_in_day(base::TimePoint time) const { return time > bounds_.start && time <= bounds_.end; }

  std::optional<Span> clipped(base::TimePoint from, std::optional<base::TimePoint> to) const {
    const Span span{std::max(from, bounds_.start), std::min(to.value_or(bounds_.end), bounds_.end)};
    return span.from < span.to ? std::optional(span) : std::nullopt;
  }

  void add_machine(const model::StringMap& labels, base::TimePoint from,
                   std::optional<base::TimePoint> to) {
    const auto span = clipped(from, to);
    if (!span) {
      return;
    }
    const auto price = price_(labels);
    figures_.without_price += price ? 0 : 1;
    figures_.machine_hours += span->hours();
    figures_.cost += span->hours() * price.value_or(0);
    machines_.push_back({*span, price.value_or(0)});
  }

  void account_machines() {
    for (const auto& [uid, claim] : recorder_.claims()) {
      figures_.claims += is_in_day(claim.created) ? 1 : 0;
      claimed_.insert(claim.last->provider_id);
      if (!claim.last->provider_id.empty()) {
        add_machine(claim.last->meta.labels, machine_begins(claim), claim.gone);
      }
    }
  }

  void account_nodes() {
    for (const auto& [uid, node] : recorder_.nodes()) {
      account_node(node);
    }
  }

  void account_node(const sandbox::NodeHistory& node) {
    const auto& id = node.last->provider_id;
    const bool is_claimed = !id.empty() && claimed_.contains(id);
    if (!is_claimed) {
      add_machine(node.last->meta.labels, node.created, node.gone);
    }
    figures_.removed += is_claimed && node.gone && *node.gone <= bounds_.end ? 1 : 0;
    if (const auto span = clipped(node.created, node.gone)) {
      nodes_.push_back(*span);
    }
  }

  void account_pods() {
    for (const auto& [uid, record] : recorder_.pods()) {
      if (counts_in_day(*record.last)) {
        account_pod(record);
      }
    }
    tell_waits();
  }

  void account_pod(const sandbox::PodRecord& record) {
    const bool left_in_day = record.deleting && is_in_day(*record.deleting);
    figures_.evicted += left_in_day && evictions_.was_evicted(record) ? 1 : 0;
    const bool ended_before = record.gone && *record.gone <= bounds_.start;
    if (ended_before || (record.bound && *record.bound <= bounds_.start) ||
        record.created > bounds_.end) {
      return;
    }
    ++figures_.pods;
    const auto from = std::max(record.created, bounds_.start);
    const auto left = record.bound ? record.bound : record.deleting ? record.deleting : record.gone;
    if (left && *left > from) {
      waiting_.push_back({from, std::min(*left, bounds_.end)});
    } else if (!left) {
      waiting_.push_back({from, bounds_.end + base::Duration(1)});
    }
    if (record.bound && *record.bound <= bounds_.end) {
      waits_.push_back(*record.bound - from);
    } else {
      ++figures_.never_placed;
    }
  }

  void tell_waits() {
    if (waits_.empty()) {
      return;
    }
    std::sort(waits_.begin(), waits_.end());
    const auto at = [this](std::size_t percent) {
      return waits_[(waits_.size() * percent + 99) / 100 - 1];
    };
    figures_.median_wait = at(50);
    figures_.p99_wait = at(99);
    figures_.longest_wait = waits_.back();
  }

  DayMoment moment(std::size_t number) {
    const auto steps = static_cast<std::int64_t>(bounds_.moments - 1);
    DayMoment moment;
    // The last is just before the end, when everything that is there at the end still is.
    moment.at = number + 1 == bounds_.moments
                    ? bounds_.end - base::Duration(1)
                    : bounds_.start +
                          (bounds_.end - bounds_.start) / steps * static_cast<std::int64_t>(number);
    const auto holds = [&](const Span& span) { return span.holds(moment.at); };
    moment.nodes = static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(), holds));
    moment.waiting =
        static_cast<std::size_t>(std::count_if(waiting_.begin(), waiting_.end(), holds));
    for (const auto& machine : machines_) {
      moment.price += holds(machine.span) ? machine.price : 0;
    }
    moment.price = rounded(moment.price);
    figures_.most_nodes = std::max(figures_.most_nodes, moment.nodes);
    return moment;
  }

  const sandbox::Recorder& recorder_;
  const DayBounds& bounds_;
  const sandbox::Recorder::PriceLookup& price_;
  DayEvictions evictions_;
  DayFigures figures_;
  std::vector<Machine> machines_;
  std::vector<Span> nodes_;
  std::vector<Span> waiting_;
  std::vector<base::Duration> waits_;  // of the pods that got a node
  std::set<std::string> claimed_;      // provider ids
};

}  // namespace

std::size_t moments_of(base::Duration day) {
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(day / kLeastBetween, 1)) + 1;
  return std::min(wanted, kMostMoments);
}

DayFigures figures_of(const sandbox::Recorder& recorder, const DayBounds& bounds,
                      const sandbox::Recorder::PriceLookup& price) {
  return DayAccount(recorder, bounds, price).figures();
}

}  // namespace millwright::app
