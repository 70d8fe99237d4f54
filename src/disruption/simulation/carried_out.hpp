// The cluster as a command leaves it: what a course of several commands is played on.
#pragma once

#include "disruption/survey.hpp"

namespace millwright::disruption {

// What the next decision would be made from once the command is carried out as it was planned: its
// nodes are gone, each claim it buys is a node of its cheapest type and offering, and the pods are
// where its placements say. All of it long ago, so that nothing new is too young to go: the time of
// the Input stays what it is. New nodes have names that no object of the cluster has, and that sort
// after all others, the older before the younger.
Input carried_out(const Survey& survey, const Command& command);

}  // namespace millwright::disruption
