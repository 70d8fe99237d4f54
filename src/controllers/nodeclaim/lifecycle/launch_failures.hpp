// A launch that failed is told where people look: on the NodeClaim, and on the pods that wait for
// it. Loop thread only.
#pragma once

#include "controllers/process/pace.hpp"
#include "millwright/controllers/services.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace millwright::controllers {

// A cloud's error as conditions and events show it: what lasts of it (cloud::lasting_text), and at
// most 300 characters, as in Karpenter.
std::string shortened(std::string_view message);

class LaunchFailures {
 public:
  explicit LaunchFailures(Services& services) : services_(services) {}

  // To be called while the claim still has its reservations: they name the pods' groups. A pod is
  // told the same kind of failure once in five minutes, and five pods are told each second, ten at
  // once.
  void tell(const model::NodeClaim& claim, const base::Error& error);

 private:
  void tell_pods(const model::NodeClaim& claim, const base::Error& error);

  // Whether it is the pod's turn to be told; it then counts as told.
  bool take_turn(const std::string& pod_uid, base::ErrorKind kind);

  Services& services_;
  Pace pods_{5, 10};
  std::map<std::pair<std::string, base::ErrorKind>, base::TimePoint> told_;  // by pod uid
};

}  // namespace millwright::controllers
