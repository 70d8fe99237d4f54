// A cluster that was bought by a plan, loses pods, and has commands of disruption carried out on
// it: at once, and exactly as they were planned. No clock but the one that is told.
#pragma once

#include "millwright/disruption/decide.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace millwright::disruption::bench {

class LiveCluster {
 public:
  // Plans `problem`, which has no nodes and one NodePool, and buys that. Pods that the plan refuses
  // are left out.
  explicit LiveCluster(scheduling::Problem problem);

  // The names of pods by that of their node; those of DaemonSets are left out.
  std::vector<std::pair<std::string, std::string>> pods() const;
  void remove_pods(const std::vector<std::string>& names);

  // What a decision is made from now.
  Input input() const;
  // The nodes go, their pods are where the command has planned them, what it buys is there.
  void carry_out(const Command& command);

  std::size_t nodes() const { return nodes_.size(); }
  std::size_t pod_count() const;
  double price() const;  // per hour, of all nodes
  std::size_t evicted() const { return evicted_; }
  // The same pods without any node: what a plan from scratch is made for.
  scheduling::Problem from_scratch() const;

 private:
  struct Member {
    std::shared_ptr<const model::Node> node;
    std::shared_ptr<const model::NodeClaim> claim;
    std::vector<std::shared_ptr<const model::Pod>> pods;     // DaemonSets' left out
    std::vector<std::shared_ptr<const model::Pod>> daemons;  // theirs
    double price = 0;
  };
  std::string buy(const scheduling::PlannedClaim& claim);
  void place(const scheduling::PodPtr& pod, const std::string& node);

  scheduling::Problem problem_;
  std::map<std::string, Member> nodes_;  // by node name
  std::size_t bought_ = 0;
  std::size_t evicted_ = 0;
  base::TimePoint now_;
};

}  // namespace millwright::disruption::bench
