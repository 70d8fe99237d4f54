// A histogram as a page of metrics shows it, in Prometheus' text format.
#pragma once

#include <map>
#include <string>

namespace millwright::plane {

class Histogram {
 public:
  // The sum of the metric's series whose labels contain `labels`; empty when there is none.
  static Histogram read(const std::string& page, const std::string& name,
                        const std::string& labels = {});
  // What was observed after `before` was read from an earlier page of the same process.
  Histogram since(const Histogram& before) const;

  double count() const;
  // The upper bound of the bucket that a share of the observations is in, in the metric's unit;
  // infinity beyond the last one, 0 when there are none.
  double quantile(double share) const;

 private:
  std::map<double, double> at_most_;  // by bound: observations up to it
};

}  // namespace millwright::plane
