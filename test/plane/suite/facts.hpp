// What happened in a cluster, from its own watch streams: which pod was bound to which node, which
// node was closed, what each claim was bought for. Order is etcd's, by resourceVersion, so that
// "bound after the node was closed" needs no clock.
#pragma once

#include "plane/runner/plane.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>

namespace millwright::plane {

struct PromiseCounts {
  std::size_t planned = 0;       // pods that claims were bought for
  std::size_t elsewhere = 0;     // bound to other nodes though all their group needed was reserved
  std::size_t nodes = 0;         // that are gone
  std::size_t died_unused = 0;   // of these, without any pod ever, though their pods live elsewhere
  std::size_t bound_closed = 0;  // pods bound to a node that bore the disrupted taint
  std::string details;           // one line for each that should not be
};

// Watches on a thread of its own from construction to destruction.
class Facts {
 public:
  explicit Facts(const std::string& kubeconfig);
  ~Facts();
  Facts(const Facts&) = delete;
  Facts& operator=(const Facts&) = delete;

  PromiseCounts count();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millwright::plane
