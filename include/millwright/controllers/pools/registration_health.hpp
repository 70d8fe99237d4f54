// Whether the nodes of each NodePool register: the condition NodeRegistrationHealthy (Karpenter's
// nodepoolhealth and its nodepool.registrationhealth controller). The last four launches of a pool
// count. Two failures among them make it unhealthy; a success makes it healthy again once there are
// fewer than two. It is for people and alerts; nothing is decided by it. Loop thread only.
#pragma once

#include "millwright/model/conditions.hpp"
#include "millwright/model/karpenter.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace millwright::controllers {

class RegistrationHealth {
 public:
  // `callback` gets the name of a pool whose condition may have changed.
  void on_change(std::function<void(const std::string& pool)> callback);

  // The claim's node registered. Ignored unless this very pool owns the claim: an earlier pool may
  // have had the same name.
  void succeeded(const model::NodePool& pool, const model::NodeClaim& claim);
  // It did not in time. The reason is that of the claim's condition Launched, or RegistrationFailed
  // when it was launched.
  void failed(const model::NodePool& pool, const model::NodeClaim& claim);
  void forget(std::string_view pool);

  // Writes the condition. It is Unknown for a new pool, and again after the pool or its NodeClass
  // changed: earlier launches prove nothing then. After a restart the stored condition is believed.
  // `class_changed`: the NodeClass has another generation than the pool has seen.
  void judge(model::ConditionSet& set, const model::NodePool& pool, bool class_changed);

 private:
  enum class Health : std::uint8_t { Unknown, Healthy, Unhealthy };
  struct Record {
    std::string uid;            // of the pool
    std::deque<bool> launches;  // the last four; true: registered
    Health health = Health::Unknown;
    std::string reason;  // of Unhealthy
    std::string message;
  };
  Record& record_of(const model::NodePool& pool);
  bool concerns(const model::NodePool& pool, const model::NodeClaim& claim) const;
  static void remember(Record& record, bool success);
  static void believe(Record& record, const model::Condition& condition);

  std::map<std::string, Record, std::less<>> records_;  // by pool name
  std::function<void(const std::string&)> changed_ = [](const std::string&) {};
};

}  // namespace millwright::controllers
