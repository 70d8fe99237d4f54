// A packing that has run, kept and changed in place: what PlanningSession is made of. It knows
// nothing of planning anew; a change that it cannot make in place it declines, and is then of no
// further use.
#pragma once

#include "millwright/scheduling/planning_session.hpp"
#include "scheduling/compiled_problem.hpp"
#include "scheduling/plan_writing.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace millwright::scheduling {

class LivePlan {
 public:
  LivePlan(Problem problem, PlanMemory::Compiled memory);
  LivePlan(const LivePlan&) = delete;
  LivePlan& operator=(const LivePlan&) = delete;

  // False when it takes a plan from scratch.
  bool add_pod(const PodPtr& pod);
  bool remove_pod(std::string_view uid);
  // `before`: the node as it was; null when it is new.
  bool bind_pod(std::string_view uid, const NodeRecordPtr& before, const NodeRecordPtr& node);
  bool set_node(const NodeRecordPtr& before, const NodeRecordPtr& node);
  bool remove_node(const NodeRecordPtr& node);

  // What has changed since the last call; nullopt when it takes a plan from scratch after all.
  std::optional<Revision> revise();
  Plan plan();
  // How much less a plan from scratch might cost, as estimated; see PlanningSession.
  double strayed() const { return strayed_; }
  double price() const { return price_; }
  // It keeps more of what is gone than of what there is.
  bool worn_out() const;
  PlanMemory::Compiled release() && { return std::move(compiled_).release(); }

 private:
  // A claim as it was last shown.
  struct Shown {
    std::uint32_t shape = 0;
    RowSet rows;
    std::vector<std::uint32_t> pods;
    WrittenClaim written;
    std::optional<std::size_t> number;  // to the outside, once it has been written
    double price = 0;
  };
  // What room is worth at the prices of the plan from scratch.
  struct Worth {
    std::size_t column = 0;
    double per_unit = 0;  // what is on claims of this resource, taken alone, pays for the plan
  };

  static std::unique_ptr<Packing> pack(CompiledProblem& compiled);
  void take_stock();
  std::uint64_t key_of(const model::Pod& pod) const;
  void note_example(const model::Pod& pod, std::uint32_t pod_class);

  // live_plan_pods.cpp
  std::optional<std::uint32_t> class_of(const model::Pod& pod);
  std::optional<std::uint32_t> constraint_of(const model::Pod& pod);

  // False when one of its groups is new.
  bool take_role(const model::Pod& pod, TopologyRole& role);
  bool number_rungs(Constraint& constraint);
  bool is_held(std::string_view uid) const { return held_.contains(uid); }
  bool may_leave(std::uint32_t pod) const;
  bool let_go(std::string_view uid);
  // Places these and those that wait; false when one is refused whose like never was.
  bool settle(std::span<const std::uint32_t> pods);

  const Constraint& constraint_at(std::uint32_t pod) const {
    return compiled_.pods
        .constraints[compiled_.pods.classes[compiled_.pods.pods[pod].pod_class].constraint];
  }

  // live_plan_binding.cpp
  std::int32_t domain_of(std::uint32_t pod, std::uint32_t key);
  bool same_host(std::uint32_t a, std::uint32_t b) const;
  bool may_share(std::uint32_t a, std::uint32_t b, const TopologyGroup& group);
  bool may_part(std::uint32_t a, std::uint32_t b, const TopologyGroup& group);
  bool minds(std::uint32_t other, std::uint32_t pod);
  bool interchangeable(std::uint32_t a, std::uint32_t b);
  // Nobody is placed illegally because the pod is there before its turn.
  bool comes_first(std::uint32_t pod);
  bool only_bound(const model::Pod& pod, const NodeRecord& before, const NodeRecord& after);
  bool stays_counted(std::uint32_t pod, const NodeRecordPtr& before, const NodeRecordPtr& node);
  bool bind_where_planned(std::uint32_t pod, const NodeRecordPtr& node);

  // live_plan_nodes.cpp
  bool changes_in_place(const NodeRecord* before, const NodeRecord* after);
  bool is_limited(const std::string& node_pool) const;
  bool nobody_minds(const NodeRecord& before, const NodeRecord& after);
  std::vector<const Hold*> holds_on(const NodeRecord& node) const;
  bool move_displaced(std::uint32_t node);
  void note_room(std::uint32_t node);

  double price_of(const Amounts& amounts) const;
  double most_saved_by(const Amounts& amounts) const;
  double most_saved_in(const Amounts& gained) const;
  bool show(std::uint32_t claim, Revision& revision);
  void report(std::uint32_t pod, Revision& revision) const;
  void note_gained_room();

  const Problem problem_;
  CompiledProblem compiled_;
  std::unique_ptr<Packing> packing_;
  ClaimWriter writer_;
  std::vector<Shown> shown_;  // by index in the drafts
  std::size_t next_number_ = 0;
  std::vector<bool> gone_;  // by pod
  std::size_t gone_count_ = 0;
  std::unordered_map<std::string_view, std::uint32_t> pods_by_uid_;
  std::unordered_map<std::string_view, std::uint32_t> nodes_by_name_;
  std::set<std::string_view> held_;  // uids in holds
  std::multimap<std::string_view, const Hold*> holds_by_target_;
  // What was taken in since; others may point to it even when it is gone.
  std::vector<PodPtr> kept_pods_;
  std::vector<NodeRecordPtr> kept_nodes_;

  // Pods that stand for a class, by hash of what makes the class.
  std::unordered_map<std::uint64_t, std::vector<std::pair<const model::Pod*, std::uint32_t>>>
      examples_;
  std::map<std::string, std::uint32_t> rung_ids_;
  std::uint32_t next_rung_ = 0;
  std::set<std::uint32_t> refused_classes_;  // by a plan from scratch

  std::vector<Worth> worth_;
  double price_ = 0;
  double strayed_ = 0;

  // Since the last revise().
  std::vector<std::uint32_t> moved_;
  std::vector<std::uint32_t> refused_;
  std::vector<std::uint32_t> restepped_;          // have another turn
  std::map<std::uint32_t, Amounts> room_before_;  // of nodes that were touched
  double expected_ = 0;                           // by which the price should have changed
};

}  // namespace millwright::scheduling
