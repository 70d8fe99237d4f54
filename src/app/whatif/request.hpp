// What `millwright what-if` is asked: which files describe the cluster, and what would be done to
// it. Pure: words of a command line in, a request out.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/cloud/simulated.hpp"

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace millwright::app {

// Objects are created, or take the place of those of the same name.
struct ApplyFile {
  std::string file;
  friend bool operator==(const ApplyFile&, const ApplyFile&) = default;
};
// As `kubectl drain` does: cordoned, and its pods evicted within their disruption budgets.
struct DrainNode {
  std::string node;
  friend bool operator==(const DrainNode&, const DrainNode&) = default;
};
struct SetPrice {
  cloud::OfferingPattern offerings;
  double price = 0;  // per hour
  friend bool operator==(const SetPrice&, const SetPrice&) = default;
};
struct ScaleWorkload {
  std::string resource;    // plural: "deployments", "statefulsets", "replicasets"
  std::string namespace_;  // empty: "default"
  std::string name;
  int replicas = 0;
  friend bool operator==(const ScaleWorkload&, const ScaleWorkload&) = default;
};
// Its machines stop at once, and nothing can be bought there.
struct ZoneOut {
  std::string zone;
  friend bool operator==(const ZoneOut&, const ZoneOut&) = default;
};
using ChangeAsked = std::variant<ApplyFile, DrainNode, SetPrice, ScaleWorkload, ZoneOut>;

struct WhatIfRequest {
  std::vector<std::string> files;    // of the cluster; "-": standard input
  std::vector<ChangeAsked> changes;  // in the order in which they are made
  std::vector<std::string> clouds;   // empty: those whose NodeClasses are in the files
  std::string instance_types_file;   // the catalog of kwok in place of its own
  base::Duration horizon = std::chrono::hours(1);
  std::optional<base::TimePoint> at;  // absent: the newest time in the files
  bool json = false;
};

// Options may stand anywhere; "-f" after "apply" is its file. Invalid says what is wrong with which
// word, and what to write.
base::Result<WhatIfRequest> parse_what_if(std::span<const std::string> words);

// The text of --help.
std::string what_if_usage();

}  // namespace millwright::app
