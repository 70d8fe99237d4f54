// The program's ports: /metrics and the health probes in plain HTTP; in HTTPS, once there is a
// certificate, the extender for callers with a client certificate, the webhooks and, if it is
// wanted, the asking port for callers with a token. Loop thread only.
#pragma once

#include "app/asking/caller_rights.hpp"
#include "app/serving/asking_desk.hpp"
#include "app/serving/heartbeat.hpp"
#include "app/serving/plain_ports.hpp"
#include "millwright/app/engine.hpp"
#include "millwright/app/settings.hpp"
#include "millwright/base/leadership.hpp"
#include "millwright/base/metrics.hpp"
#include "millwright/base/task.hpp"
#include "millwright/certs/certs.hpp"
#include "millwright/net/server.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace millwright::app {

struct ServersParts {
  const Settings& settings;
  Engine& engine;
  kube::Client& client;            // for the bind verb
  kube::Client& newcomers_client;  // this and the next for CallerRights alone
  kube::Client& renewals_client;
  base::Metrics& metrics;
  const Heartbeat& heartbeat;
  // Of the term: the extender answers only while it holds.
  const base::Leadership& leadership;
  base::Logger log;
  // An HTTPS port cannot be opened; not for a certificate that cannot be used, which is logged.
  // Kubernetes shows a process that leaves, and starts it again; one that stayed could lead, and
  // nobody would answer kube-scheduler.
  std::function<void(const std::string& problem)> on_closed;
};

class Servers {
 public:
  explicit Servers(ServersParts parts);

  // The metrics and health ports. Their threads answer even while the loop is busy.
  base::Result<> open_plain_ports() { return plain_.open(); }
  // Opens the HTTPS ports with the first certificates, that of the extender with the first that
  // have a CA; later ones replace them without dropping a connection. `on_extender_call` sees each
  // extender request on the thread that answers it.
  void use(const certs::Bundle& bundle,
           const std::function<void(std::string_view request)>& on_extender_call);
  // Whether the HTTPS ports are open; that of the extender is not without a CA to check callers by.
  bool serving() const { return webhooks_ != nullptr; }
  bool serving_extender() const { return extender_ != nullptr; }
  // Not ready from now on, so that no new callers come. Those that still do are answered, and no
  // port is opened any more.
  void retire();
  // Open requests get `grace` to finish, all ports together, and the loop goes on: many need it.
  base::Task<void> stop(std::chrono::milliseconds grace);

 private:
  using OnCall = std::function<void(std::string_view)>;
  // Those that are closed.
  base::Result<> open_secure_ports(const certs::Bundle& bundle, const OnCall& on_extender_call);
  base::Result<> open_webhooks(const certs::Bundle& bundle);
  base::Result<> open_extender(net::TlsIdentity identity, const OnCall& on_extender_call);
  base::Result<> renew(const certs::Bundle& bundle);
  void tell_closed(const base::Error& error);
  net::ServerOptions options_of(int port, const std::string& server) const;
  // Without it everything else goes on: a failure is logged.
  void open_asking_port(const certs::Bundle& bundle);
  base::TimePoint now() const { return parts_.client.loop().now(); }

  ServersParts parts_;
  std::atomic<bool> ready_{false};
  bool retired_ = false;
  PlainPorts plain_;
  std::unique_ptr<net::Server> extender_;
  std::unique_ptr<net::Server> webhooks_;

  // In the order in which they may end, the last first.
  struct Asking {
    explicit Asking(const ServersParts& parts)
        : rights(parts.newcomers_client, parts.renewals_client) {}
    CallerRights rights;
    std::unique_ptr<AskingDesk> desk;
    std::unique_ptr<net::Server> server;
  };
  std::unique_ptr<Asking> asking_;
};

}  // namespace millwright::app
