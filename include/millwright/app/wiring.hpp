// The one list of everything that runs: what each replica keeps warm, and what only the leader
// does. `millwright controller` and `millwright sandbox` share it; so do the behaviour tests.
#pragma once

#include "millwright/controllers/services.hpp"
#include "millwright/extender/extender.hpp"
#include "millwright/webhooks/admission.hpp"

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
};

// Loop thread only, but for extender() and admission(), whose answers may be asked for from any
// thread.
class Engine {
 public:
  explicit Engine(EngineParts parts);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const extender::Extender& extender() const;
  const webhooks::Admission& admission() const;
  // What /metrics answers: what was counted and, while this replica leads, what the cluster's
  // picture shows. Any thread.
  std::string metrics_page() const;
  cluster::State& state();
  cluster::Ledger& ledger();

  // Keeps the picture and the ledger up to date until `stop`. Every replica.
  base::Task<void> watch(std::stop_token stop);
  // Every controller that writes, until `stop`; returns when all have ended. The leader.
  base::Task<void> lead(std::stop_token stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millwright::app
