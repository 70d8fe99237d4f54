// What the asking port answers: `why`, and the record of decisions. Read only; docs/asking.md.
#pragma once

#include "app/asking/caller_rights.hpp"
#include "app/top/cluster_view.hpp"
#include "millwright/net/server.hpp"
#include "millwright/telemetry/decision_log.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace millwright::app {

// All outlive the router and its requests.
struct AskingParts {
  base::Loop& loop;
  base::Compute& compute;  // makes the answers: not the one that plans run on
  const telemetry::DecisionLog& decisions;
  std::function<ClusterView()> cluster;  // any thread
  CallerRights& rights;
  base::TaskGroup& group;       // ends before the others do
  std::function<bool()> leads;  // any thread: only the leader has a record
  std::string lease;            // "namespace/name", of the Lease that says who leads
};

// GET /why/pod/NAMESPACE/NAME, /why/node/NAME and /why/nodepool/NAME give the answer as JSON, with
// ?output=text as text; 404 when nothing is on record. GET /decisions?after=N gives the lines of
// --decision-log whose number is larger, the oldest kMostLines of them. GET /cluster gives what
// `millwright top` shows, as JSON.
void add_asking_routes(net::Router& router, const AskingParts& parts);
inline constexpr std::size_t kMostLines = 1000;

}  // namespace millwright::app
