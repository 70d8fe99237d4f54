#include "millwright/disruption/protection.hpp"

#include <string>

namespace millwright::disruption {

std::optional<Obstacle> node_protection(const scheduling::NodeRecord& record) {
  if (!record.node || record.node->meta.annotation(model::kDoNotDisruptAnnotation) != "true") {
    return std::nullopt;
  }
  return Obstacle{"its node has the annotation " + std::string(model::kDoNotDisruptAnnotation),
                  std::nullopt};
}

bool overrides_pods(const scheduling::NodeRecord& record, Reason reason) {
  return reason == Reason::Drifted && record.claim &&
         record.claim->termination_grace_period.value().has_value();
}

std::optional<Obstacle> protection(const scheduling::NodeRecord& record, Reason reason,
                                   base::TimePoint now) {
  auto found = node_protection(record);
  return found || overrides_pods(record, reason) ? found : pod_protection(record.pods, now);
}

}  // namespace millwright::disruption
