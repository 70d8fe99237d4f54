#include "millwright/app/embedded_cluster.hpp"

#include "app/serving/serving.hpp"
#include "millwright/base/version.hpp"
#include "millwright/certs/certs.hpp"
#include "millwright/cloud/measured.hpp"
#include "millwright/kube/config.hpp"

#include <boost/json.hpp>

namespace millwright::app {
namespace {

constexpr auto kClusterStopGrace = std::chrono::milliseconds(500);

using CloudsByProfile = std::map<cloud::Profile, cloud::SimulatedCloud*>;

sandbox::Recorder::PriceLookup price_lookup(CloudsByProfile clouds) {
  return [clouds = std::move(clouds)](const model::StringMap& labels) -> std::optional<double> {
    for (const auto& [profile, cloud] : clouds) {
      const auto types = cloud->instance_types(model::NodePool{}, model::NodeClass{});
      if (!types) {
        continue;
      }
      if (const auto price = scheduling::price_of(*types, labels)) {
        return price;
      }
    }
    return std::nullopt;
  };
}

class Cluster final : public EmbeddedCluster {
 public:
  Cluster(base::Loop& loop, base::Compute& compute, EmbeddedOptions options)
      : loop_(loop), compute_(compute), options_(std::move(options)), group_(loop) {}

  ~Cluster() override {
    for (const auto* server : {&extender_, &webhooks_}) {
      if (*server) {
        (*server)->stop(kClusterStopGrace);
      }
    }
    for (const auto& [profile, cloud] : clouds_) {
      cloud->set_listener(nullptr);
    }
  }

  base::Result<> build() {
    base::Random random(options_.seed);
    for (const auto profile : options_.profiles) {
      const auto wanted = options_.settings.find(profile);
      auto settings =
          wanted != options_.settings.end() ? wanted->second : cloud::default_settings(profile);
      settings.seed = random.next();
      MW_TRY(made, cloud::SimulatedCloud::make(loop_, profile, std::move(settings)));
      clouds_[profile] = made.get();
      providers_.add(cloud::measured(std::move(made), loop_, metrics_));
    }
    options_.world.seed = random.next();
    options_.world.price = price_lookup(clouds_);
    world_ = std::make_unique<sandbox::World>(loop_, options_.world);
    for (const auto& [profile, cloud] : clouds_) {
      cloud->set_listener(&world_->kubelet());
    }
    auto transport = open_api();
    if (!transport) {
      return tl::unexpected(std::move(transport).error());
    }
    client_ = std::make_unique<kube::Client>(loop_, *transport, kube::ClientOptions{}, &metrics_);
    person_ = std::make_unique<kube::Client>(loop_, *transport);
    engine_ = std::make_unique<Engine>(EngineParts{.loop = loop_,
                                                   .compute = compute_,
                                                   .client = *client_,
                                                   .providers = providers_,
                                                   .metrics = metrics_,
                                                   .log = options_.log,
                                                   .options = options_.controllers,
                                                   .policy = options_.policy,
                                                   .seed = random.next(),
                                                   .write_decision = options_.write_decision});
    return options_.sockets ? serve() : connect_in_process();
  }

  sandbox::World& world() override { return *world_; }
  Engine& engine() override { return *engine_; }
  kube::Client& client() override { return *person_; }
  cloud::SimulatedCloud* cloud(cloud::Profile profile) override {
    const auto found = clouds_.find(profile);
    return found == clouds_.end() ? nullptr : found->second;
  }
  base::Metrics& metrics() override { return metrics_; }
  sandbox::ApiEndpoint* endpoint() override { return endpoint_.get(); }

  void start() override {
    world_->start();
    group_.spawn(engine_->watch(group_.stop_token()));
    group_.spawn(engine_->lead(group_.stop_token()));
  }

  base::Task<void> stop() override {
    group_.request_stop();
    co_await group_.join();
    world_->stop();
    if (endpoint_) {
      endpoint_->stop();
    }
  }

