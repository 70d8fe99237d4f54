#include "app/program/program.hpp"

#include "app/asking/caller_rights.hpp"
#include "app/program/decision_file.hpp"
#include "millwright/app/cluster_clock.hpp"
#include "millwright/base/base64.hpp"
#include "millwright/base/version.hpp"
#include "millwright/kube/leader_election.hpp"
#include "millwright/kube/leader_only.hpp"
#include "millwright/kube/version.hpp"

#include <unistd.h>

#include <utility>

namespace millwright::app {
namespace {

// How long it takes until no caller is sent here any more: a Service's endpoints are changed, and
// the change has reached every node.
constexpr auto kLameDuck = std::chrono::seconds(2);
constexpr auto kServerStopGrace = std::chrono::milliseconds(5'000);
// A connection that is dead must be found, and the lease renewed over another one, well before the
// term ends, ten seconds after the last renewal. A renewal that libcurl sends again when its
// connection ends does no harm: it names the version that it replaces.
constexpr auto kLeaseUnacknowledgedLimit = std::chrono::milliseconds(4'000);

std::string host_name() {
  std::string name(256, '\0');
  if (gethostname(name.data(), name.size() - 1) != 0) {
    return "unknown";
  }
  name.resize(name.find('\0'));
  return name;
}

// Go's name of it, which the label karpenter_build_info{goarch} promises.
const char* architecture() {
#if defined(__x86_64__)
  return "amd64";
#elif defined(__aarch64__)
  return "arm64";
#else
  return "";
#endif
}

}  // namespace

base::Result<kube::Config> api_server_config(const Settings& settings,
                                             const Environment& environment) {
  return settings.kubeconfig.empty() ? kube::in_cluster_config(environment)
                                     : kube::load_kubeconfig(settings.kubeconfig, settings.context);
}

Program::Program(Settings settings, base::Loop& loop, base::Logger log, Exits exits)
    : settings_(std::move(settings)),
      loop_(loop),
      log_(std::move(log)),
      exits_(std::move(exits)),
      heartbeat_(loop),
      leadership_(loop),
      group_(loop) {}

Program::~Program() = default;

base::Result<> Program::build(const Environment& environment) {
  MW_TRY(config, api_server_config(settings_, environment));
  const std::string user_agent = std::string("karpenter/millwright-") + base::version();
  // Renewing the lease must not wait behind a burst of other calls: neither for its share of the
  // rate nor, where they are slow to be answered, for its turn in a transport.
  kube::Config lease_config = config;
  lease_config.connections.unacknowledged_limit = kLeaseUnacknowledgedLimit;
  lease_client_ = std::make_unique<kube::Client>(
      loop_,
      kube::make_transport(loop_, std::move(lease_config), log_.named("kube.lease"), user_agent));
  settings_.aws_settings.api_server_ca = base::encode_base64(config.tls.ca_pem);
  std::shared_ptr<kube::Transport> transport =
      kube::make_transport(loop_, std::move(config), log_.named("kube"), user_agent);
  settings_.aws_settings.ask_version = [transport] { return kube::ask_version(transport); };
  const kube::ClientOptions limits{.qps = settings_.client_qps, .burst = settings_.client_burst};
  client_ = std::make_unique<kube::Client>(loop_, transport, limits, &metrics_);
  leader_client_ = std::make_unique<kube::Client>(loop_, kube::leader_only(transport, leadership_),
                                                  limits, &metrics_);
  for (auto* client : {&newcomers_client_, &renewals_client_}) {
    *client = std::make_unique<kube::Client>(loop_, transport, CallerRights::limits(), &metrics_);
  }
  nodes_ = std::make_unique<SimulatedNodes>(*client_, log_.named("simulated-nodes"));
  clouds_ = std::make_unique<Clouds>(loop_, leadership_, metrics_, log_);
  if (auto opened = clouds_->open(settings_, environment, *nodes_); !opened) {
    return opened;
  }
  telemetry::DecisionLog::Write write_decision;
  if (!settings_.decision_log.empty()) {
    MW_TRY(file, DecisionFile::open(settings_.decision_log, log_.named("decision-log")));
    write_decision = [file](std::string_view line) { file->write(line); };
  }
  engine_ = std::make_unique<Engine>(EngineParts{.loop = loop_,
                                                 .compute = compute_,
                                                 .client = *leader_client_,
                                                 .providers = clouds_->providers(),
                                                 .metrics = metrics_,
                                                 .log = log_,
                                                 .options = settings_.controllers,
                                                 .policy = settings_.policy,
                                                 .seed = base::entropy_seed(),
                                                 .on_rewound = [this] { start_anew(); },
                                                 .write_decision = std::move(write_decision)});
  servers_ = std::make_unique<Servers>(ServersParts{.settings = settings_,
                                                    .engine = *engine_,
                                                    .client = *leader_client_,
                                                    .newcomers_client = *newcomers_client_,
                                                    .renewals_client = *renewals_client_,
                                                    .metrics = metrics_,
                                                    .heartbeat = heartbeat_,
                                                    .leadership = leadership_,
                                                    .log = log_,
                                                    .on_closed = exits_.start_anew});
  make_leading();
  report_build();
  return servers_->open_plain_ports();
}

void Program::start() {
  group_.spawn(heartbeat_.run(group_.stop_token()));
  group_.spawn(engine_->watch(group_.stop_token()));
  group_.spawn(watch_machine_clock(loop_, &metrics_, log_.named("clock"), group_.stop_token()));
  start_calling_scheduler();
  start_certificates();
  if (settings_.leader_election) {
    start_election();
  } else {
    start_leading();
  }
}

base::Task<void> Program::stop() {
  servers_->retire();
  if (servers_->serving()) {
    co_await base::sleep(loop_, kLameDuck, {});
  }
  co_await servers_->stop(kServerStopGrace);
  group_.request_stop();
  co_await group_.join();
  co_await nodes_->stop();
}

// The HTTPS ports open with the first certificates.
void Program::start_certificates() {
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
  options.supplied = settings_.supplied_certificates;
  certificates_ = std::make_unique<controllers::Certificates>(
      *client_, metrics_, log_.named("certificates"), options, [this](const certs::Bundle& bundle) {
        servers_->use(bundle,
                      [this](std::string_view request) { calling_scheduler_->called(request); });
        if (servers_->serving()) {
          calling_scheduler_->serving();
        }
      });
  group_.spawn(certificates_->run(group_.stop_token()));
}

void Program::start_calling_scheduler() {
  calling_scheduler_ = std::make_unique<controllers::CallingScheduler>(
      *client_, engine_->state(), metrics_,
      controllers::CallingSchedulerOptions{.configured = settings_.scheduler_wiring,
                                           .namespace_ = settings_.namespace_,
                                           .log = log_.named("scheduler-wiring"),
                                           .seed = base::entropy_seed()});
  group_.spawn(calling_scheduler_->run(group_.stop_token()));
}

void Program::start_leading() {
  leadership_.begin(base::Leadership::kForEver);
  group_.spawn(lead(group_.stop_token()));
}

void Program::start_election() {
  report_leading(false);
  kube::LeaderElectionOptions options;
  options.name = settings_.leader_election_name;
  options.namespace_ = settings_.leader_election_namespace.empty()
                           ? settings_.namespace_
                           : settings_.leader_election_namespace;
  base::Random random(base::entropy_seed());
  options.identity = host_name() + "_" + random.uuid();
  kube::LeaderDuties duties;
  duties.lead = [this](std::stop_token stop) { return lead(std::move(stop)); };
  duties.on_end = [this] {
    log_.info("no longer leading", {{"term", std::to_string(leadership_.term())}});
    report_leading(false);
  };
  duties.on_stuck = exits_.leave_at_once;
  duties.on_rewound = [this] { start_anew(); };
  duties.is_rewound = [this] { return rewound_; };
  group_.spawn(kube::run_leader_election(*lease_client_, std::move(options), leadership_,
                                         std::move(duties), log_.named("leader-election"),
                                         group_.stop_token()));
}

void Program::make_leading() {
  std::optional<controllers::ExtenderEndpointOptions> endpoint;
  if (!settings_.pod_ip.empty() && settings_.controllers.extender_called) {
    endpoint = controllers::ExtenderEndpointOptions{.namespace_ = settings_.namespace_,
                                                    .address = settings_.pod_ip,
                                                    .port = settings_.extender_port,
                                                    .log = log_.named("extender-endpoint")};
  }
  leading_ = std::make_unique<Leading>(
      LeadingParts{.loop = loop_,
                   .engine = *engine_,
                   .client = *leader_client_,
                   .serving = [this] { return servers_->serving_extender(); },
                   .endpoint = std::move(endpoint)});
}

// An informer may see it before the election does, which must leave the Lease alone then.
void Program::start_anew() {
  rewound_ = true;
  exits_.start_anew("etcd was restored from a backup");
}

// One term.
base::Task<void> Program::lead(std::stop_token stop) {
  log_.info("leading", {{"term", std::to_string(leadership_.term())}});
  report_leading(true);
  co_await leading_->run(std::move(stop));
}

void Program::report_build() {
  metrics_.set(
      "karpenter_build_info", "The running build.",
      {{"version", base::version()}, {"goversion", ""}, {"goarch", architecture()}, {"commit", ""}},
      1);
}

// 1 on the replica that leads, 0 on the others.
void Program::report_leading(bool leading) {
  calling_scheduler_->set_leading(leading);
  metrics_.set("leader_election_master_status", "1 while this replica leads, else 0.",
               {{"name", settings_.leader_election_name}}, leading ? 1 : 0);
}

}  // namespace millwright::app
