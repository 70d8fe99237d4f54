// Gauges of the catalog: Karpenter's cores and memory of each instance type, price and availability
// of each offering; and how many offerings each NodeClass can buy.
#pragma once

#include "millwright/base/metrics.hpp"
#include "millwright/model/karpenter.hpp"
#include "millwright/scheduling/instance_type.hpp"

#include <map>
#include <string>

namespace millwright::cloud {

class TypeGauges {
 public:
  // Publishes what the class can buy now and removes the series of what no class is sold any more.
  // Cheap when nothing changed.
  void publish(base::Metrics& metrics, const model::NodeClassReference& of,
               scheduling::InstanceTypes types);
  // The class is gone.
  void forget(base::Metrics& metrics, const model::NodeClassReference& of);

 private:
  struct Shown {
    double price = 0;
    bool available = false;
  };
  using ShownByLabels = std::map<base::MetricLabels, Shown>;
  static void show(ShownByLabels& shown, const std::string& type,
                   const scheduling::Offering& offering);
  // Karpenter's series have no label for the class: what one class can buy can be bought.
  void show_for_all(base::Metrics& metrics, const base::MetricLabels& labels) const;
  void replace(base::Metrics& metrics, const model::NodeClassReference& of, ShownByLabels now);

  std::map<model::NodeClassReference, scheduling::InstanceTypes> published_;
  std::map<model::NodeClassReference, ShownByLabels> shown_;
};

}  // namespace millwright::cloud