 private:
  base::Result<std::shared_ptr<kube::Transport>> open_api() {
    if (!options_.sockets) {
      return sandbox::in_process_transport(world_->api());
    }
    MW_TRY(endpoint, sandbox::ApiEndpoint::start(world_->api()));
    endpoint_ = std::move(endpoint);
    MW_TRY(config, kube::parse_kubeconfig(endpoint_->kubeconfig(), "."));
    return std::shared_ptr<kube::Transport>(kube::make_transport(
        loop_, std::move(config), options_.log, std::string("millwright/") + base::version()));
  }

  base::Result<> connect_in_process() {
    if (options_.extender) {
      world_->set_extender(sandbox::in_process_extender(engine_->extender()));
    }
    if (options_.admission) {
      world_->api().set_admission(sandbox::in_process_admission(engine_->admission()));
      return sandbox::register_webhooks(world_->api(), "https://millwright.invalid", "");
    }
    return {};
  }

  // Webhooks and extender over HTTPS with certificates made for the purpose.
  base::Result<> serve() {
    const base::TimePoint now = base::system_now();
    const certs::Policy policy{.common_name = "millwright-sandbox",
                               .dns_names = {"localhost"},
                               .ip_addresses = {"127.0.0.1"}};
    MW_TRY(bundle, certs::reconcile(std::nullopt, policy, now));
    const auto url_of = [](const net::Server& server) {
      return "https://127.0.0.1:" + std::to_string(server.port());
    };
    const std::string trust = bundle.trust_pem(now);
    net::ServerOptions options;
    limit_callers(options, false);
    options.log = options_.log.named("server");
    auto admission_router = std::make_shared<net::Router>();
    add_webhook_routes(*admission_router, *engine_);
    MW_TRY(webhooks,
           net::Server::start(options, handler_of(admission_router), webhook_identity(bundle)));
    webhooks_ = std::move(webhooks);
    auto scheduler_router = std::make_shared<net::Router>();
    add_extender_routes(*scheduler_router, *engine_);
    MW_TRY(extender, net::Server::start(options, handler_of(scheduler_router),
                                        extender_identity(bundle, now)));
    extender_ = std::move(extender);
    if (options_.extender) {
      world_->set_extender(
          sandbox::https_extender(loop_, url_of(*extender_) + std::string(kExtenderPrefix),
                                  net::ClientTls{.ca_pem = trust,
                                                 .certificate_pem = bundle.client.certificate_pem,
                                                 .key_pem = bundle.client.key_pem,
                                                 .server_name = {}}));
    }
    if (options_.admission) {
      world_->api().set_admission(
          sandbox::https_admission(loop_, [](const sandbox::WebhookTarget&) { return ""; }));
      return sandbox::register_webhooks(world_->api(), url_of(*webhooks_), trust);
    }
    return {};
  }

  base::Loop& loop_;
  base::Compute& compute_;
  EmbeddedOptions options_;
  base::Metrics metrics_;
  cloud::ProviderSet providers_;
  CloudsByProfile clouds_;
  std::unique_ptr<sandbox::World> world_;
  std::unique_ptr<sandbox::ApiEndpoint> endpoint_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<kube::Client> person_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<net::Server> extender_;
  std::unique_ptr<net::Server> webhooks_;
  base::TaskGroup group_;
};

}  // namespace

base::Result<std::unique_ptr<EmbeddedCluster>> EmbeddedCluster::make(base::Loop& loop,
                                                                     base::Compute& compute,
                                                                     EmbeddedOptions options) {
  auto cluster = std::make_unique<Cluster>(loop, compute, std::move(options));
  auto built = cluster->build();
  if (!built) {
    return tl::unexpected(std::move(built).error());
  }
  return std::unique_ptr<EmbeddedCluster>(std::move(cluster));
}

}  // namespace millwright::app
