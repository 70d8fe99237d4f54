// What a replica does while it leads, and how a term begins. Loop thread only.
#pragma once

#include "millwright/app/engine.hpp"
#include "millwright/controllers/process/extender_endpoint.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace millwright::app {

struct LeadingParts {
  base::Loop& loop;
  Engine& engine;
  kube::Client& client;           // of the leader alone
  std::function<bool()> serving;  // whether the extender's port is open
  // Absent: nobody leads kube-scheduler here.
  std::optional<controllers::ExtenderEndpointOptions> endpoint;
};

class Leading {
 public:
  explicit Leading(LeadingParts parts);

  // One term: everything that the leader runs. Terms must not overlap.
  base::Task<void> run(std::stop_token stop);

 private:
  void expect_unseen_attempts();

  LeadingParts parts_;
  std::unique_ptr<controllers::ExtenderEndpoint> endpoint_;
};

}  // namespace millwright::app
