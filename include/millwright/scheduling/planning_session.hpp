// A plan that is kept and revised: a pod that arrives, a pod that is bound or gone, a node that has
// changed each re-plan what they touch and nothing else, in far less than a millisecond.
//
// In what sense a revised plan equals one from scratch:
//  * It is legal by the same rules. Pods that are placed later bind later (Placement::step).
//  * A pod is refused only if a plan from scratch has refused it or its like, and it fits nowhere
//    now. Otherwise the session plans from scratch before it refuses.
//  * What is placed stays. A pod that arrives goes to the first node, else the open claim, else the
//    new claim that takes it, as the last pod of a fast pass would; no search for a cheaper plan is
//    made. How much dearer that may have made the plan is estimated with every revision, at the
//    average price of the last plan from scratch; once the estimate exceeds
//    SessionOptions::allowance of the plan's price, the session plans from scratch.
//  * Where order does not matter (pods alike arrive, there is one type of instance) it is the same
//    plan but for which of the pods is where.
//
// What is planned from scratch: pods with volumes, with a resource, topology constraint or host
// port that no pod of the last plan from scratch had, or with a hold; pods that arrive where
// default spread constraints hold; the going of a pod that other pods matter to, and its binding
// unless that is where it was planned and in its turn; a changed node if some pod cares who runs
// there; new and removed nodes if pods care about domains; nodes that count against limits or are
// still to be launched. Everything else about a problem (NodePools, catalogs, DaemonSets, volumes,
// holds) changes by restart().
//
// Pure, as solve() is: the same sequence of calls gives the same plans.
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::scheduling {

struct SessionOptions {
  // Part of the plan's price by which revisions may make it dearer, as estimated.
  double allowance = 0.1;
};

// What a call has changed in the plan.
struct Revision {
  // The plan was made from scratch: anything may have changed, and the lists below are empty.
  // Claims have new numbers, which are their indices in the plan as it is now.
  bool from_scratch = false;
  // Pods that were placed, or have another place or turn. A claim is named by its number, which it
  // keeps until the next plan from scratch.
  std::vector<Placement> placements;
  std::vector<Refusal> refusals;  // pods that are refused since
  // Claims that are new or others than before; one without pods is no longer wanted.
  std::vector<std::pair<std::size_t, PlannedClaim>> claims;
};

// For one thread at a time.
class PlanningSession {
 public:
  explicit PlanningSession(Problem problem, SessionOptions options = {});
  PlanningSession(PlanningSession&&) noexcept;
  PlanningSession& operator=(PlanningSession&&) noexcept;
  ~PlanningSession();

  // Another problem, planned from scratch.
  void restart(Problem problem);

  // A pod is to be placed. One with the uid of another takes its place.
  Revision add_pod(PodPtr pod);
  // A pod is not to be placed any more: it is gone, or held elsewhere.
  Revision remove_pod(std::string_view uid);
  // A pod has been bound to a node, whose new record has it.
  Revision bind_pod(std::string_view uid, NodeRecordPtr node);
  // A node is new, or others than before; known by name. It counts against limits, and takes pods
  // unless it is marked for deletion or fenced. Pods of a node that is leaving are added by
  // add_pod(), if they are to be placed anew.
  Revision set_node(NodeRecordPtr node);
  Revision remove_node(std::string_view name);

  // The whole plan as it stands. Claims without pods are left out, so that indices of claims are
  // not their numbers in revisions.
  Plan plan() const;
  // What it is a plan of.
  Problem problem() const;
  // How many plans from scratch there have been.
  std::size_t restarts() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace millwright::scheduling
