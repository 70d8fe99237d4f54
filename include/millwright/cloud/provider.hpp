// The interface to a cloud. One implementation per cloud; none includes another. Loop thread only.
// Error kinds: NoCapacity (the offering is sold out and marked unavailable), NotReady (the
// NodeClass is not ready), NotFound (the instance is gone), Throttled, Denied, Invalid,
// Unavailable.
#pragma once

#include "millwright/base/task.hpp"
#include "millwright/model/core.hpp"
#include "millwright/model/karpenter.hpp"
#include "millwright/model/kinds.hpp"
#include "millwright/model/repair_policy.hpp"
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
  std::string node_name;  // the name its Node will have; empty when the cloud does not know it
};

// A cloud's notice about one of our instances (Karpenter's interruption messages).
struct InstanceNotice {
  enum class Action : std::uint8_t {
    Tell,   // record an event, nothing else
    Drain,  // the instance will end, or should: delete its NodeClaim
    Force,  // the instance has failed: likewise, without waiting for its pods
  };
  std::string provider_id;
  std::string kind;    // the reason in metrics: "spot_interrupted"
  std::string reason;  // of the event: "SpotInterrupted"
  std::string message;
  Action action = Action::Drain;
};

// Acts on a notice. After an error nothing was done, and the notice must be given again.
using NoticeHandler = std::function<base::Task<base::Result<>>(InstanceNotice notice)>;

// One part of a NodeClass's readiness, as its own condition ("SubnetsReady").
struct NodeClassCondition {
  std::string type;
  bool good = false;
  std::string reason;  // when not good, with the message
  std::string message;
  bool is_unknown = false;  // whether it is good could not be found out
};

// The result of resolving a NodeClass: its new status and whether it is ready.
struct NodeClassState {
  boost::json::value status;  // without conditions
  bool ready = false;
  std::string reason;                               // of Ready=False
  std::string message;                              // what is missing and how to fix it
  std::vector<NodeClassCondition> conditions = {};  // besides Ready
  std::optional<model::HashStamp> stamp = {};       // of the NodeClass's spec; none: no hash
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
  // What the claims of this NodeClass are stamped with, for drift() to compare; nothing: it has no
  // hash. Pure, and for any thread.
  virtual std::optional<model::HashStamp> hash_of(const model::NodeClass& /*node_class*/) const {
    return std::nullopt;
  }
  // What the NodeClass asks for and this cloud cannot make: while there is any of it, the class is
  // not ready. Each names the field and what to do. Pure, and for any thread.
  virtual std::vector<std::string> unsupported(const model::NodeClass& /*node_class*/) const {
    return {};
  }
  // Conditions that mean that a node of this cloud is broken; without any, none is ever repaired.
  // They stay the same for the provider's life.
  virtual model::RepairPolicies repair_policies() const = 0;
  virtual Reply<NodeClassState> resolve(std::shared_ptr<const model::NodeClass> node_class) = 0;
  // The finalizer that the NodeClass has until release(); empty: the provider creates nothing for
  // the class itself. Of kinds in several API groups, each has its own.
  virtual std::string_view node_class_finalizer(const model::NodeClass& /*node_class*/) const {
    return {};
  }
  // Deletes what was created for the class, which is being deleted and has no claims any more.
  virtual Reply<> release(std::shared_ptr<const model::NodeClass> /*node_class*/) {
    co_return base::Result<>{};
  }

  // Call before run(). Asked before each attempt of a call that buys; false once another process
  // may lead. A launch may be several such calls, and what the cloud was not asked for in time the
  // next leader does not find and buys itself. Without it, every call may be made.
  virtual void set_may_buy(const std::function<bool()>& /*may_buy*/) {}

  // Background work (refreshing prices, listening for interruptions) until `stop`.
  virtual base::Task<void> run(std::stop_token stop) = 0;
  // This process leads from now on, before lead(). All NodeClaims are known, and set_recorded()'s
  // answers are of their statuses. Another process may have launched them, the newest of which was
  // created at `newest` by the API server's clock.
  virtual void inherit(base::TimePoint /*newest*/) {}
  // Background work for the leader only, until `stop`: acting on interruption messages, collecting
  // what leaked.
  virtual base::Task<void> lead(std::stop_token /*stop*/) { co_return; }
  // A node of the claim has come up. What it really has is not what every cloud tells beforehand:
  // later types of instance_types() may have less, or more. Cheap when there is nothing new.
  virtual void learn_capacity(const model::NodeClaim& /*claim*/, const model::Node& /*node*/) {}
  // Called on the loop when the catalog changed.
  virtual void on_catalog_change(std::function<void()> callback) = 0;
  // lead() gives it each notice about an instance, and repeats one until it was acted on, and while
  // its cause lasts.
  virtual void on_interruption(NoticeHandler handler) = 0;
  // Call before run(). Says of a provider id whether some NodeClaim's status has it, and of a
  // NodeClaim's UID whether its status has any. A provider that launches for many claims in one
  // call uses it after a crash, to find instances without a claim, and after others led.
  virtual void set_recorded(std::function<bool(std::string_view id)> is_recorded) = 0;
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
