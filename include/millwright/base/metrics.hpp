// Prometheus metrics. A metric family is created when it is first used; the same name always means
// the same family. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace millwright::base {

using MetricLabels = std::map<std::string, std::string>;

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // `name` is the full Prometheus name, `help` one sentence.
  void count(const std::string& name, const std::string& help, const MetricLabels& labels = {},
             double by = 1);
  void set(const std::string& name, const std::string& help, const MetricLabels& labels,
           double value);
  // `buckets` are upper bounds; those of the first call for a name are kept.
  void observe(const std::string& name, const std::string& help, const MetricLabels& labels,
               double value, const std::vector<double>& buckets = {});
  // A summary: count, sum and the quantiles 0, .5, .9, .99 and 1 of the last ten minutes.
  void summarize(const std::string& name, const std::string& help, const MetricLabels& labels,
                 double value);
  // Forgets one series of a gauge.
  void remove(const std::string& name, const MetricLabels& labels);
  // Forgets every series that has the label with this value: of an object that is gone.
  void forget(const std::string& label, const std::string& value);

  // Current value of a counter or gauge; 0 when it was never touched. For tests and status.
  double value(const std::string& name, const MetricLabels& labels = {}) const;

  // Prometheus text exposition format.
  std::string render() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millwright::base
