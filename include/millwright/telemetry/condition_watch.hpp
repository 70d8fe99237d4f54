// Counts changes of conditions: operatorpkg's operator_<kind>_status_condition_{transitions_total,
// transition_seconds} and operator_<kind>_termination_duration_seconds. The gauges of conditions
// are on the page (page.hpp). Loop thread only.
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

// Labels that the object's condition metrics have beside the condition's: its NodeClass by the
// label that names it, karpenter.sh/nodepool and karpenter.sh/initialized.
base::MetricLabels condition_labels(const model::NodeClaim& claim);
base::MetricLabels condition_labels(const model::Node& node);
base::MetricLabels condition_labels(const model::NodePool& pool);
base::MetricLabels condition_labels(const model::CapacityBuffer& buffer);

// The kinds whose conditions are counted, as the metrics' names call them; empty: the kind is none.
template <class T>
inline constexpr std::string_view kConditionKind = "";
template <>
inline constexpr std::string_view kConditionKind<model::NodeClaim> = "nodeclaim";
template <>
inline constexpr std::string_view kConditionKind<model::Node> = "node";
template <>
inline constexpr std::string_view kConditionKind<model::NodePool> = "nodepool";
template <>
inline constexpr std::string_view kConditionKind<model::CapacityBuffer> = "capacitybuffer";
template <class T>
inline constexpr bool kHasConditionMetrics = !kConditionKind<T>.empty();

// Takes what was counted of the claims and nodes of a NodePool or a NodeClass off the page.
void forget_conditions_of_pool(base::Metrics& metrics, const std::string& pool);
void forget_conditions_of(base::Metrics& metrics, const model::NodeClassReference& node_class);

class ConditionWatch {
 public:
  // Counts while `chronicle` leads.
  ConditionWatch(base::Metrics& metrics, const Chronicle& chronicle)
      : metrics_(metrics), chronicle_(chronicle) {}

  template <class T>
  void seen(const T& object) {
    seen(kConditionKind<T>, object.meta, object.conditions, condition_labels(object));
  }
  template <class T>
  void gone(std::string_view uid, base::TimePoint now) {
    gone(kConditionKind<T>, uid, now);
  }

 private:
  struct Last {
    std::vector<model::Condition> conditions;
    std::optional<base::TimePoint> deleted;
    base::MetricLabels labels;
  };
  void seen(std::string_view kind, const model::ObjectMeta& meta,
            const std::vector<model::Condition>& conditions, base::MetricLabels labels);
  void gone(std::string_view kind, std::string_view uid, base::TimePoint now);
  void changed(std::string_view kind, const base::MetricLabels& labels,
               const model::Condition* before, const model::Condition& after);

  base::Metrics& metrics_;
  const Chronicle& chronicle_;
  std::unordered_map<std::string, Last> last_;  // by uid
};

}  // namespace millwright::telemetry
