#include "controllers/disruption_marks.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

bool is_disrupted_taint(const model::Taint& taint) {
  return taint.key == model::kDisruptedTaint;
}

}  // namespace

base::Task<base::Result<>> mark_disrupted(Services& services, scheduling::NodeRecordPtr record,
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
    auto patched = co_await patch_node(services, record->node, std::move(patch));
    if (!patched) {
      co_return tl::unexpected(std::move(patched).error());
    }
    services.log.info("tainted node", {{"Node", record->node->meta.name}, {"reason", reason}});
  }
  const auto edit = [&reason](model::ConditionSet& set) {
    set.set_true(model::kDisruptionReason, reason, reason);
  };
  auto edited = co_await edit_conditions(services, record->claim, edit);
  if (!edited) {
    co_return tl::unexpected(std::move(edited).error());
  }
  co_return base::Result<>{};
}

base::Task<base::Result<>> clear_disrupted(Services& services, scheduling::NodeRecordPtr record) {
  const bool tainted = record->node && std::any_of(record->node->taints.begin(),
                                                   record->node->taints.end(), is_disrupted_taint);
  if (tainted) {
    std::vector<model::Taint> taints = record->node->taints;
    std::erase_if(taints, is_disrupted_taint);
    json::object patch{{"metadata", {{"annotations", {{model::kFenceAnnotation, nullptr}}}}},
                       {"spec", {{"taints", model::encode(taints)}}}};
    auto patched = co_await patch_node(services, record->node, std::move(patch));
    if (!patched) {
      co_return tl::unexpected(std::move(patched).error());
    }
  }
  auto edited = co_await edit_conditions(services, record->claim, [](model::ConditionSet& set) {
    set.clear(model::kDisruptionReason);
  });
  if (!edited) {
    co_return tl::unexpected(std::move(edited).error());
  }
  co_return base::Result<>{};
}

}  // namespace millwright::controllers
