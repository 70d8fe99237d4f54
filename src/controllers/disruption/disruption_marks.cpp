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

bool has_disrupted_taint(const model::Node& node) {
  return std::any_of(node.taints.begin(), node.taints.end(), is_disrupted_taint);
}

bool is_tainted(const model::Node& node) {
  return std::any_of(node.taints.begin(), node.taints.end(), [](const auto& taint) {
    return is_disrupted_taint(taint) && taint.effect == "NoSchedule";
  });
}

// `fence` as the claim tells of it; null: it tells of none.
ClaimReply write_fence(Services& services, ClaimPtr claim, json::value fence) {
  json::object metadata{{"annotations", {{model::kFenceAnnotation, std::move(fence)}}}};
  co_return co_await patch_claim(services, claim, ClaimPatch::of_metadata(std::move(metadata)));
}

// The taint is the first that is written and the last that goes: whoever undoes what an earlier
// leader left finds it by the taint. What an earlier attempt has written stays.
base::Task<base::Result<>> mark_once(Services& services, scheduling::NodeRecordPtr record,
                                     std::string reason) {
  ClaimPtr claim = record->claim;
  if (record->node && !is_tainted(*record->node)) {
    std::vector<model::Taint> taints = record->node->taints;
    std::erase_if(taints, is_disrupted_taint);
    taints.push_back({.key = std::string(model::kDisruptedTaint), .effect = "NoSchedule"});
    json::object patch{{"spec", {{"taints", model::encode(taints)}}}};
    MW_CO_CHECK(co_await patch_node(services, record->node, std::move(patch)));
    services.log.info("tainted node", {{"Node", record->node->meta.name}, {"reason", reason}});
  }
  if (record->node && claim->meta.annotation(model::kFenceAnnotation).empty()) {
    const cluster::Fence fence{
        .node = record->name(), .reason = reason, .since = services.loop.now()};
    json::string text(cluster::encode_fence(fence));
    MW_CO_TRY(fenced, co_await write_fence(services, claim, std::move(text)));
    claim = fenced;
  }
  const auto edit = [&reason](model::ConditionSet& set) {
    set.set_true(model::kDisruptionReason, reason, reason);
  };
  MW_CO_CHECK(co_await edit_conditions(services, claim, edit));
  co_return base::Result<>{};
}

// As the API server has it; nullptr when it is gone.
base::Task<base::Result<std::shared_ptr<const model::Node>>> newest_node(
    Services& services, std::shared_ptr<const model::Node> node) {
  const auto object = co_await services.client.get(model::kNodeResource, model::key_of(node->meta));
  MW_CO_CHECK(ignore_not_found(object));
  if (!object) {
    co_return nullptr;
  }
  MW_CO_TRY(decoded, model::decode<model::Node>(*object));
  const auto found = std::make_shared<const model::Node>(std::move(decoded));
  services.state.answered(found);
  co_return found->meta.uid == node->meta.uid ? found : nullptr;
}

base::Task<base::Result<>> clear_once(Services& services, scheduling::NodeRecordPtr record,
                                      Taint taint) {
  ClaimPtr claim = record->claim;
  if (!claim->meta.annotation(model::kFenceAnnotation).empty()) {
    MW_CO_TRY(open, co_await write_fence(services, claim, nullptr));
    claim = open;
  }
  MW_CO_CHECK(co_await edit_conditions(
      services, claim, [](model::ConditionSet& set) { set.clear(model::kDisruptionReason); }));
  auto node = record->node;
  if (node && !has_disrupted_taint(*node) && taint == Taint::MayBeHidden) {
    MW_CO_TRY(asked_for, co_await newest_node(services, node));
    node = asked_for;
  }
  if (node && has_disrupted_taint(*node)) {
    std::vector<model::Taint> taints = node->taints;
    std::erase_if(taints, is_disrupted_taint);
    json::object patch{{"spec", {{"taints", model::encode(taints)}}}};
    MW_CO_CHECK(co_await patch_node(services, node, std::move(patch)));
  }
  co_return base::Result<>{};
}

// Conflict when the record is not what the API server has, and another look may help.
bool is_lost(const base::Result<>& written, int attempt) {
  return !written && written.error().kind == base::ErrorKind::Conflict && attempt < kAttempts;
}

}  // namespace

bool shows_marks(const scheduling::NodeRecord& record) {
  return record.fenced ||
         model::find_condition(record.claim->conditions, model::kDisruptionReason) != nullptr ||
         has_disrupted_taint(*record.node);
}

bool is_ending(const scheduling::NodeRecord& record) {
  const auto& node = record.node;
  return record.claim->meta.is_deleting() ||
         (node && node->meta.is_deleting() &&
          node->meta.has_finalizer(model::kTerminationFinalizer));
}

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

base::Task<base::Result<>> delete_disrupted(Services& services, scheduling::NodeRecordPtr record,
                                            std::string reason) {
  base::Duration pause = kFirstPause;
  for (int attempt = 1;; ++attempt) {
    auto deleted = co_await delete_claim(services, record->claim, reason);
    if (deleted || attempt == kAttempts || !base::is_retryable(deleted.error().kind)) {
      co_return deleted;
    }
    co_await base::sleep(services.loop, std::exchange(pause, pause * 2));
  }
}

base::Task<base::Result<>> clear_disrupted(Services& services, scheduling::NodeRecordPtr record,
                                           Taint taint) {
  base::Duration pause = kFirstPause;
  for (int attempt = 1;; ++attempt) {
    auto cleared = co_await clear_once(services, record, taint);
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
