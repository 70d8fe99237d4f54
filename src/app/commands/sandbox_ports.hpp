// How people ask a sandbox (docs/asking.md): the console for a browser, and, where they are wanted,
// the ports that a controller has: the asking port for `why`, `top` and `console`, and /metrics.
// Loop thread only.
#pragma once

#include "app/console/console_door.hpp"
#include "app/console/live_what_if.hpp"
#include "app/serving/asking_desk.hpp"
#include "millwright/app/embedded_cluster.hpp"
#include "millwright/net/server.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace millwright::app {

// Where a sandbox keeps ca.crt, as an installation does.
inline constexpr std::string_view kSandboxNamespace = "millwright-system";
inline constexpr std::string_view kSandboxSecret = "millwright-certs";

// Behind a door of its own: who has the address may ask.
class SandboxConsole {
 public:
  // `speed`: seconds of the cluster in one of ours. `port` 0: any free one.
  static base::Result<std::unique_ptr<SandboxConsole>> open(EmbeddedCluster& cluster, double speed,
                                                            std::uint16_t port);
  ~SandboxConsole();
  SandboxConsole(const SandboxConsole&) = delete;
  SandboxConsole& operator=(const SandboxConsole&) = delete;
  const std::string& url() const { return door_->url(); }

 private:
  SandboxConsole(EmbeddedCluster& cluster, double speed);

  LiveWhatIf what_if_;
  AskingDesk desk_;
  std::shared_ptr<net::Router> router_;
  std::unique_ptr<ConsoleDoor> door_;
};

// HTTPS for who shows the token of the sandbox's kubeconfig. Its CA is in the Secret above.
class SandboxAskingPort {
 public:
  static base::Result<std::unique_ptr<SandboxAskingPort>> open(EmbeddedCluster& cluster,
                                                               double speed, std::uint16_t port);
  ~SandboxAskingPort();
  SandboxAskingPort(const SandboxAskingPort&) = delete;
  SandboxAskingPort& operator=(const SandboxAskingPort&) = delete;
  std::string url() const { return "https://127.0.0.1:" + std::to_string(server_->port()); }

 private:
  SandboxAskingPort(EmbeddedCluster& cluster, double speed);
  base::Result<> serve(sandbox::ApiServer& api, std::uint16_t port);

  AskingDesk desk_;
  std::unique_ptr<net::Server> server_;
};

// Plain HTTP with /metrics, for a Prometheus on this machine.
base::Result<std::unique_ptr<net::Server>> open_sandbox_metrics(EmbeddedCluster& cluster,
                                                                std::uint16_t port);

}  // namespace millwright::app
