// What decides: the cluster state and what is answered from it (every replica), and the controllers
// that write (the leader). `millwright controller` and `millwright sandbox` share it; so do the
// behaviour tests.
#pragma once

#include "millwright/controllers/services.hpp"
#include "millwright/extender/extender.hpp"
#include "millwright/telemetry/decision_log.hpp"
#include "millwright/webhooks/admission.hpp"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace millwright::app {

struct EngineParts {
  base::Loop& loop;
  base::Compute& compute;
  kube::Client& client;
  cloud::ProviderSet& providers;
  base::Metrics& metrics;
  base::Logger log;
  controllers::Options options;
  extender::Policy policy;
  std::uint64_t seed = 0;
  // See controllers::Services.
  std::function<void()> on_rewound = [] {};
  // Gets each decision as a line, on the loop's thread; may be empty.
  telemetry::DecisionLog::Write write_decision = {};
};

// Loop thread only, but for extender(), admission(), metrics_page(), decisions() and catalog(),
// which any thread may ask.
class Engine {
 public:
  explicit Engine(EngineParts parts);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const extender::Extender& extender() const;
  const webhooks::Admission& admission() const;
  // The text of /metrics: the counters and, while this replica leads, gauges of the cluster state.
  std::string metrics_page() const;
  const telemetry::DecisionLog& decisions() const;
  // What the NodePools may buy, as the leader saw it last; never nullptr.
  std::shared_ptr<const scheduling::Catalog> catalog() const;
  cluster::State& state();
  cluster::Ledger& ledger();

  // Keeps the cluster state and the ledger up to date until `stop`. Every replica.
  base::Task<void> watch(std::stop_token stop);
  // Runs every controller that writes until `stop`, from the moment at which watch() has the first
  // lists; returns when all have ended. The leader.
  base::Task<void> lead(std::stop_token stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millwright::app
