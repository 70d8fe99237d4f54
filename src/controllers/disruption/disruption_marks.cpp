#include "controllers/disruption/disruption_marks.hpp"

#include <algorithm>
#include <utility>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

// Kubelets, kwok and people write the same objects. What they wrote reaches us by watch, which may
// be seconds late.
constexpr int kAttempts = 7;
constexpr auto kFirstPause = std::chrono::milliseconds(100);

bool is_disrupted_taint(const model::Taint& taint) {
  return taint.key == model::kDisruptedTaint;
}

base::Task<base::Result<>> mark_once(Services& services, scheduling::NodeRecordPtr record,
                                     std::string reason) {
  if (record->node) {
    std::vector<model::Taint> taints = record->node->taints;
    std::erase_if(taints, is_disrupted_taint);
    taints.push_back({.key = std::string(model::kDisruptedTaint), .effect = "NoSchedule"});
    const cluster::Fence fence{
        .node = record->name(), .reason = reason, .since = services.loop.now()};
    json::object patch{
        {"metadata", {{"annotations", {{model::kFenceAnnotation, cluster::encode_fence(fence)}}}}},
        {"spec", {{"taints", model::encode(taints)}}}};
    MW_CO_CHECK(co_await patch_node(services, record->node, std::move(patch)));
    services.log.info("tainted node", {{"Node", record->node->meta.name}, {"reason", reason}});
  }
  const auto edit = [&reason](model::ConditionSet& set) {
    set.set_true(model::kDisruptionReason, reason, reason);
  };
  MW_CO_CHECK(co_await edit_conditions(services, record->claim, edit));
  co_return base::Result<>{};
}

base::Task<base::Result<>> clear_once(Services& services, scheduling::NodeRecordPtr record) {
  const bool tainted = record->node && std::any_of(record->node->taints.begin(),
                                                   record->node->taints.end(), is_disrupted_taint);
  if (tainted) {
    std::vector<model::Taint> taints = record->node->taints;
    std::erase_if(taints, is_disrupted_taint);
    json::object patch{{"metadata", {{"annotations", {{model::kFenceAnnotation, nullptr}}}}},
                       {"spec", {{"taints", model::encode(taints)}}}};
    MW_CO_CHECK(co_await patch_node(services, record->node, std::move(patch)));
  }
  MW_CO_CHECK(co_await edit_conditions(services, record->claim, [](model::ConditionSet& set) {
    set.clear(model::kDisruptionReason);
  }));
  co_return base::Result<>{};
}

// Conflict when the record is not what the API server has, and another look may help.
bool is_lost(const base::Result<>& written, int attempt) {
  return !written && written.error().kind == base::ErrorKind::Conflict && attempt < kAttempts;
}

}  // namespace

base::Task<base::Result<>> mark_disrupted(Services& services, scheduling::NodeRecordPtr record,
                                          std::string reason) {
  base::Duration pause = kFirstPause;
  for (int attempt = 1;; ++attempt) {
    auto marked = co_await mark_once(services, record, reason);
    if (!is_lost(marked, attempt)) {
      co_return marked;
    }
    co_await base::sleep(services.loop, std::exchange(pause, pause * 2));
    auto newest = services.state.find_claim(record->claim_name());
    if (!newest || newest->claim->meta.is_deleting()) {
      co_return marked;
    }
    record = std::move(newest);
  }
}

base::Task<base::Result<>> clear_disrupted(Services& services, scheduling::NodeRecordPtr record) {
  base::Duration pause = kFirstPause;
  for (int attempt = 1;; ++attempt) {
    auto cleared = co_await clear_once(services, record);
    if (!is_lost(cleared, attempt)) {
      co_return cleared;
    }
    co_await base::sleep(services.loop, std::exchange(pause, pause * 2));
    auto newest = services.state.find_claim(record->claim_name());
    if (!newest || newest->claim->meta.is_deleting()) {
      co_return base::Result<>{};  // nothing to reopen
    }
    record = std::move(newest);
  }
}

}  // namespace millwright::controllers
