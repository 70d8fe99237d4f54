// Karpenter's gauges of the catalog: cores and memory of each instance type, price and availability
// of each offering.
#pragma once

#include "millwright/base/metrics.hpp"
#include "millwright/scheduling/instance_type.hpp"

#include <map>
#include <set>
#include <string>

namespace millwright::cloud {

class TypeGauges {
 public:
  // Publishes what the class `of` can buy now and removes the series of what is no longer sold.
  // Cheap when nothing changed.
  void publish(base::Metrics& metrics, const std::string& of, scheduling::InstanceTypes types);

 private:
  std::map<std::string, scheduling::InstanceTypes> published_;  // by NodeClass
  std::map<std::string, std::set<base::MetricLabels>> series_;  // of offerings, by NodeClass
};

}  // namespace millwright::cloud
