#include "plane/runner/replica_set.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace millwright::plane {
namespace {

constexpr std::string_view kSlice =
    "/apis/discovery.k8s.io/v1/namespaces/millwright-system/endpointslices/millwright-extender";

}  // namespace

base::Result<std::unique_ptr<ReplicaSet>> ReplicaSet::start(Plane& plane, Options options) {
  std::unique_ptr<ReplicaSet> set(new ReplicaSet(plane, std::move(options)));
  auto done = set->start_service();
  done = done ? set->revive() : done;
  if (!done) {
    return tl::unexpected(done.error());
  }
  return set;
}

base::Result<> ReplicaSet::start_replica() {
  auto installed = install_account(plane_, "extender");
  if (!installed) {
    return installed;
  }
  const int number = ++started_;
  const std::string& server = plane_.url();
  const int api_port = std::stoi(server.substr(server.rfind(':') + 1));
  MW_TRY(api, Forwarder::start([api_port] { return api_port; }));
  MW_TRY(path, plane_.kubeconfig_of_account(std::string(kNamespace), "millwright"));
  std::string config = read_text(path);
  config.replace(config.find(server), server.size(),
                 fmt::format("https://127.0.0.1:{}", api->port()));
  const std::string own = fmt::format("{}/replica-{}.kubeconfig", plane_.directory(), number);
  write_text(own, config);
  const std::string address = fmt::format("10.255.1.{}", number);
  auto environment = options_.environment;
  environment["POD_IP"] = address;
  MW_TRY(replica, Controller::start(plane_, {.name = fmt::format("replica-{}", number),
                                             .clouds = "kwok",
                                             .flags = {},
                                             .kubeconfig = own,
                                             .cloud_url = options_.cloud_url,
                                             .environment = std::move(environment)}));
  {
    const std::scoped_lock lock(mutex_);
    ports_[address] = replica->extender_port();
  }
  places_[replica.get()] = {.address = address, .api = std::move(api)};
  replicas_.push_back(std::move(replica));
  return {};
}

// As kube-proxy: what it heard last counts while the API server is away.
int ReplicaSet::service_target() {
  net::ClientRequest request;
  request.url = plane_.url() + std::string(kSlice);
  const auto response = service_client_->send_blocking(std::move(request));
  const std::scoped_lock lock(mutex_);
  if (response && response->status == 200) {
    boost::system::error_code error;
    endpoint_ = text_at(json::parse(response->body, error), "/endpoints/0/addresses/0");
  }
  const auto found = ports_.find(endpoint_);
  return found == ports_.end() ? 0 : found->second;
}

base::Result<> ReplicaSet::start_service() {
  service_loop_ = std::make_unique<base::RealLoop>();
  service_client_ = net::make_client(*service_loop_, plane_.admin_tls());
  MW_TRY(service, Forwarder::start([this] { return service_target(); }));
  service_ = std::move(service);
  return {};
}

base::Result<> ReplicaSet::revive() {
  std::erase_if(replicas_, [this](const auto& replica) {
    const bool gone = !replica->process().running();
    if (gone) {
      places_.erase(replica.get());
    }
    return gone;
  });
  while (replicas_.size() < options_.replicas) {
    if (auto started = start_replica(); !started) {
      return started;
    }
  }
  const bool led =
      wait_until(kLedAgain, [this] { return leader() != nullptr && led_to() == leader(); });
  return led ? base::Result<>{}
             : base::fail(base::ErrorKind::Timeout, "kube-scheduler is led to no leader");
}

Forwarder& ReplicaSet::api_of(const Controller& replica) {
  return *places_.at(&replica).api;
}

Controller* ReplicaSet::led_to() {
  const Answer slice = plane_.call("GET", std::string(kSlice));
  const std::string address = text_at(slice.body, "/endpoints/0/addresses/0");
  const auto found = std::find_if(replicas_.begin(), replicas_.end(), [&](const auto& replica) {
    return places_.at(replica.get()).address == address;
  });
  return found == replicas_.end() ? nullptr : found->get();
}

bool ReplicaSet::leads(Controller& replica) {
  if (!replica.process().running()) {
    return false;
  }
  const std::string log = replica.process().log_text();
  const auto began = log.rfind("controller: leading");
  const auto ended = log.rfind("controller: no longer leading");
  return began != std::string::npos && (ended == std::string::npos || ended < began);
}

Controller* ReplicaSet::leader() {
  const auto found = std::find_if(replicas_.begin(), replicas_.end(),
                                  [](const auto& replica) { return leads(*replica); });
  return found == replicas_.end() ? nullptr : found->get();
}

Controller* ReplicaSet::follower() {
  const auto found = std::find_if(replicas_.begin(), replicas_.end(), [](const auto& replica) {
    return replica->process().running() && !leads(*replica);
  });
  return found == replicas_.end() ? nullptr : found->get();
}

}  // namespace millwright::plane
