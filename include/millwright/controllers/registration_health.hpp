// Whether the nodes of each NodePool come up: Karpenter's registration health (nodepoolhealth and
// the nodepool.registrationhealth controller), which is told as NodeRegistrationHealthy. The last
// four outcomes of a pool count: two failures make it unhealthy, a success with fewer than two
// makes it healthy, and until either it is not known. Only for people and alerts: nothing is
// decided by it. Loop thread only.
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
  // Called with a pool's name when what it should say about itself may have changed.
  void on_change(std::function<void(const std::string& pool)> callback);

  // A node of a claim that this very pool owns came up, or did not in its time. Claims of another
  // pool that once had the name, and claims without a pool, do not count.
  void succeeded(const model::NodePool& pool, const model::NodeClaim& claim);
  // Why: what the claim says about its launch, or RegistrationFailed when it was launched.
  void failed(const model::NodePool& pool, const model::NodeClaim& claim);
  void forget(std::string_view pool);

  // Writes the condition. What the pool or its class was before it changed tells nothing: then, and
  // for a pool never judged, it is Unknown. After a restart the condition itself is believed.
  // `class_changed`: the NodeClass is of another generation than the pool has seen.
  void judge(model::ConditionSet& set, const model::NodePool& pool, bool class_changed);

 private:
  enum class Verdict : std::uint8_t { Unknown, Healthy, Unhealthy };
  struct Record {
    std::string uid;  // of the pool
    std::deque<bool> outcomes;
    Verdict verdict = Verdict::Unknown;
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
