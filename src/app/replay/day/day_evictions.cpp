#include "app/replay/day/day_evictions.hpp"

#include <algorithm>

namespace millwright::app {

DayEvictions::DayEvictions(const sandbox::Recorder& recorder) {
  for (const auto& [uid, node] : recorder.nodes()) {
    leaves_at(node.last->meta.name, node.disrupted);
    leaves_at(node.last->meta.name, node.deleting);
  }
}

void DayEvictions::leaves_at(const std::string& node, std::optional<base::TimePoint> time) {
  if (time) {
    auto& from = leaving_.try_emplace(node, *time).first->second;
    from = std::min(from, *time);
  }
}

bool DayEvictions::was_evicted(const sandbox::PodRecord& record) const {
  const bool had_ended = record.gone && record.gone < record.deleting;
  if (!record.deleting || had_ended) {
    return false;
  }
  if (model::is_true(record.last->status.conditions, "DisruptionTarget")) {
    return true;
  }
  const auto left = leaving_.find(record.last->spec.node_name);
  return left != leaving_.end() && left->second <= *record.deleting;
}

}  // namespace millwright::app
