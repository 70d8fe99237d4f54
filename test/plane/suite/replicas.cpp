#include "plane/suite/replicas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace millwright::plane {
namespace {

constexpr std::string_view kSlice =
    "/apis/discovery.k8s.io/v1/namespaces/millwright-system/endpointslices/millwright-extender";

bool leads(Controller& replica) {
  if (!replica.process().running()) {
    return false;
  }
  const std::string log = replica.process().log_text();
  const auto began = log.rfind("controller: leading");
  const auto ended = log.rfind("controller: no longer leading");
  return began != std::string::npos && (ended == std::string::npos || ended < began);
}

}  // namespace

base::Result<std::unique_ptr<Replicas>> Replicas::start(
    std::vector<std::string> cloud_flags, std::map<std::string, std::string> environment) {
  auto replicas = std::make_unique<Replicas>();
  replicas->environment_ = std::move(environment);
  MW_TRY(plane, Plane::start());
  replicas->plane_ = std::move(plane);
  auto done = replicas->plane_->start_controller_manager();
  done = done ? replicas->plane_->start_kwok() : done;
  done = done ? apply_crds(*replicas->plane_) : done;
  if (!done) {
    return tl::unexpected(done.error());
  }
  MW_TRY(cloud, CloudProcess::start(*replicas->plane_, std::move(cloud_flags)));
  replicas->cloud_ = std::move(cloud);
  replicas->apply(kwok_node_class());
  done = replicas->revive();
  if (!done) {
    return tl::unexpected(done.error());
  }
  return replicas;
}

