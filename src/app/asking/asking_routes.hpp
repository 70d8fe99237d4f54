// What the asking port answers: `why`, and the record of decisions. Read only; docs/asking.md.
#pragma once

#include "app/top/cluster_view.hpp"
#include "millwright/base/task.hpp"
#include "millwright/net/server.hpp"
#include "millwright/telemetry/decision_log.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace millwright::app {

// What CallerRights::check() says of a token and the address it came from. No value: it may ask.
using CheckCaller =
    std::function<base::Task<std::optional<net::Response>>(std::string token, std::string peer)>;

// All outlive the router and its requests.
struct AskingParts {
  base::Loop& loop;
  base::Compute& compute;  // makes the answers: not the one that plans run on
  const telemetry::DecisionLog& decisions;
  std::function<ClusterView()> cluster;  // any thread
  CheckCaller check;                     // loop thread
  base::TaskGroup& group;                // ends before the others do
  std::function<bool()> leads;           // any thread: only the leader has a record
  std::string lease;                     // "namespace/name", of the Lease that says who leads
};

// GET /why/pod/NAMESPACE/NAME, /why/node/NAME and /why/nodepool/NAME give the answer as JSON, with
// ?output=text as text; 404 when nothing is on record. GET /decisions?after=N gives the lines of
// --decision-log whose number is larger, the oldest kMostLines of them. GET /cluster gives what
// `millwright top` shows, as JSON.
void add_asking_routes(net::Router& router, const AskingParts& parts);
inline constexpr std::size_t kMostLines = 1000;

// A caller who may ask, and whose question is for this replica: it leads.
struct Admitted {
  net::Request request;
  std::string token;
  std::shared_ptr<net::Exchange> exchange;
};
// Answers GET alone. `handle` runs on the loop once the caller is admitted; who is not has been
// told why.
net::Handler for_viewers(const AskingParts& parts, std::function<void(Admitted)> handle);

}  // namespace millwright::app
