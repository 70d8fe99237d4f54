// Watches a cluster's pods, nodes and NodeClaims on a thread of its own, for as long as it lives.
// Its functions are for the thread that made it.
#pragma once

#include "plane/field/figures.hpp"

#include <memory>
#include <string>

namespace millwright::field {

class Observer {
 public:
  explicit Observer(const std::string& kubeconfig);
  ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  base::TimePoint now() const;
  // When a pod, node or claim moved last: made, bound, deleted. Heartbeats do not count.
  base::TimePoint last_move();
  // A pod waits for a node, or a claim for its end.
  bool has_waiting();
  Figures figures(const Window& window);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millwright::field
