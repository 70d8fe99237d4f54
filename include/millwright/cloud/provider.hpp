// What Millwright asks of a cloud. One implementation per cloud; none knows another. Loop thread
// only. Errors are typed: NoCapacity (the offering is sold out and marked so), NotReady (the
// NodeClass is not), NotFound (the instance is gone), Throttled, Denied, Invalid, Unavailable.
#pragma once

#include "millwright/base/task.hpp"
#include "millwright/model/karpenter.hpp"
#include "millwright/model/kinds.hpp"
#include "millwright/scheduling/instance_type.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud {

struct Instance {
  std::string provider_id;
  std::string image_id;
  std::string node_claim;  // name of the owning NodeClaim, from the instance's tags
  std::string node_pool;
  model::StringMap labels;  // concrete: instance type, zone, capacity type, ...
  model::StringMap annotations;
  model::ResourceList capacity;
  model::ResourceList allocatable;
  std::optional<base::TimePoint> launched_at;
  bool terminating = false;
  std::string node_name;  // what its kubelet will register as; empty when the cloud cannot tell
};

struct RepairPolicy {
  std::string condition_type;
  model::ConditionStatus condition_status = model::ConditionStatus::False;
  base::Duration toleration{};
};

// What a cloud says about an instance of ours (Karpenter's interruption messages).
struct InstanceNotice {
  enum class Action : std::uint8_t {
    Tell,   // an event, nothing else
    Drain,  // the instance goes, or should: its NodeClaim is deleted
    Force,  // it has failed: likewise, and without waiting for its pods
  };
  std::string provider_id;
  std::string kind;    // the reason in metrics: "spot_interrupted"
  std::string reason;  // of the event: "SpotInterrupted"
  std::string message;
  Action action = Action::Drain;
};

// One part of a NodeClass's readiness, as its own condition ("SubnetsReady").
struct NodeClassCondition {
  std::string type;
  bool good = false;
  std::string reason;  // when not good, with the message
  std::string message;
};

// What a NodeClass resolves to: its new status and whether it is ready.
struct NodeClassState {
  boost::json::value status;  // without conditions
  bool ready = false;
  std::string reason;                               // of Ready=False
  std::string message;                              // what is missing and how to fix it
  std::vector<NodeClassCondition> conditions = {};  // besides Ready
  model::StringMap annotations = {};                // to keep on the NodeClass: its drift hash
};

class Provider {
 public:
  template <class T = void>
  using Reply = base::Task<base::Result<T>>;

  virtual ~Provider() = default;
  virtual std::string_view name() const = 0;  // "aws", "kwok", ...
  virtual std::span<const model::Resource> node_classes() const = 0;

  // Launches one instance for the claim. The claim's UID is the idempotency token: a second call
  // with it returns the first call's instance. Picks the cheapest available offering allowed.
  virtual Reply<Instance> create(std::shared_ptr<const model::NodeClaim> claim,
                                 std::shared_ptr<const model::NodeClass> node_class) = 0;
  // Success: termination has started, ask again. NotFound: it is gone.
  virtual Reply<> remove(std::shared_ptr<const model::NodeClaim> claim) = 0;
  virtual Reply<Instance> get(std::string provider_id) = 0;
  // Every instance this installation owns, those terminating included.
  virtual Reply<std::vector<Instance>> list() = 0;
  // Deletes an instance that no claim owns.
  virtual Reply<> remove_leaked(std::string provider_id) = 0;

  // From memory; all types, whatever their availability. NotReady until first known.
  virtual base::Result<scheduling::InstanceTypes> instance_types(
      const model::NodePool& pool, const model::NodeClass& node_class) const = 0;
  // Why the claim's instance no longer matches its NodeClass; empty when it does.
  virtual Reply<std::string> drift(std::shared_ptr<const model::NodeClaim> claim,
                                   std::shared_ptr<const model::NodeClass> node_class) = 0;
  virtual std::vector<RepairPolicy> repair_policies() const = 0;
  virtual Reply<NodeClassState> resolve(std::shared_ptr<const model::NodeClass> node_class) = 0;
  // The finalizer that NodeClasses keep until release(); empty: nothing is made for a class itself.
  virtual std::string_view node_class_finalizer() const { return {}; }
  // Ends what was made for the class, which is being deleted and that no claim refers to any more.
  virtual Reply<> release(std::shared_ptr<const model::NodeClass> /*node_class*/) {
    co_return base::Result<>{};
  }

  // Background work (refreshing prices, listening for interruptions) until `stop`.
  virtual base::Task<void> run(std::stop_token stop) = 0;
  // Background work that must be done once however many replicas run (acting on interruption
  // messages, collecting what leaked), while this process leads and until `stop`.
  virtual base::Task<void> lead(std::stop_token /*stop*/) { co_return; }
  // Called on the loop when the catalog changed, and with what the cloud says about an instance;
  // the same again while it is so.
  virtual void on_catalog_change(std::function<void()> callback) = 0;
  virtual void on_interruption(std::function<void(InstanceNotice notice)> callback) = 0;
  // Given before run(): whether some NodeClaim's status has the provider id. A provider that
  // launches for many claims in one call tells by it, after a crash, which instances are nobody's
  // yet.
  virtual void set_recorded(std::function<bool(std::string_view provider_id)> is_recorded) = 0;
};

// The providers of this process, by NodeClass kind.
class ProviderSet {
 public:
  void add(std::unique_ptr<Provider> provider);
  // nullptr when no provider serves that kind.
  Provider* find(std::string_view group, std::string_view kind) const;
  std::span<const std::unique_ptr<Provider>> all() const { return providers_; }

 private:
  std::vector<std::unique_ptr<Provider>> providers_;
};

}  // namespace millwright::cloud
