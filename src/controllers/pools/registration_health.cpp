#include "millwright/controllers/pools/registration_health.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

constexpr std::size_t kRemembered = 4;
constexpr std::ptrdiff_t kTooMany = 2;  // half of what is remembered

}  // namespace

void RegistrationHealth::on_change(std::function<void(const std::string&)> callback) {
  changed_ = std::move(callback);
}

RegistrationHealth::Record& RegistrationHealth::record_of(const model::NodePool& pool) {
  Record& record = records_[pool.meta.name];
  if (record.uid != pool.meta.uid) {
    record = Record{};
    record.uid = pool.meta.uid;
    const auto* said = model::find_condition(pool.conditions, model::kNodeRegistrationHealthy);
    if (said != nullptr && said->observed_generation == pool.meta.generation) {
      believe(record, *said);
    }
  }
  return record;
}

bool RegistrationHealth::concerns(const model::NodePool& pool,
                                  const model::NodeClaim& claim) const {
  const auto& owners = claim.meta.owner_references;
  return std::any_of(owners.begin(), owners.end(), [&](const auto& owner) {
    return owner.kind == "NodePool" && owner.uid == pool.meta.uid;
  });
}

void RegistrationHealth::remember(Record& record, bool success) {
  record.launches.push_back(success);
  if (record.launches.size() > kRemembered) {
    record.launches.pop_front();
  }
  const bool too_many =
      std::count(record.launches.begin(), record.launches.end(), false) >= kTooMany;
  if (success && !too_many) {
    record.health = Health::Healthy;
  } else if (!success && too_many) {
    record.health = Health::Unhealthy;
  }
}

void RegistrationHealth::succeeded(const model::NodePool& pool, const model::NodeClaim& claim) {
  if (concerns(pool, claim)) {
    remember(record_of(pool), true);
    changed_(pool.meta.name);
  }
}

void RegistrationHealth::failed(const model::NodePool& pool, const model::NodeClaim& claim) {
  if (!concerns(pool, claim)) {
    return;
  }
  Record& record = record_of(pool);
  remember(record, false);
  const auto* launched = model::find_condition(claim.conditions, model::kLaunched);
  if (launched != nullptr && launched->status != model::ConditionStatus::True) {
    record.reason = launched->reason;
    record.message = launched->message;
  } else {
    record.reason = "RegistrationFailed";
    record.message = "Failed to register node";
  }
  changed_(pool.meta.name);
}

void RegistrationHealth::forget(std::string_view pool) {
  if (const auto found = records_.find(pool); found != records_.end()) {
    records_.erase(found);
  }
}

// A true condition proves one success, a false one two failures.
void RegistrationHealth::believe(Record& record, const model::Condition& condition) {
  if (condition.status == model::ConditionStatus::True) {
    remember(record, true);
  } else if (condition.status == model::ConditionStatus::False) {
    remember(record, false);
    remember(record, false);
    record.reason = condition.reason;
    record.message = condition.message;
  }
}

void RegistrationHealth::judge(model::ConditionSet& set, const model::NodePool& pool,
                               bool class_changed) {
  Record& record = record_of(pool);
  const auto* said = model::find_condition(pool.conditions, model::kNodeRegistrationHealthy);
  if (said == nullptr || class_changed || said->observed_generation != pool.meta.generation) {
    record.launches.clear();
    record.health = Health::Unknown;
    set.set_unknown(model::kNodeRegistrationHealthy, "AwaitingReconciliation",
                    "object is awaiting reconciliation");
    return;
  }
  if (record.health == Health::Healthy) {
    set.set_true(model::kNodeRegistrationHealthy);
  } else if (record.health == Health::Unhealthy) {
    set.set_false(model::kNodeRegistrationHealthy, record.reason, record.message);
  }
}

}  // namespace millwright::controllers
