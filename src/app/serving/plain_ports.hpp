// The two plain HTTP ports: /metrics, and /healthz with /readyz. Their threads answer even while
// the loop is busy. Opened and closed on the loop's thread.
#pragma once

#include "app/serving/heartbeat.hpp"
#include "millwright/app/settings.hpp"
#include "millwright/base/metrics.hpp"
#include "millwright/net/server.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace millwright::app {

// Counts by `server` what it refuses. `metrics` outlives the result.
std::function<void(std::string_view reason)> count_refusals(base::Metrics& metrics,
                                                            std::string server);

// All outlive the ports; the functions are called on any thread.
struct PlainPortsParts {
  const Settings& settings;
  base::Loop& loop;
  base::Metrics& metrics;
  const Heartbeat& heartbeat;
  std::function<std::string()> metrics_page;
  std::function<bool()> ready;
  std::string not_ready;  // why it may not be
  base::Logger log;
};

class PlainPorts {
 public:
  explicit PlainPorts(PlainPortsParts parts) : parts_(std::move(parts)) {}
  base::Result<> open();

 private:
  base::Result<std::unique_ptr<net::Server>> open_one(const std::string& name, int port,
                                                      std::shared_ptr<net::Router> router) const;

  PlainPortsParts parts_;
  std::unique_ptr<net::Server> metrics_;
  std::unique_ptr<net::Server> health_;
};

}  // namespace millwright::app
