// The only file that sees prometheus-cpp.
#include "millwright/base/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/summary.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <variant>

namespace millwright::base {
namespace {

// Karpenter's duration buckets in seconds: controller-runtime's, and up to ten minutes.
const std::vector<double> kDurationBuckets{
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7,
    0.8,   0.9,  1,     1.25, 1.5, 1.75, 2,   2.5,  3,   3.5,  4,   4.5,  5,   6,   7,
    8,     9,    10,    15,   20,  25,   30,  40,   50,  60,   120, 150,  300, 450, 600};

// Karpenter's objectives of a summary, and client_golang's age of what counts.
const prometheus::Summary::Quantiles kQuantiles{
    {0, 0.01}, {0.5, 0.01}, {0.9, 0.01}, {0.99, 0.01}, {1, 0.01}};
constexpr auto kSummaryAge = std::chrono::minutes(10);

template <class T>
struct Series {
  prometheus::Family<T>* family = nullptr;
  std::map<MetricLabels, T*> members;
};

using AnySeries = std::variant<Series<prometheus::Counter>, Series<prometheus::Gauge>,
                               Series<prometheus::Histogram>, Series<prometheus::Summary>>;

struct Entry {
  AnySeries series;
  std::vector<double> buckets;
};

bool before(const prometheus::ClientMetric& a, const prometheus::ClientMetric& b) {
  return std::lexicographical_compare(
      a.label.begin(), a.label.end(), b.label.begin(), b.label.end(),
      [](const prometheus::ClientMetric::Label& x, const prometheus::ClientMetric::Label& y) {
        return std::tie(x.name, x.value) < std::tie(y.name, y.value);
      });
}

}  // namespace

struct Metrics::State {
  mutable std::mutex mutex;
  prometheus::Registry registry;
  std::map<std::string, Entry, std::less<>> entries;

  // The series of that name and labels, made when missing.
  template <class T, class Builder>
  T& series(const std::string& name, const std::string& help, const MetricLabels& labels,
            Builder builder, const std::vector<double>& buckets) {
    auto found = entries.find(name);
    if (found == entries.end()) {
      Series<T> fresh;
      fresh.family = &builder().Name(name).Help(help).Register(registry);
      found = entries.emplace(name, Entry{std::move(fresh), buckets}).first;
    }
    auto* const known = std::get_if<Series<T>>(&found->second.series);
    if (known == nullptr) {
      throw std::logic_error("metric " + name + " is used as two kinds of metric");
    }
    T*& member = known->members[labels];
    if (member == nullptr) {
      if constexpr (std::is_same_v<T, prometheus::Histogram>) {
        member = &known->family->Add(labels, found->second.buckets);
      } else if constexpr (std::is_same_v<T, prometheus::Summary>) {
        member = &known->family->Add(labels, kQuantiles, kSummaryAge);
      } else {
        member = &known->family->Add(labels);
      }
    }
    return *member;
  }
};

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;

void Metrics::count(const std::string& name, const std::string& help, const MetricLabels& labels,
                    double by) {
  const std::scoped_lock lock(state_->mutex);
  state_->series<prometheus::Counter>(name, help, labels, prometheus::BuildCounter, {})
      .Increment(by);
}

void Metrics::set(const std::string& name, const std::string& help, const MetricLabels& labels,
                  double value) {
  const std::scoped_lock lock(state_->mutex);
  state_->series<prometheus::Gauge>(name, help, labels, prometheus::BuildGauge, {}).Set(value);
}

void Metrics::observe(const std::string& name, const std::string& help, const MetricLabels& labels,
                      double value, const std::vector<double>& buckets) {
  const std::scoped_lock lock(state_->mutex);
  state_
      ->series<prometheus::Histogram>(name, help, labels, prometheus::BuildHistogram,
                                      buckets.empty() ? kDurationBuckets : buckets)
      .Observe(value);
}

void Metrics::summarize(const std::string& name, const std::string& help,
                        const MetricLabels& labels, double value) {
  const std::scoped_lock lock(state_->mutex);
  state_->series<prometheus::Summary>(name, help, labels, prometheus::BuildSummary, {})
      .Observe(value);
}

void Metrics::remove(const std::string& name, const MetricLabels& labels) {
  const std::scoped_lock lock(state_->mutex);
  const auto found = state_->entries.find(name);
  if (found == state_->entries.end()) {
    return;
  }
  std::visit(
      [&labels](auto& series) {
        const auto member = series.members.find(labels);
        if (member != series.members.end()) {
          series.family->Remove(member->second);
          series.members.erase(member);
        }
      },
      found->second.series);
}

void Metrics::forget(const std::string& label, const std::string& value) {
  const std::scoped_lock lock(state_->mutex);
  const auto is_meant = [&](const MetricLabels& labels) {
    const auto found = labels.find(label);
    return found != labels.end() && found->second == value;
  };
  for (auto& [name, entry] : state_->entries) {
    std::visit(
        [&is_meant](auto& series) {
          std::erase_if(series.members, [&](const auto& member) {
            const bool goes = is_meant(member.first);
            if (goes) {
              series.family->Remove(member.second);
            }
            return goes;
          });
        },
        entry.series);
  }
}

double Metrics::value(const std::string& name, const MetricLabels& labels) const {
  const std::scoped_lock lock(state_->mutex);
  const auto found = state_->entries.find(name);
  if (found == state_->entries.end()) {
    return 0;
  }
  return std::visit(
      [&labels]<class T>(const Series<T>& series) -> double {
        const auto member = series.members.find(labels);
        if constexpr (std::is_same_v<T, prometheus::Histogram> ||
                      std::is_same_v<T, prometheus::Summary>) {
          return 0;
        } else {
          return member == series.members.end() ? 0 : member->second->Value();
        }
      },
      found->second.series);
}

std::string Metrics::render() const {
  const std::scoped_lock lock(state_->mutex);
  auto families = state_->registry.Collect();
  // The registry keeps its series in hash order; a page that never reorders can be compared.
  std::sort(families.begin(), families.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  for (auto& family : families) {
    std::sort(family.metric.begin(), family.metric.end(), before);
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace millwright::base
