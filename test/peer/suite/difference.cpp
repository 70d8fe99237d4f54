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

// Pod to existing node; empty for a new claim.
std::map<std::string, std::string> nodes(const Plan& plan) {
  std::map<std::string, std::string> result;
  for (const auto& placement : plan.placements) {
    const auto* node = std::get_if<std::string>(&placement.target);
    result[placement.pod_uid] = node == nullptr ? std::string() : *node;
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
  const auto there = nodes(theirs);
  for (const auto& [pod, node] : nodes(ours)) {
    const auto found = there.find(pod);
    if (found != there.end() && found->second != node) {
      result.other_node.insert(pod);
    }
  }
  result.more_claims = std::ssize(ours.claims) - std::ssize(theirs.claims);
  result.dearer = total_price(ours) - total_price(theirs);
  return result;
}

}  // namespace millwright::peer
