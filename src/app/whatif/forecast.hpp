// What would happen: a cluster from files is taken over by the embedded cluster and run in virtual
// time with the real controllers, once as it is and once with the changes. The same input gives the
// same answer. Pure but for its own loop: texts in, a forecast out.
#pragma once

#include "app/whatif/changes.hpp"
#include "app/whatif/cluster/cluster_files.hpp"
#include "app/whatif/counterfactual.hpp"
#include "app/whatif/request.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace millwright::app {

// Nodes that are alike, or one node that goes.
struct NodeLine {
  std::string node;       // of one that goes
  std::string why;        // it goes: "Drifted", "Underutilized", "Empty", "zone out", ...
  std::string node_pool;  // empty: managed by nobody here
  std::string instance_type;
  std::string zone;
  std::string capacity_type;
  std::optional<double> price;  // of each, per hour; absent: not in the catalog
  std::size_t nodes = 1;
  std::size_t pods = 0;  // on all of them, DaemonSets' left out
};

struct WorkloadLine {
  std::string workload;  // "ReplicaSet shop/web-5d9f", or "Pod shop/one"
  std::size_t pods = 0;
};

struct RefusedLine {
  std::string workload;
  std::string pod;  // one of them
  std::size_t pods = 0;
  Refused why;
};

struct ClusterSize {
  std::size_t nodes = 0;
  std::size_t running = 0;        // pods, DaemonSets' left out
  std::size_t waiting = 0;        // those without a node
  double price = 0;               // per hour, of nodes whose price is known
  std::size_t without_price = 0;  // nodes
};

struct Forecast {
  base::TimePoint start;
  base::Duration took{};  // of its time, with the changes
  bool settled = false;   // false: the horizon came first
  ClusterSize before;
  ClusterSize unchanged;  // at the end, without the changes
  ClusterSize after;
  std::size_t drifted = 0;  // nodes that were replaced, or still wait for it, because they drifted
  std::vector<NodeLine> bought;       // there at the end and not before
  std::size_t bought_and_gone = 0;    // bought, and given back before the end
  std::vector<NodeLine> removed;      // by name
  std::vector<WorkloadLine> moved;    // pods that were evicted, or lost their node
  std::vector<RefusedLine> refused;   // without a place at the end
  std::vector<WorkloadLine> waiting;  // have a place, and are not there yet
  std::vector<std::string> notes;
};

// Those that are named, or those whose NodeClasses are there or come.
std::vector<cloud::Profile> clouds_of(const std::vector<std::string>& named,
                                      const ClusterFiles& files, const AppliedObjects& applied);

using ReadFile = std::function<base::Result<std::string>(const std::string& path)>;

// Invalid or NotFound: something in the request or the files is wrong; the message says what to do.
base::Result<Forecast> make_forecast(const WhatIfRequest& request, const ReadFile& read);

// Dollars a month, of 730 hours, that the cluster costs more at the end than before.
double more_per_month(const Forecast& forecast);

std::string to_text(const Forecast& forecast);
std::string to_json(const Forecast& forecast);

}  // namespace millwright::app
