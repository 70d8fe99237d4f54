// Judges plans. It knows the Kubernetes rules and the API objects, and nothing of how the planner
// works: no line of src/scheduling is used but the structs of a Problem and a Plan.
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace millwright::checker {

struct CheckOptions {
  std::uint32_t seed = 1;
  // A claim becomes one of its instance types in one of its zones, as the cloud decides. Rules
  // that concern one node are checked for all of them, rules about other pods for this many
  // random draws.
  int draws = 3;
};

// What is wrong with the plan, one sentence each; empty when nothing is.
//
// Every pod is placed or refused once. Pods are bound in the order of Placement::step by
// kube-scheduler's filters: TaintToleration, NodeAffinity, NodeResourcesFit (DaemonSets and
// room kept for others included), NodePorts, VolumeBinding, NodeVolumeLimits, PodTopologySpread,
// InterPodAffinity and DynamicResources. Claims keep to their NodePool, its limits and minValues,
// and to reservations.
std::vector<std::string> violations(const scheduling::Problem& problem,
                                    const scheduling::Plan& plan, CheckOptions options = {});

// For a plan that does not say in which order its pods are bound: looks for one that every filter
// passes, with claims as their cheapest machines, and writes it into the steps. Returns the pods
// that no order was found for.
std::vector<std::string> order_steps(const scheduling::Problem& problem, scheduling::Plan& plan);

// Refused pods that had a place after all: on a node of the problem, or alone on a new one of a
// pool without limits. Pods that must be spread are left out: the planner reckons with domains and
// hosts that are not there yet. So are problems with minValues: where such claims end up cannot be
// known, and the planner reckons with the worst.
std::vector<std::string> missed(const scheduling::Problem& problem, const scheduling::Plan& plan);

// The plan in the order of its steps, with what each pod asks of others: for reading a failure.
std::string describe(const scheduling::Problem& problem, const scheduling::Plan& plan);

}  // namespace millwright::checker
