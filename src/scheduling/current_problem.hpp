// A problem whose pods and nodes change, for PlanningSession.
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::scheduling {

class CurrentProblem {
 public:
  explicit CurrentProblem(Problem problem);

  void add(PodPtr pod);
  void remove_pod(std::string_view uid);
  // See PlanningSession::set_node().
  void set(NodeRecordPtr node);
  void remove_node(std::string_view name);
  // nullptr when there is none.
  NodeRecordPtr node(std::string_view name) const;

  bool has_default_spread() const { return !rest_.options.default_spread.empty(); }

  Problem make() const;

 private:
  using Nodes = std::map<std::string, NodeRecordPtr, std::less<>>;
  Problem rest_;  // without pods and nodes
  std::map<std::string, PodPtr, std::less<>> pods_;
  std::vector<PodPtr> nameless_;  // without uid: nobody can name them again
  Nodes nodes_;
  Nodes counted_;
  bool counts_;  // the problem says which nodes count against limits
  Nodes around_;
  bool moved_on_ = false;  // the surroundings have other nodes than they had
};

// Whether the node takes pods at all.
bool takes_pods(const NodeRecord& node);

}  // namespace millwright::scheduling
