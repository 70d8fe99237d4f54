// A cloud in memory, with the catalog, prices, delays and failures of one cloud's profile. A Loop
// and a seed drive it, so that a run can be repeated exactly, in virtual time. Used by `millwright
// sandbox`, kwok clusters and tests.
//
// It makes instances, not Node objects: an InstanceListener is called when a machine appears and
// when it goes, and acts as its kubelet.
#pragma once

#include "millwright/base/loop.hpp"
#include "millwright/base/result.hpp"
#include "millwright/cloud/provider.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud {

// What the simulated cloud looks like.
enum class Profile : std::uint8_t {
  Kwok,     // KWOKNodeClass; Karpenter's kwok provider: 144 types, 1,152 offerings, no delays
  Aws,      // EC2NodeClass; us-west-2, list prices
  Alibaba,  // ECSNodeClass of both groups; cn-hangzhou
  Huawei,   // CCENodeClass; cn-north-4, on-demand only
};
std::string_view to_string(Profile profile);  // "kwok"
std::optional<Profile> parse_profile(std::string_view text);

// How long something takes: between `least` and `most`, half of the draws below `typical`.
struct Latency {
  base::Duration least{};
  base::Duration typical{};
  base::Duration most{};
  friend bool operator==(const Latency&, const Latency&) = default;
};

// One or many offerings; an empty part matches any value.
struct OfferingPattern {
  std::string instance_type;
  std::string zone;
  std::string capacity_type;
  friend bool operator==(const OfferingPattern&, const OfferingPattern&) = default;
};

struct SimulatedSettings {
  std::uint64_t seed = 1;
  Latency call;         // any API call but a launch
  Latency launch;       // create() until the instance exists
  Latency boot;         // the instance exists until its kubelet registers
  Latency termination;  // remove() until the instance is gone

  // Failures. Rates are probabilities per call (capacity: per offering tried).
  double error_rate = 0;     // Unavailable
  double throttle_rate = 0;  // Throttled, retry after one second
  // The instance is launched but the caller gets Timeout: asking again must not make a second.
  double lost_reply_rate = 0;
  double capacity_error_rate = 0;
  std::vector<OfferingPattern> sold_out;
  base::Duration unavailable_ttl = std::chrono::minutes(3);  // how long NoCapacity is remembered
  double spot_interruptions_per_hour = 0;                    // per spot instance
  base::Duration interruption_notice = std::chrono::minutes(2);

  // Prices move by at most this fraction around their list value at each refresh. Zero keeps them.
  double price_noise = 0;
  base::Duration price_refresh = std::chrono::hours(1);

  // A catalog to use in place of the profile's own, in the JSON form of Karpenter's kwok provider
  // (docs/sandbox.md). Empty: the profile's own.
  std::string catalog_file;
};

// Delays that resemble the profile's cloud; none for Kwok. No failures.
SimulatedSettings default_settings(Profile profile);

// What a machine's kubelet registers its Node with (--node-labels, --register-with-taints): the
// labels and taints of its NodeClaim too, so that admission policies on Nodes see them, and
// karpenter.sh/unregistered, so that nothing runs there before its claim is known. `claim` may be
// nullptr: a machine that was not told its claim registers with the instance's labels alone.
struct KubeletRegistration {
  model::StringMap labels;
  std::vector<model::Taint> taints;
};
KubeletRegistration kubelet_registration(const Instance& instance, const model::NodeClaim* claim,
                                         const std::string& node_name);

// Plays the machines. Called on the loop; must not call back into the cloud synchronously.
class InstanceListener {
 public:
  virtual ~InstanceListener() = default;
  // The instance exists; its kubelet registers a Node named `instance.node_name` after
  // `boot_latency`, unless it is terminated first.
  virtual void launched(const Instance& instance, std::shared_ptr<const model::NodeClaim> claim,
                        base::Duration boot_latency) = 0;
  // Shutting down; the machine still runs.
  virtual void terminating(const std::string& provider_id) = 0;
  // Gone, with or without a terminating() before.
  virtual void terminated(const std::string& provider_id) = 0;
};

