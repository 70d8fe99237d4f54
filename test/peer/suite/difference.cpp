#include "peer/suite/difference.hpp"

#include "peer/runner/peer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>

namespace millwright::peer {
namespace {

using scheduling::Plan;

std::set<std::string> refused(const Plan& plan) {
  std::set<std::string> result;
  for (const auto& refusal : plan.refusals) {
    result.insert(refusal.pod_uid);
  }
  return result;
}

std::set<std::string> less(const std::set<std::string>& from, const std::set<std::string>& what) {
  std::set<std::string> result;
  std::set_difference(from.begin(), from.end(), what.begin(), what.end(),
                      std::inserter(result, result.end()));
  return result;
}

// What the replicas of one pod have in common: "web" of "web-3". Which of them goes where is
// chance.
std::string stem(const std::string& pod) {
  const auto dash = pod.rfind('-');
  const bool numbered = dash != std::string::npos && dash + 1 < pod.size() &&
                        pod.find_first_not_of("0123456789", dash + 1) == std::string::npos;
  return numbered ? pod.substr(0, dash) : pod;
}

// Takes out of both sets what stands for the same replicas.
void cancel(std::set<std::string>& here, std::set<std::string>& there) {
  for (auto pod = here.begin(); pod != here.end();) {
    const auto same = std::find_if(there.begin(), there.end(), [&](const std::string& other) {
      return stem(other) == stem(*pod);
    });
    if (same == there.end()) {
      ++pod;
    } else {
      there.erase(same);
      pod = here.erase(pod);
    }
  }
}

// Existing nodes that the replicas of a pod go to, sorted; empty text for a new claim.
std::map<std::string, std::multiset<std::string>> nodes(const Plan& plan) {
  std::map<std::string, std::multiset<std::string>> result;
  for (const auto& placement : plan.placements) {
    const auto* node = std::get_if<std::string>(&placement.target);
    result[stem(placement.pod_uid)].insert(node == nullptr ? std::string() : *node);
  }
  return result;
}

std::string list(const char* what, const std::set<std::string>& pods) {
  if (pods.empty()) {
    return {};
  }
  std::string result = std::string(what) + ":";
  for (const auto& pod : pods) {
    result += " " + pod;
  }
  return result + "; ";
}

constexpr double kCent = 1e-6;  // prices are sums of doubles

}  // namespace

bool Difference::none() const {
  return !decides_otherwise() && more_claims == 0 && std::abs(dearer) < kCent;
}

bool Difference::decides_otherwise() const {
  return !refused_here.empty() || !refused_there.empty() || !other_node.empty();
}

std::string Difference::text() const {
  std::string result = list("refused here only", refused_here) +
                       list("refused by Karpenter only", refused_there) +
                       list("on another node", other_node);
  if (more_claims != 0 || std::abs(dearer) >= kCent) {
    char numbers[96];
    std::snprintf(numbers, sizeof numbers, "%+td claims, %+.4f per hour", more_claims, dearer);
    result += numbers;
  }
  return result;
}

Difference difference(const Plan& ours, const Plan& theirs) {
  Difference result;
  result.refused_here = less(refused(ours), refused(theirs));
  result.refused_there = less(refused(theirs), refused(ours));
  cancel(result.refused_here, result.refused_there);
  const auto there = nodes(theirs);
  for (const auto& [pod, places] : nodes(ours)) {
    const auto found = there.find(pod);
    if (found != there.end() && found->second.size() == places.size() && found->second != places) {
      result.other_node.insert(pod);
    }
  }
  result.more_claims = std::ssize(ours.claims) - std::ssize(theirs.claims);
  result.dearer = total_price(ours) - total_price(theirs);
  return result;
}

}  // namespace millwright::peer
