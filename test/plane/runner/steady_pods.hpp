// Pods that are made at a steady rate, and seen bound. On a thread of its own from construction to
// destruction.
#pragma once

#include "plane/runner/plane.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace millwright::plane {

struct SteadyPodsOptions {
  std::string kubeconfig;
  std::string prefix = "pod";  // of their names; no other pods begin so
  int rate = 1;                // pods a second
  int count = 0;
  std::function<json::value(const std::string& name)> pod;
  // Told of every NodeClaim and each of its changes, on the thread of the pods.
  std::function<void(const json::value& claim)> on_claim;
};

class SteadyPods {
 public:
  explicit SteadyPods(SteadyPodsOptions options);
  ~SteadyPods();
  SteadyPods(const SteadyPods&) = delete;
  SteadyPods& operator=(const SteadyPods&) = delete;

  bool all_bound() const;
  int bound() const;
  // Whose creation the API server refused.
  int failed() const;
  // How fast it took them.
  double made_per_second() const;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace millwright::plane
