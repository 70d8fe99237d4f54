// Karpenter's gauges of what can be bought: cores and memory of each instance type, price and
// availability of each offering.
#pragma once

#include "millwright/base/metrics.hpp"
#include "millwright/scheduling/instance_type.hpp"

#include <map>
#include <set>
#include <string>

namespace millwright::cloud::aws {

class TypeGauges {
 public:
  // What the class `of` can buy now; series of what is sold no more go. Cheap when nothing changed.
  void publish(base::Metrics& metrics, const std::string& of, scheduling::InstanceTypes types);

 private:
  std::map<std::string, scheduling::InstanceTypes> published_;  // by NodeClass
  std::map<std::string, std::set<base::MetricLabels>> series_;  // of offerings, by NodeClass
};

}  // namespace millwright::cloud::aws
