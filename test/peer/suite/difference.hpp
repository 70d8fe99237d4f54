// How our plan and the peer's differ, in what a user would notice: replicas of one pod ("web-0",
// "web-1") stand for each other.
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <set>
#include <string>
#include <vector>

namespace millwright::peer {

struct Difference {
  std::set<std::string> refused_here;   // pods that only we refuse
  std::set<std::string> refused_there;  // pods that only Karpenter refuses
  std::set<std::string> other_node;     // whose replicas are on other existing nodes
  std::ptrdiff_t more_claims = 0;       // ours less theirs
  double dearer = 0;                    // ours less theirs, per hour

  bool none() const;
  // Somebody else goes without, or sits elsewhere: more than another way of buying the same.
  bool decides_otherwise() const;
  std::string text() const;
};

Difference difference(const scheduling::Plan& ours, const scheduling::Plan& theirs);

}  // namespace millwright::peer
