// What must hold in every simulated world: always, and once everything is healed.
#pragma once

#include "simulate/world/world.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace millwright::test {

bool is_daemon(const model::Pod& pod);
std::string replica_set_of(const model::Pod& pod);
// That of its ReplicaSet, "web-3" of "web-3-7fxz64cfr2".
std::string deployment_of(const model::Pod& pod);

// Of several schedulers, nobody knows whose call led to what.
template <class Predicate>
bool every(const FilterCalls& calls, Predicate holds) {
  return !calls.empty() && std::all_of(calls.begin(), calls.end(),
                                       [&](const auto& call) { return holds(call.second); });
}

class Checks {
 public:
  explicit Checks(SimulatedWorld& world) : world_(world) {}

  void wrote(const Write& write);
  // What a replica's provider sends to a cloud that remembers.
  void changes_cloud(const Write& write);
  void ends(const std::string& instance);  // the cloud was asked to end it
  void look_at_event();                    // after each change of a Pod, Node or NodeClaim
  void look_at_second();                   // what changes elsewhere, or takes time
  // When the world came to rest, or should have; and again some minutes later.
  void look_at_rest(bool at_rest);

  const std::vector<Violation>& found() const { return found_; }

 private:
  // Each is one invariant; docs/simulator.md has the table.
  void one_instance_per_claim();
  void no_instance_without_claim();
  void no_young_claim_is_given_up();
  void nothing_is_bought_twice();
  void no_binding_to_a_closed_node();
  void budgets_hold();
  void limits_hold();
  void reserved_is_needed();
  void one_term_at_a_time();
  void everything_runs();
  void no_node_stays_closed();
  void no_empty_node_stays();
  void interruptions_are_handled();
  void no_claim_is_stuck();
  void nothing_churns();
  void pods_are_evicted(const Write& write);
  void no_node_is_chosen_wrongly();
  void refused_pods_are_woken();
  void moved_pods_have_room();

  void note_protected_pods();
  void note_leader();
  void note_need();
  std::size_t pods_in_need();
  std::size_t pods_in_need(const std::map<std::string, std::size_t>& wanted,
                           std::string (*owner)(const model::Pod&));
  bool is_replacing() const;
  std::string node_of(const model::NodeClaim& claim) const;
  std::int64_t free_room(const model::NodeClaim& claim, const cluster::LedgerView& ledger) const;
  bool was_room_for(const std::vector<const model::NodeClaim*>& news,
                    const std::vector<const model::NodeClaim*>& came_before,
                    std::size_t need) const;
  std::size_t most_needed(base::TimePoint since);
  bool kinds_may_differ_in_age() const;
  bool nodes_may_show_too_late() const;
  bool may_be_launched_again(const Machine& machine) const;
  bool is_kept(const std::string& node) const;
  std::string claim_name(const Machine& machine) const;
  std::set<std::string> staying_nodes() const;  // Ready, and not chosen
  std::set<std::string> used_nodes() const;     // that pods are bound to
  // The first of each kind and object is enough.
  void tell(const char* check, const std::string& object, std::string what);
  // How long `holds` has held for the object without a break. `what` is a literal.
  base::Duration lasts(const char* what, const std::string& object, bool holds);

  SimulatedWorld& world_;
  std::vector<Violation> found_;
  // By what lasts, and of which object.
  std::map<std::string_view, std::unordered_map<std::string, base::TimePoint>> since_;
  std::map<std::string, base::TimePoint> led_;  // by replica: when it was seen to lead last
  std::set<std::string> bound_;                 // pods that were looked at
  std::set<std::string> bought_;                // claims that were looked at
  std::set<std::string> chosen_;                // claims whose choice was looked at
  // Claims that were chosen as drifted, and when that was seen, while a replacement of theirs may
  // exist.
  std::map<std::string, base::TimePoint> replaced_;
  std::deque<std::size_t> needs_;  // the most of each second
  struct Wanted {
    std::size_t pods = 0;
    base::TimePoint since;
  };
  std::map<std::string, Wanted> wanted_;  // by Deployment
  std::size_t claims_at_rest_ = 0;
  bool resting_ = false;
};

}  // namespace millwright::test
