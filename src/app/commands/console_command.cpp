#include "app/commands/console_command.hpp"

#include "app/console/console_door.hpp"
#include "app/console/console_relay.hpp"
#include "app/console/console_routes.hpp"
#include "app/console/live_what_if.hpp"
#include "app/program/signals.hpp"
#include "millwright/base/version.hpp"

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

namespace millwright::app {
namespace {

constexpr auto kDoorStopGrace = std::chrono::milliseconds(500);

int fail_console(const base::Error& error) {
  std::fprintf(stderr, "millwright console: %s\n", error.message.c_str());
  return 2;
}

// The API server of the user's kubeconfig, for what-if.
base::Result<std::shared_ptr<kube::Transport>> connect_to_cluster(base::Loop& loop,
                                                                  const RemoteServer& server) {
  if (!server.token_file.empty()) {
    return base::fail(base::ErrorKind::Invalid,
                      "what-if reads the cluster with a kubeconfig; `millwright console` was "
                      "started with --token-file");
  }
  MW_TRY(config, kube::load_kubeconfig(kubeconfig_path(server), server.context));
  return std::shared_ptr<kube::Transport>(kube::make_transport(
      loop, std::move(config), base::Logger(), std::string("millwright/") + base::version()));
}

class ConsoleSession {
 public:
  explicit ConsoleSession(const ConsoleArguments& arguments)
      : arguments_(arguments), group_(loop_) {}

  int run() {
    const Signals signals([this](int) { loop_.post([this] { loop_.stop(); }); });
    auto made = connect(loop_, arguments_.server);
    if (!made) {
      return fail_console(made.error());
    }
    transport_ = *std::move(made);
    relay_ = std::make_unique<ConsoleRelay>(loop_, *transport_);
    group_.spawn(begin());
    loop_.run();
    if (door_) {
      door_->stop(kDoorStopGrace);
    }
    return failure_ ? fail_console(*failure_) : 0;
  }

 private:
  base::Task<void> begin() {
    auto request = get_request(kConsolePage);
    const auto page = co_await transport_->call(std::move(request), group_.stop_token());
    auto opened = open_door(page);
    if (!opened) {
      failure_ = std::move(opened).error();
      loop_.stop();
      co_return;
    }
    std::printf("The console is at\n  %s\nfor whoever has this address. Ctrl-C ends it.\n",
                door_->url().c_str());
    std::fflush(stdout);
  }

  // Whoever may not ask is told here, not in the browser.
  base::Result<> open_door(const base::Result<net::Response>& page) {
    MW_TRY(reply, reply_of(page, arguments_.server));
    if (!reply.known) {
      return base::fail(
          base::ErrorKind::NotFound,
          arguments_.server.url + " serves no console: set --console beside --asking-port there");
    }
    auto cluster = connect_to_cluster(loop_, arguments_.server);
    if (cluster) {
      client_ = std::make_unique<kube::Client>(loop_, *std::move(cluster));
      what_if_ = std::make_unique<LiveWhatIf>(*client_);
    } else {
      no_what_if_ = std::move(cluster).error();
    }
    MW_TRY(door, ConsoleDoor::open(
                     loop_, arguments_.port,
                     [this](const net::Request& asked, std::shared_ptr<net::Exchange> exchange) {
                       answer(asked, std::move(exchange));
                     }));
    door_ = std::move(door);
    return {};
  }

  void answer(const net::Request& request, std::shared_ptr<net::Exchange> exchange) {
    if (request.path() != kWhatIfPath) {
      relay_->answer(request, std::move(exchange));
    } else if (what_if_) {
      what_if_->answer(request, std::move(exchange));
    } else {
      exchange->respond(net::Response::text(400, no_what_if_.message + "\n"));
    }
  }

  const ConsoleArguments& arguments_;
  base::RealLoop loop_;
  std::shared_ptr<kube::Transport> transport_;
  std::unique_ptr<ConsoleRelay> relay_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<LiveWhatIf> what_if_;
  base::Error no_what_if_{};
  std::unique_ptr<ConsoleDoor> door_;
  std::optional<base::Error> failure_;
  base::TaskGroup group_;
};

}  // namespace

int run_console(const ConsoleArguments& arguments) {
  return ConsoleSession(arguments).run();
}

}  // namespace millwright::app
