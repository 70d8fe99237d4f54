// Seeded random events on a random world: what a PlanningSession is told, one call at a time.
#pragma once

#include "millwright/scheduling/planning_session.hpp"

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace millwright::checker {

struct ChangeOptions {
  // No pod has volumes, ports or a say in where others go, and no pool has limits: most changes
  // can be made in place.
  bool plain = false;
};

class RandomChanges {
 public:
  explicit RandomChanges(std::uint32_t seed, ChangeOptions options = {});

  const scheduling::Problem& start() const { return start_; }
  // Makes one call to the session; what it returned, and in words what it was.
  scheduling::Revision make_one(scheduling::PlanningSession& session, std::string& what);

 private:
  bool once_in(unsigned n) { return random_() % n == 0; }
  scheduling::PodPtr new_pod(const scheduling::Problem& now);
  scheduling::NodeRecordPtr new_node();
  scheduling::NodeRecordPtr changed(const scheduling::NodeRecordPtr& node);
  scheduling::Revision bind(scheduling::PlanningSession& session, const scheduling::Problem& now,
                            std::string& what);

  std::mt19937 random_;
  scheduling::Problem start_;
  std::vector<scheduling::PodPtr> stock_;         // pods to come
  std::vector<scheduling::NodeRecordPtr> spare_;  // nodes to come
  ChangeOptions options_;
  int made_ = 0;
};

// The record with one more pod bound to its node.
scheduling::NodeRecordPtr with_pod(const scheduling::NodeRecord& node,
                                   const scheduling::PodPtr& pod);

}  // namespace millwright::checker