base::Result<> Replicas::start_replica() {
  auto installed = install_account(*plane_, "extender");
  if (!installed) {
    return installed;
  }
  const int number = ++started_;
  const std::string& server = plane_->url();
  const int api_port = std::stoi(server.substr(server.rfind(':') + 1));
  MW_TRY(api, Forwarder::start([api_port] { return api_port; }));
  MW_TRY(path, plane_->kubeconfig_of_account(std::string(kNamespace), "millwright"));
  std::string config = read_text(path);
  config.replace(config.find(server), server.size(),
                 fmt::format("https://127.0.0.1:{}", api->port()));
  const std::string own = fmt::format("{}/replica-{}.kubeconfig", plane_->directory(), number);
  write_text(own, config);
  const std::string address = fmt::format("10.255.1.{}", number);
  auto environment = environment_;
  environment["POD_IP"] = address;
  MW_TRY(replica, Controller::start(*plane_, {.name = fmt::format("replica-{}", number),
                                              .clouds = "kwok",
                                              .flags = {},
                                              .kubeconfig = own,
                                              .cloud_url = cloud_->url(),
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
int Replicas::service_target() {
  net::ClientRequest request;
  request.url = plane_->url() + std::string(kSlice);
  const auto response = service_client_->send_blocking(std::move(request));
  const std::scoped_lock lock(mutex_);
  if (response && response->status == 200) {
    boost::system::error_code error;
    endpoint_ = text_at(json::parse(response->body, error), "/endpoints/0/addresses/0");
  }
  const auto found = ports_.find(endpoint_);
  return found == ports_.end() ? 0 : found->second;
}

base::Result<> Replicas::start_service() {
  service_loop_ = std::make_unique<base::RealLoop>();
  service_client_ = net::make_client(*service_loop_, plane_->admin_tls());
  MW_TRY(service, Forwarder::start([this] { return service_target(); }));
  service_ = std::move(service);
  return plane_->start_scheduler(replicas_.front()->extender(service_->port()));
}

base::Result<> Replicas::revive() {
  std::erase_if(replicas_, [this](const auto& replica) {
    const bool gone = !replica->process().running();
    if (gone) {
      places_.erase(replica.get());
    }
    return gone;
  });
  while (replicas_.size() < 2) {
    if (auto started = start_replica(); !started) {
      return started;
    }
  }
  if (service_ == nullptr) {
    if (auto started = start_service(); !started) {
      return started;
    }
  }
  const bool led =
      wait_until(kSettled, [this] { return leader() != nullptr && led_to() == leader(); });
  return led ? base::Result<>{}
             : base::fail(base::ErrorKind::Timeout, "kube-scheduler is led to no leader");
}

Forwarder& Replicas::api_of(const Controller& replica) {
  return *places_.at(&replica).api;
}

Controller* Replicas::led_to() {
  const Answer slice = plane_->call("GET", std::string(kSlice));
  const std::string address = text_at(slice.body, "/endpoints/0/addresses/0");
  const auto found = std::find_if(replicas_.begin(), replicas_.end(), [&](const auto& replica) {
    return places_.at(replica.get()).address == address;
  });
  return found == replicas_.end() ? nullptr : found->get();
}

Controller* Replicas::leader() {
  const auto found = std::find_if(replicas_.begin(), replicas_.end(),
                                  [](const auto& replica) { return leads(*replica); });
  return found == replicas_.end() ? nullptr : found->get();
}

Controller* Replicas::follower() {
  const auto found = std::find_if(replicas_.begin(), replicas_.end(), [](const auto& replica) {
    return replica->process().running() && !leads(*replica);
  });
  return found == replicas_.end() ? nullptr : found->get();
}

Controller* Replicas::strike_leader(const std::function<void(Controller&)>& blow) {
  auto* const old = leader();
  auto* const heir = follower();
  if (old == nullptr || heir == nullptr) {
    ADD_FAILURE() << "there are no leader and follower";
    return nullptr;
  }
  blow(*old);
  const auto struck = std::chrono::steady_clock::now();
  EXPECT_FALSE(leads(*heir));
  wait("the other replica leads", seconds(60), [&] { return leads(*heir); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - struck;
  std::printf("the follower leads %.1f s after the leader was struck\n", took.count());
  EXPECT_LE(took, kTakeOver);
  wait("kube-scheduler is led to it", seconds(5), [&] { return led_to() == heir; });
  return old;
}

void Replicas::kill_leader() {
  strike_leader([](Controller& old) { old.process().kill(); });
}

std::string Replicas::filter_answer(const json::value& pod, const std::string& node) {
  const json::object arguments{
      {"Pod", pod}, {"Nodes", nullptr}, {"NodeNames", json::array{json::string(node)}}};
  auto* const asked = led_to();
  return asked == nullptr ? "nobody is there"
                          : asked->ask_extender("filter", arguments).value_or("no answer");
}

std::vector<json::value> Replicas::of(std::string_view path, const std::string& pool) {
  return plane_->list(std::string(path) + "?labelSelector=karpenter.sh%2Fnodepool%3D" + pool);
}

std::vector<json::value> Replicas::pods(const std::string& app) {
  return plane_->list(std::string(kPods) + "?labelSelector=app%3D" + app);
}

std::size_t Replicas::running(const std::string& app) {
  const auto all = pods(app);
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const auto& pod) {
    return text_at(pod, "/status/phase") == "Running" &&
           text_at(pod, "/metadata/deletionTimestamp").empty();
  }));
}

std::multiset<std::string> Replicas::instances(const std::string& pool) {
  std::multiset<std::string> ids;
  for (const auto& instance : cloud_->instances()) {
    if (text_at(instance, "/nodePool") == pool) {
      ids.insert(text_at(instance, "/providerID"));
    }
  }
  return ids;
}

bool Replicas::any_closed(const std::string& pool) {
  return json::serialize(json::value_from(of(kNodes, pool))).find("karpenter.sh/disrupted") !=
         std::string::npos;
}

void Replicas::apply(const std::string& yaml) {
  const Output output = plane_->kubectl({"apply", "-f", "-"}, yaml);
  EXPECT_EQ(output.exit_code, 0) << output.text;
}

void Replicas::wait(const std::string& what, seconds limit, const std::function<bool()>& seen) {
  if (!wait_until(limit, seen)) {
    std::string said;
    for (const auto& replica : replicas_) {
      said += replica->process().log_tail(15) + "---\n";
    }
    FAIL() << "not within " << limit.count() << " s: " << what << "\n"
           << said << plane_->kubectl({"get", "nodeclaims,nodes,pods", "-o", "wide"}).text;
  }
}

void Replicas::wait_settled(const std::string& name, std::size_t pods) {
  wait(fmt::format("{} pods of {} run, with as many claims as instances as nodes", pods, name),
       kSettled, [&] {
         const auto nodes = of(kNodes, name);
         std::multiset<std::string> claimed;
         for (const auto& claim : of(kClaims, name)) {
           claimed.insert(text_at(claim, "/status/providerID"));
         }
         return running(name) == pods && !nodes.empty() && nodes.size() == claimed.size() &&
                claimed == instances(name) && !any_closed(name);
       });
}

void Replicas::clean_up(const std::string& name) {
  plane_->kubectl({"delete", "deployment", name, "--ignore-not-found", "--wait=false"});
  plane_->kubectl({"delete", "nodepool", name, "--ignore-not-found", "--wait=false"});
  wait("nothing of " + name + " is left", kSettled, [&] {
    return of(kNodes, name).empty() && of(kClaims, name).empty() && instances(name).empty();
  });
}

}  // namespace millwright::plane
