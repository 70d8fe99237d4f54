// The inside of a SimulatedCloud: its machines and what is for sale now. Shared with the timers
// and calls that are under way, so that destroying the cloud in the middle of one is safe.
#pragma once

#include "cloud/simulated/profile.hpp"
#include "millwright/base/random.hpp"
#include "millwright/cloud/simulated.hpp"

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace millwright::cloud {

struct SimulatedCloud::State : std::enable_shared_from_this<SimulatedCloud::State> {
  struct OfferingKey {
    std::string instance_type;
    std::string zone;
    std::string capacity_type;
    friend auto operator<=>(const OfferingKey&, const OfferingKey&) = default;
  };

  enum class Phase : std::uint8_t { Launching, Running, Terminating };

  struct Machine {
    Instance instance;
    Phase phase = Phase::Launching;
    OfferingKey offering;
    double price = 0;  // per hour, fixed at the launch
    std::shared_ptr<const model::NodeClaim> claim;
    base::TimePoint exists_at;  // the end of launching
    base::Duration boot_latency{};
    // The pending step: launch, then nothing, then the end of termination.
    std::optional<base::TimerId> step;
    std::optional<base::TimerId> interruption;
  };

  State(base::Loop& loop, Profile profile, SimulatedSettings settings,
        std::vector<scheduling::InstanceType> types);
  ~State();

  // --- chance (state.cpp)
  base::Duration draw(const Latency& latency);
  bool chance(double probability);
  // The fault that this call meets, if any.
  std::optional<base::Error> draw_fault(std::string_view call);

  // --- what is for sale (offerings.cpp)
  // With the prices and the availability of now.
  scheduling::InstanceTypes catalog(const simulated::Sale& sale) const;
  bool is_sold_out(const OfferingKey& offering) const;
  void mark_unavailable(const OfferingKey& offering);
  void move_prices();
  double price_factor(const OfferingKey& offering) const;
  std::size_t set_price(const OfferingPattern& pattern, double price);
  std::vector<OfferingPattern> offerings() const;
  // Discards the derived catalogs and calls the listeners, once for many changes at a time.
  void catalog_changed();

  // --- machines (machines.cpp)
  // Starts a launch for the claim, or returns why it cannot. The machine exists at `exists_at`.
  base::Result<const Machine*> launch(std::shared_ptr<const model::NodeClaim> claim,
                                      const model::NodeClass& node_class);
  void adopt(std::shared_ptr<const model::NodeClaim> claim);
  model::StringMap stamp(const model::NodeClass& node_class) const;
  std::vector<Instance> launched_instances() const;
  Machine* find(std::string_view provider_id);
  Machine* find_by_claim(std::string_view uid);
  // Starts the termination of a machine that is not yet terminating.
  void terminate(Machine& machine);
  bool interrupt(std::string_view provider_id);
  bool lose(std::string_view provider_id);

  base::Loop& loop;
  Profile profile;
  SimulatedSettings settings;
  base::Random random;
  std::vector<scheduling::InstanceType> types;           // at list price, everything available
  std::map<std::string, Machine, std::less<>> machines;  // by provider id
  // Stays after the machine is gone: the claim's UID is used up.
  std::map<std::string, std::string, std::less<>> provider_id_by_claim;
  std::map<OfferingKey, base::TimePoint> unavailable_until;
  InstanceListener* listener = nullptr;
  std::vector<std::function<void()>> catalog_callbacks;
  NoticeHandler notice_handler;
  std::deque<InstanceNotice> notices;  // nobody has acted on them yet
  base::Signal noticed;
  double cost_of_the_gone = 0;

 private:
  struct Candidate;
  std::vector<Candidate> candidates(const model::NodeClaim& claim,
                                    const std::vector<scheduling::InstanceType>& for_sale) const;
  Machine& add_machine(std::shared_ptr<const model::NodeClaim> claim,
                       const model::NodeClass& node_class, const Candidate& candidate);
  void finish_launch(const std::string& provider_id);
  void finish_termination(const std::string& provider_id);
  void plan_interruption(const std::string& provider_id);
  // A timer that does nothing when the cloud is gone by then.
  base::TimerId schedule(base::Duration delay, std::function<void(State&)> step);

  std::uint64_t serial_ = 0;
  std::set<std::string, std::less<>> adopted_names_;  // of Nodes
  std::uint64_t price_epoch_ = 0;
  bool change_posted_ = false;
  mutable std::map<simulated::Sale, scheduling::InstanceTypes> catalogs_;
};

}  // namespace millwright::cloud
