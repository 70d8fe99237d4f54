#include "app/commands/cloud_command.hpp"

#include "app/program/signals.hpp"
#include "app/program/simulated_nodes.hpp"
#include "millwright/base/random.hpp"
#include "millwright/base/version.hpp"
#include "millwright/cloud/remote.hpp"
#include "millwright/kube/config.hpp"
#include "millwright/net/server.hpp"

#include <cstdio>
#include <map>
#include <utility>

namespace millwright::app {
namespace {

constexpr auto kCloudStopGrace = std::chrono::milliseconds(1'000);

// One fixed delay instead of the profile's range.
base::Result<> set_delay(const std::string& flag, const std::string& text, cloud::Latency& delay) {
  if (text.empty()) {
    return {};
  }
  const auto parsed = base::parse_go_duration(text);
  if (!parsed || *parsed < base::Duration::zero()) {
    return base::fail(base::ErrorKind::Invalid,
                      "--" + flag + " must be a duration such as 30s, not \"" + text + "\"");
  }
  delay = {.least = *parsed, .typical = *parsed, .most = *parsed};
  return {};
}

class CloudProgram {
 public:
  CloudProgram(base::Loop& loop, base::Logger log)
      : loop_(loop), log_(std::move(log)), group_(loop) {}
  ~CloudProgram() {
    for (const auto& [name, cloud] : clouds_) {
      cloud->set_listener(nullptr);
    }
  }
  CloudProgram(const CloudProgram&) = delete;
  CloudProgram& operator=(const CloudProgram&) = delete;

  base::Result<> build(const CloudArguments& arguments) {
    MW_TRY(config, kube::load_kubeconfig(arguments.kubeconfig));
    client_ = std::make_unique<kube::Client>(
        loop_, std::shared_ptr<kube::Transport>(
                   kube::make_transport(loop_, std::move(config), log_.named("kube"),
                                        std::string("millwright-cloud/") + base::version())));
    nodes_ = std::make_unique<SimulatedNodes>(*client_, log_.named("simulated-nodes"));
    for (const auto& name : arguments.profiles) {
      auto added = add_cloud(name, arguments);
      if (!added) {
        return added;
      }
    }
    return serve(arguments.port);
  }

  base::Task<void> stop() {
    server_->stop(kCloudStopGrace);
    group_.request_stop();
    co_await group_.join();
    co_await nodes_->stop();
  }

 private:
  base::Result<> add_cloud(const std::string& name, const CloudArguments& arguments) {
    const auto profile = cloud::parse_profile(name);
    if (!profile) {
      return base::fail(base::ErrorKind::Invalid,
                        "--profile must be kwok, aws, alibaba or huawei, not \"" + name + "\"");
    }
    auto settings = cloud::default_settings(*profile);
    settings.seed = base::entropy_seed();
    settings.lost_reply_rate = arguments.lost_replies;
    settings.error_rate = arguments.errors;
    auto done = set_delay("launch", arguments.launch, settings.launch);
    done = done ? set_delay("boot", arguments.boot, settings.boot) : done;
    done = done ? set_delay("termination", arguments.termination, settings.termination) : done;
    if (!done) {
      return done;
    }
    MW_TRY(made, cloud::SimulatedCloud::make(loop_, *profile, std::move(settings)));
    made->set_listener(nodes_.get());
    clouds_[name] = std::move(made);
    return {};
  }

  base::Result<> serve(int port) {
    auto router = std::make_shared<net::Router>();
    router->add("/", [this](net::Request request, std::shared_ptr<net::Exchange> exchange) {
      loop_.post([this, request = std::move(request), exchange = std::move(exchange)] {
        group_.spawn(answer(request, exchange));
      });
    });
    MW_TRY(server, net::Server::start(
                       net::ServerOptions{.port = static_cast<std::uint16_t>(port),
                                          .tls = false,
                                          .log = log_.named("server")},
                       [router](net::Request request, std::shared_ptr<net::Exchange> exchange) {
                         router->handle(std::move(request), std::move(exchange));
                       }));
    server_ = std::move(server);
    log_.info("serving simulated clouds", {{"port", std::to_string(server_->port())}});
    return {};
  }

  // "/<profile>/<verb>"
  base::Task<void> answer(net::Request request, std::shared_ptr<net::Exchange> exchange) {
    const std::string path(request.path().substr(1));
    const std::size_t slash = path.find('/');
    const auto cloud = clouds_.find(path.substr(0, slash));
    if (slash == std::string::npos || cloud == clouds_.end()) {
      exchange->respond(net::Response::text(404, "no such cloud here: " + path + "\n"));
      co_return;
    }
    auto response =
        co_await cloud::answer_cloud_call(*cloud->second, path.substr(slash + 1), request.body);
    exchange->respond(std::move(response));
  }

  base::Loop& loop_;
  base::Logger log_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<SimulatedNodes> nodes_;
  std::map<std::string, std::unique_ptr<cloud::SimulatedCloud>> clouds_;  // by profile
  base::TaskGroup group_;
  std::unique_ptr<net::Server> server_;
};

base::Task<void> stop_cloud(CloudProgram& program, base::RealLoop& loop) {
  co_await program.stop();
  loop.stop();
}

}  // namespace

int run_cloud(const CloudArguments& arguments) {
  base::RealLoop loop;
  const base::Logger log(base::stdout_sink(base::LogLevel::Info, base::LogFormat::Text,
                                           [&loop] { return loop.now(); }),
                         "cloud");
  std::function<void()> on_stop;  // set before the loop runs, called on it
  const Signals signals([&](int) {
    loop.post([&on_stop] {
      // Taken out first: it runs once, and must outlive its own call.
      if (const auto stop = std::exchange(on_stop, nullptr)) {
        stop();
      }
    });
  });
  CloudProgram program(loop, log);
  const auto built = program.build(arguments);
  if (!built) {
    std::fprintf(stderr, "millwright cloud: %s\n", built.error().message.c_str());
    return 1;
  }
  base::TaskGroup stopping(loop);
  on_stop = [&] { stopping.spawn(stop_cloud(program, loop)); };
  loop.run();
  return 0;
}

}  // namespace millwright::app