class SimulatedCloud final : public Provider {
 public:
  // Registers the profile's well-known labels and restricted domains: call it at start-up, before
  // other threads run. Fails (Invalid) only when the catalog file cannot be read or is malformed.
  static base::Result<std::unique_ptr<SimulatedCloud>> make(base::Loop& loop, Profile profile,
                                                            SimulatedSettings settings);
  ~SimulatedCloud() override;

  std::string_view name() const override;
  std::span<const model::Resource> node_classes() const override;
  Reply<Instance> create(std::shared_ptr<const model::NodeClaim> claim,
                         std::shared_ptr<const model::NodeClass> node_class) override;
  Reply<> remove(std::shared_ptr<const model::NodeClaim> claim) override;
  Reply<Instance> get(std::string provider_id) override;
  // What there was when it was called, however long the call takes.
  Reply<std::vector<Instance>> list() override;
  Reply<> remove_leaked(std::string provider_id) override;
  base::Result<scheduling::InstanceTypes> instance_types(
      const model::NodePool& pool, const model::NodeClass& node_class) const override;
  Reply<std::string> drift(std::shared_ptr<const model::NodeClaim> claim,
                           std::shared_ptr<const model::NodeClass> node_class) override;
  std::optional<model::HashStamp> hash_of(const model::NodeClass& node_class) const override;
  std::vector<std::string> unsupported(const model::NodeClass& node_class) const override;
  model::RepairPolicies repair_policies() const override;
  Reply<NodeClassState> resolve(std::shared_ptr<const model::NodeClass> node_class) override;
  // Moves prices. Interruptions happen whether it runs or not.
  base::Task<void> run(std::stop_token stop) override;
  // Tells of interruptions, again each second until somebody acts or the machine is gone.
  base::Task<void> lead(std::stop_token stop) override;
  void on_catalog_change(std::function<void()> callback) override;
  void on_interruption(NoticeHandler handler) override;
  // One claim, one launch: its instances carry its name.
  void set_recorded(std::function<bool(std::string_view id)>) override {}

  // The levers of the sandbox. Loop thread only, like everything else here.

  // nullptr for none. The listener must outlive the cloud or be taken back.
  void set_listener(InstanceListener* listener);
  // New delays and failure rates from now on; catalog file and seed stay as they were.
  void configure(SimulatedSettings settings);
  const SimulatedSettings& settings() const;
  // Sold out until restocked. The planner learns of it when a launch fails, as in a real cloud.
  void sell_out(OfferingPattern pattern);
  void restock(const OfferingPattern& pattern);
  // The interruption warning now, termination after the notice. False when there is no such
  // running instance.
  bool interrupt(std::string_view provider_id);
  // The machine vanishes at once, without anybody asking. False when there is no such instance.
  bool lose(std::string_view provider_id);
  // A machine that another run launched: what its NodeClaim says of it, the claim's provider id
  // included. If its Node has not registered yet, it boots from now.
  void adopt(std::shared_ptr<const model::NodeClaim> claim);
  // The list price of the offerings that match, per hour; how many there are.
  std::size_t set_price(const OfferingPattern& pattern, double price);
  // Every offering of the catalog, whatever its price and availability.
  std::vector<OfferingPattern> offerings() const;
  // What the NodeClaims of machines of this class are annotated with at their launch, and what
  // drift() compares.
  model::StringMap stamp(const model::NodeClass& node_class) const;
  // What runs now costs this much per hour, and since the beginning this much in all.
  double hourly_cost() const;
  double total_cost() const;

  struct State;  // src/cloud/simulated/state.hpp

 private:
  explicit SimulatedCloud(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

// Catalog text in the JSON form of Karpenter's kwok provider: a list of
// {name, architecture, operatingSystems, resources, offerings: [{Price, Available,
// ReservationCapacity, Requirements: [{key, operator, values}]}]}. Invalid names `file`, the entry
// and the field.
base::Result<std::vector<scheduling::InstanceType>> parse_catalog(std::string_view text,
                                                                  std::string_view file);

}  // namespace millwright::cloud
