#include "app/controller_command.hpp"

#include "app/serving.hpp"
#include "app/signals.hpp"
#include "app/simulated_nodes.hpp"
#include "millwright/app/cluster_clock.hpp"
#include "millwright/app/wiring.hpp"
#include "millwright/base/version.hpp"
#include "millwright/cloud/measured.hpp"
#include "millwright/cloud/remote.hpp"
#include "millwright/controllers/certificates.hpp"
#include "millwright/controllers/scheduler_wiring.hpp"
#include "millwright/kube/config.hpp"
#include "millwright/kube/leader_election.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <utility>

namespace millwright::app {
namespace {

constexpr auto kStopGrace = std::chrono::milliseconds(5'000);
constexpr auto kStopLimit = std::chrono::seconds(10);
constexpr auto kClockLimit = std::chrono::milliseconds(5'000);
constexpr std::size_t kServingBodyLimit = 64U << 20;

std::string host_name() {
  std::string name(256, '\0');
  if (gethostname(name.data(), name.size() - 1) != 0) {
    return "unknown";
  }
  name.resize(name.find('\0'));
  return name;
}

// As Go names it, since that is what the label is called by.
const char* architecture() {
#if defined(__x86_64__)
  return "amd64";
#elif defined(__aarch64__)
  return "arm64";
#else
  return "";
#endif
}

base::Result<kube::Config> connection(const Settings& settings, const Environment& environment) {
  return settings.kubeconfig.empty() ? kube::in_cluster_config(environment)
                                     : kube::load_kubeconfig(settings.kubeconfig, settings.context);
}

// What cannot be reached is reported when the program is built.
base::TimePoint start_time(const Settings& settings, const Environment& environment) {
  auto config = connection(settings, environment);
  const auto cluster = config ? ask_cluster_clock(*std::move(config), kClockLimit)
                              : std::optional<base::TimePoint>();
  return choose_start(base::system_now(), cluster);
}

class Program {
 public:
  Program(Settings settings, base::Loop& loop, base::Logger log)
      : settings_(std::move(settings)),
        loop_(loop),
        log_(std::move(log)),
        leading_(loop),
        group_(loop) {}

  ~Program() {
    for (auto* cloud : clouds_) {
      cloud->set_listener(nullptr);
    }
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  base::Result<> build(const Environment& environment) {
    MW_TRY(config, connection(settings_, environment));
    std::shared_ptr<kube::Transport> transport =
        kube::make_transport(loop_, std::move(config), log_.named("kube"),
                             std::string("karpenter/millwright-") + base::version());
    client_ = std::make_unique<kube::Client>(
        loop_, transport,
        kube::ClientOptions{.qps = settings_.client_qps, .burst = settings_.client_burst},
        &metrics_);
    // Renewing the lease must not wait behind a burst of other calls.
    lease_client_ = std::make_unique<kube::Client>(loop_, transport);
    nodes_ = std::make_unique<SimulatedNodes>(*client_, log_.named("simulated-nodes"));
    for (const auto profile : settings_.simulated_clouds) {
      auto added = add_cloud(profile);
      if (!added) {
        return added;
      }
    }
    if (settings_.aws) {
      auto added = add_aws(environment);
      if (!added) {
        return added;
      }
    }
    engine_ = std::make_unique<Engine>(EngineParts{.loop = loop_,
                                                   .compute = compute_,
                                                   .client = *client_,
                                                   .providers = providers_,
                                                   .metrics = metrics_,
                                                   .log = log_,
                                                   .options = settings_.controllers,
                                                   .policy = settings_.policy,
                                                   .seed = base::entropy_seed()});
    tell_build();
    return open_plain_ports();
  }

  void start() {
    group_.spawn(engine_->watch(group_.stop_token()));
    group_.spawn(watch_machine_clock(loop_, &metrics_, log_.named("clock"), group_.stop_token()));
    const std::string& ns = settings_.namespace_;
    controllers::CertificateOptions options;
    options.namespace_ = ns;
    options.policy.dns_names = {"millwright." + ns + ".svc", "millwright." + ns, "millwright",
                                "millwright." + ns + ".svc.cluster.local", "localhost"};
    options.policy.dns_names.insert(options.policy.dns_names.end(),
                                    settings_.certificate_names.begin(),
                                    settings_.certificate_names.end());
    options.policy.ip_addresses = {"127.0.0.1"};
    options.policy.overlap = settings_.certificate_overlap;
    options.look_again = settings_.certificate_check;
    certificates_ = std::make_unique<controllers::Certificates>(
        *client_, metrics_, log_.named("certificates"), options,
        [this](const certs::Bundle& bundle) { use(bundle); });
    group_.spawn(certificates_->run(group_.stop_token()));
    controllers::WiringOptions wiring;
    wiring.configured = settings_.scheduler_wiring;
    wiring.namespace_ = ns;
    scheduler_wiring_ = std::make_unique<controllers::SchedulerWiring>(
        *client_, engine_->state(), metrics_, log_.named("scheduler-wiring"), base::entropy_seed(),
        wiring);
    group_.spawn(scheduler_wiring_->run(group_.stop_token()));
    if (settings_.leader_election) {
      start_election();
    } else {
      tell_leading(true);
      group_.spawn(engine_->lead(group_.stop_token()));
    }
  }

  base::Task<void> stop() {
    ready_ = false;
    if (serving_) {
      serving_->stop(kStopGrace);
    }
    group_.request_stop();
    co_await group_.join();
    co_await nodes_->stop();
  }

 private:
  void add_provider(std::unique_ptr<cloud::Provider> provider) {
    providers_.add(cloud::measured(std::move(provider), loop_, metrics_));
  }

  base::Result<> add_cloud(cloud::Profile profile) {
    auto cloud_settings = cloud::default_settings(profile);
    if (profile == cloud::Profile::Kwok) {
      cloud_settings.catalog_file = settings_.instance_types_file;
    }
    if (!settings_.simulated_cloud_url.empty()) {
      MW_TRY(remote, cloud::RemoteCloud::make(loop_, profile, std::move(cloud_settings),
                                              settings_.simulated_cloud_url));
      add_provider(std::move(remote));
      return {};
    }
    MW_TRY(local, cloud::SimulatedCloud::make(loop_, profile, std::move(cloud_settings)));
    local->set_listener(nodes_.get());
    clouds_.push_back(local.get());
    add_provider(std::move(local));
    return {};
  }

  base::Result<> add_aws(const Environment& environment) {
    cloud_client_ = net::make_client(loop_);
    auto settings = settings_.aws_settings;
    settings.seed = base::entropy_seed();
    MW_TRY(aws, cloud::make_aws_cloud(loop_, *cloud_client_, std::move(settings), environment,
                                      metrics_, log_.named("aws")));
    add_provider(std::move(aws));
    return {};
  }

  // Health answers from its own thread, whatever the loop is busy with.
  base::Result<> open_plain_ports() {
    const auto plain = [this](int port) {
      return net::ServerOptions{.address = settings_.bind_address,
                                .port = static_cast<std::uint16_t>(port),
                                .tls = false,
                                .log = log_.named("server")};
    };
    auto metrics_router = std::make_shared<net::Router>();
    metrics_router->add_sync("/metrics", [this](const net::Request&) {
      return net::Response::text(200, engine_->metrics_page());
    });
    auto health_router = std::make_shared<net::Router>();
    health_router->add_sync("/healthz",
                            [](const net::Request&) { return net::Response::text(200, "ok\n"); });
    health_router->add_sync("/readyz", [this](const net::Request&) {
      const bool synced = engine_->state().latest()->synced;
      return ready_ && synced ? net::Response::text(200, "ok\n")
                              : net::Response::text(503,
                                                    "not ready: still listing objects or "
                                                    "without a certificate\n");
    });
    const auto handler = [](std::shared_ptr<net::Router> router) {
      return [router](net::Request request, std::shared_ptr<net::Exchange> exchange) {
        router->handle(std::move(request), std::move(exchange));
      };
    };
    MW_TRY(metrics_server,
           net::Server::start(plain(settings_.metrics_port), handler(metrics_router)));
    metrics_server_ = std::move(metrics_server);
    MW_TRY(health_server, net::Server::start(plain(settings_.health_port), handler(health_router)));
    health_server_ = std::move(health_server);
    return {};
  }

  // Opens the HTTPS port with the first certificate, and changes it with every later one.
  void use(const certs::Bundle& bundle) {
    const net::TlsIdentity identity{.certificate_pem = bundle.leaf.certificate_pem,
                                    .key_pem = bundle.leaf.key_pem};
    if (serving_) {
      const auto changed = serving_->set_identity(identity);
      if (!changed) {
        log_.error("the new certificate cannot be used", {{"error", changed.error().message}});
      }
      return;
    }
    auto router = std::make_shared<net::Router>();
    add_extender_routes(*router, *engine_,
                        [this](std::string_view body) { scheduler_wiring_->called(body); });
    add_webhook_routes(*router, *engine_);
    if (settings_.serve_bind) {
      add_bind_route(*router, *client_);
    }
    auto started = net::Server::start(
        net::ServerOptions{.address = settings_.bind_address,
                           .port = static_cast<std::uint16_t>(settings_.serving_port),
                           .threads = 2,
                           .body_limit = kServingBodyLimit,
                           .log = log_.named("server")},
        [router](net::Request request, std::shared_ptr<net::Exchange> exchange) {
          router->handle(std::move(request), std::move(exchange));
        },
        identity);
    if (!started) {
      log_.error("the extender and the webhooks cannot be served",
                 {{"error", started.error().message}});
      return;
    }
    serving_ = *std::move(started);
    ready_ = true;
    scheduler_wiring_->serving();
    log_.info("serving the extender and the webhooks",
              {{"port", std::to_string(serving_->port())}});
  }

  void tell_build() {
    const std::string version = base::version();
    metrics_.set(
        "karpenter_build_info", "The running build.",
        {{"version", version}, {"goversion", ""}, {"goarch", architecture()}, {"commit", ""}}, 1);
  }

  // 1 on the replica that leads, 0 on the others.
  void tell_leading(bool leading) {
    scheduler_wiring_->set_leading(leading);
    metrics_.set("leader_election_master_status", "1 while this replica leads, else 0.",
                 {{"name", settings_.leader_election_name}}, leading ? 1 : 0);
  }

  void start_election() {
    tell_leading(false);
    kube::LeaderElectionOptions options;
    options.name = settings_.leader_election_name;
    options.namespace_ = settings_.leader_election_namespace.empty()
                             ? settings_.namespace_
                             : settings_.leader_election_namespace;
    base::Random random(base::entropy_seed());
    options.identity = host_name() + "_" + random.uuid();
    options.drain = [this] { return finish_leading(); };
    group_.spawn(kube::run_leader_election(
        *lease_client_, options,
        [this](std::stop_token stop) {
          log_.info("leading");
          tell_leading(true);
          leading_.spawn(engine_->lead(std::move(stop)));
        },
        [this] {
          log_.info("no longer leading");
          tell_leading(false);
        },
        log_.named("leader-election"), group_.stop_token()));
  }

  // What was being written is written before another replica may lead.
  base::Task<void> finish_leading() { co_await leading_.join(); }

  Settings settings_;
  base::Loop& loop_;
  base::Logger log_;
  base::Metrics metrics_;
  base::ComputeThread compute_;
  std::unique_ptr<net::Client> cloud_client_;
  cloud::ProviderSet providers_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<kube::Client> lease_client_;
  std::unique_ptr<SimulatedNodes> nodes_;
  std::vector<cloud::SimulatedCloud*> clouds_;  // of providers_
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<controllers::Certificates> certificates_;
  std::unique_ptr<controllers::SchedulerWiring> scheduler_wiring_;
  std::unique_ptr<net::Server> metrics_server_;
  std::unique_ptr<net::Server> health_server_;
  std::unique_ptr<net::Server> serving_;
  std::atomic<bool> ready_{false};
  base::TaskGroup leading_;
  base::TaskGroup group_;
};

base::Task<void> stop_program(Program& program, base::RealLoop& loop) {
  co_await program.stop();
  loop.stop();
}

}  // namespace

int run_controller(const std::map<std::string, std::string>& flags,
                   const Environment& environment) {
  const LoadedSettings loaded = load_settings(flags, environment);
  for (const auto& problem : loaded.problems) {
    std::fprintf(stderr, "millwright controller: %s\n", problem.c_str());
  }
  if (!loaded.problems.empty()) {
    return 2;
  }
  base::RealLoop loop(1.0, start_time(loaded.settings, environment));
  const base::Logger log(base::stdout_sink(loaded.settings.log_level, loaded.settings.log_format,
                                           [&loop] { return loop.now(); }),
                         "controller");
  for (const auto& warning : loaded.warnings) {
    log.warn(warning);
  }
  std::function<void()> on_stop;  // set before the loop runs, called on it
  const Signals signals([&](int) {
    loop.post([&on_stop] {
      // Taken out first: it runs once, and must outlive its own call.
      if (const auto stop = std::exchange(on_stop, nullptr)) {
        stop();
      }
    });
  });
  Program program(loaded.settings, loop, log);
  const auto built = program.build(environment);
  if (!built) {
    std::fprintf(stderr, "millwright controller: %s\n", built.error().message.c_str());
    return 1;
  }
  base::TaskGroup stopping(loop);
  on_stop = [&] {
    log.info("stopping");
    stopping.spawn(stop_program(program, loop));
    loop.after(kStopLimit, [&] {
      log.error("stopping took too long; leaving");
      loop.stop();
    });
  };
  program.start();
  loop.run();
  return 0;
}

}  // namespace millwright::app
