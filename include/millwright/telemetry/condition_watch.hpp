// Counts what conditions do: operatorpkg's operator_<kind>_status_condition_{transitions_total,
// transition_seconds} and operator_<kind>_termination_duration_seconds. The gauges beside them are
// on the page (page.hpp). Loop thread only.
#pragma once

#include "millwright/base/metrics.hpp"
#include "millwright/model/capacity_buffer.hpp"
#include "millwright/model/core.hpp"
#include "millwright/model/karpenter.hpp"
#include "millwright/telemetry/chronicle.hpp"

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace millwright::telemetry {

// What an object's kind adds to the labels of its condition metrics: its NodeClass by the label
// that names it, and karpenter.sh/nodepool and karpenter.sh/initialized.
base::MetricLabels condition_labels(const model::NodeClaim& claim);
base::MetricLabels condition_labels(const model::Node& node);
base::MetricLabels condition_labels(const model::NodePool& pool);
base::MetricLabels condition_labels(const model::CapacityBuffer& buffer);

class ConditionWatch {
 public:
  // Counts while `chronicle` leads.
  ConditionWatch(base::Metrics& metrics, const Chronicle& chronicle)
      : metrics_(metrics), chronicle_(chronicle) {}

  template <class T>
  void seen(const T& object) {
    seen(kind_of(object), object.meta, object.conditions, condition_labels(object));
  }
  // `kind` as in the metrics' names: "nodeclaim".
  void gone(std::string_view kind, std::string_view uid, base::TimePoint now);

 private:
  struct Last {
    std::vector<model::Condition> conditions;
    std::optional<base::TimePoint> deleted;
    base::MetricLabels labels;
  };
  static std::string_view kind_of(const model::NodeClaim&) { return "nodeclaim"; }
  static std::string_view kind_of(const model::Node&) { return "node"; }
  static std::string_view kind_of(const model::NodePool&) { return "nodepool"; }
  static std::string_view kind_of(const model::CapacityBuffer&) { return "capacitybuffer"; }
  void seen(std::string_view kind, const model::ObjectMeta& meta,
            const std::vector<model::Condition>& conditions, base::MetricLabels labels);
  void changed(std::string_view kind, const base::MetricLabels& labels,
               const model::Condition* before, const model::Condition& after);

  base::Metrics& metrics_;
  const Chronicle& chronicle_;
  std::unordered_map<std::string, Last> last_;  // by uid
};

}  // namespace millwright::telemetry
