#include "clouds/support/served_cluster.hpp"

#include "aws/support/facade.hpp"
#include "millwright/base/random.hpp"
#include "millwright/cloud/simulated.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX's

#include <algorithm>
#include <filesystem>
#include <map>

namespace millwright::test {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kLookAgain = milliseconds(200);
constexpr auto kBootTime = milliseconds(500);
constexpr auto kStartLimit = seconds(30);
constexpr int kStartAttempts = 3;
constexpr std::string_view kClusterMark = "${CLUSTER_NAME}";

// Nobody waits for what the story is not about.
sandbox::WorldOptions quick_world() {
  sandbox::WorldOptions options;
  options.seed = base::entropy_seed();  // claims' UIDs are client tokens: no two runs share any
  options.kubelet.ready_after = seconds(1);
  options.kubelet.pod_start = milliseconds(500);
  options.kubelet.pod_stop = milliseconds(500);
  return options;
}

base::Task<bool> pause(base::Loop& loop) {
  co_await base::sleep(loop, milliseconds(100));
  co_return true;
}

}  // namespace

ServedCluster::ServedCluster(std::vector<Peer> peers) : peers_(std::move(peers)) {
  std::string pattern = (std::filesystem::temp_directory_path() / "millwright-XXXXXX").string();
  directory_ = mkdtemp(pattern.data()) == nullptr ? std::string() : pattern;
  client_ = net::make_client(thread_.loop);
  thread_.call([this] { world_ = std::make_unique<sandbox::World>(thread_.loop, quick_world()); });
}

ServedCluster::~ServedCluster() {
  program_.reset();  // before the API server that it would complain about
  thread_.call([this] {
    machines_.reset();
    endpoint_.reset();
    world_.reset();
  });
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

base::Result<> ServedCluster::start() {
  for (const auto& peer : peers_) {
    MW_TRY(answer, ask(peer.url + peer.machines_path));
    for (const auto& machine : peer.read_machines(answer)) {
      before_.insert(machine.instance.provider_id);
    }
  }
  MW_TRY(endpoint, sandbox::ApiEndpoint::start(world_->api()));
  endpoint_ = std::move(endpoint);
  const std::string kubeconfig = directory_ + "/kubeconfig";
  if (auto written = endpoint_->write_kubeconfig(kubeconfig); !written) {
    return written;
  }
  thread_.call([this] {
    world_->start();
    machines_ = std::make_unique<base::TaskGroup>(thread_.loop);
    machines_->spawn(play_machines(machines_->stop_token()));
  });
  return start_program(kubeconfig);
}

base::Result<> ServedCluster::start_program(const std::string& kubeconfig) {
  std::string clouds;
  std::vector<std::string> flags;
  std::map<std::string, std::string> environment;
  for (const auto& peer : peers_) {
    clouds += (clouds.empty() ? "" : ",") + peer.name;
    flags.insert(flags.end(), peer.flags.begin(), peer.flags.end());
    environment.insert(peer.environment.begin(), peer.environment.end());
  }
  for (int attempt = 0; attempt < kStartAttempts; ++attempt) {
    metrics_port_ = plane::free_port();
    health_port_ = plane::free_port();
    plane::ProcessSpec spec;
    spec.program = MILLWRIGHT_PROGRAM;
    spec.arguments = {"controller",
                      "--kubeconfig=" + kubeconfig,
                      "--clouds=" + clouds,
                      "--simulated-clouds=",
                      "--bind-address=127.0.0.1",
                      "--log-format=text",
                      fmt::format("--serving-port={}", plane::free_port()),
                      fmt::format("--extender-port={}", plane::free_port()),
                      fmt::format("--metrics-port={}", metrics_port_),
                      fmt::format("--health-probe-port={}", health_port_)};
    spec.arguments.insert(spec.arguments.end(), flags.begin(), flags.end());
    spec.environment = environment;
    spec.log = directory_ + "/millwright.log";
    spec.append_log = true;
    MW_TRY(process, plane::Process::start(std::move(spec)));
    program_ = std::move(process);
    const std::string ready = fmt::format("http://127.0.0.1:{}/readyz", health_port_);
    const bool up =
        wait(kStartLimit, [&] { return !program_->running() || ask(ready).has_value(); });
    if (up && program_->running()) {
      return {};
    }
  }
  return base::fail(base::ErrorKind::Unavailable,
                    "the program did not get ready; it said:\n" + said());
}

// Blocks. A text that is no JSON is answered as a JSON string.
base::Result<json::value> ServedCluster::ask(const std::string& url) {
  net::ClientRequest request;
  request.url = url;
  MW_TRY(answer, client_->send_blocking(std::move(request)));
  if (answer.status != 200) {
    return base::fail(base::ErrorKind::Unavailable, url + ": " + answer.body);
  }
  boost::system::error_code error;
  auto parsed = json::parse(answer.body, error);
  return error ? json::value(answer.body) : parsed;
}

base::Result<> ServedCluster::apply_file(const std::string& file) {
  return apply(plane::read_text(std::string(SOURCE_ROOT "/manifests/examples/") + file));
}

base::Result<> ServedCluster::apply(const std::string& yaml) {
  std::string text = yaml;
  for (auto at = text.find(kClusterMark); at != std::string::npos; at = text.find(kClusterMark)) {
    text.replace(at, kClusterMark.size(), kFacadeCluster);
  }
  MW_TRY(documents, model::parse_yaml(text));
  for (auto& document : documents) {
    const auto* resource = model::find_by_kind(model::text_at(document, "apiVersion"),
                                               model::text_at(document, "kind"));
    if (resource == nullptr) {
      return base::fail(base::ErrorKind::Invalid,
                        "no kind known here: " + json::serialize(document));
    }
    if (resource->namespaced) {
      document.at("metadata").as_object()["namespace"] = "default";
    }
    base::Result<> created;
    thread_.call([&] {
      auto made = world_->api().create(*resource, document);
      created = made ? base::Result<>() : tl::unexpected(std::move(made).error());
    });
    if (!created) {
      return created;
    }
  }
  return {};
}

void ServedCluster::scale(const std::string& deployment, int replicas) {
  const model::ObjectKey key{.namespace_ = "default", .name = deployment};
  thread_.call([&] {
    const auto scaled = world_->api().update(
        model::kDeploymentResource, key,
        [replicas](json::value& object) { object.at("spec").as_object()["replicas"] = replicas; });
    EXPECT_TRUE(scaled) << scaled.error().message;
  });
}

void ServedCluster::remove_all(const model::Resource& resource) {
  for (const auto& object : list(resource)) {
    const auto meta = model::decode_meta(object);
    thread_.call([&] {
      const auto removed = world_->api().remove(resource, model::key_of(*meta));
      EXPECT_TRUE(removed) << removed.error().message;
    });
  }
}

std::vector<json::value> ServedCluster::list(const model::Resource& resource) {
  std::vector<json::value> objects;
  thread_.call([&] {
    for (const auto& object : world_->api().list(resource)) {
      objects.push_back(*object);
    }
  });
  return objects;
}

std::size_t ServedCluster::running() {
  std::size_t count = 0;
  for (const auto& pod : list(model::kPodResource)) {
    count += model::text_at(pod, "status.phase") == "Running" ? 1 : 0;
  }
  return count;
}

bool ServedCluster::wait(seconds limit, const std::function<bool()>& holds) {
  const auto deadline = base::system_now() + limit;
  while (!holds()) {
    if (base::system_now() > deadline) {
      return false;
    }
    thread_.run<bool>([this] { return pause(thread_.loop); });
  }
  return true;
}

bool ServedCluster::give_back(seconds limit, const std::vector<model::Resource>& node_classes) {
  remove_all(model::kDeploymentResource);
  remove_all(model::kNodePoolResource);
  if (!wait(limit, [this] { return list(model::kNodeClaimResource).empty(); })) {
    return false;
  }
  return std::all_of(node_classes.begin(), node_classes.end(), [&](const auto& node_class) {
    remove_all(node_class);
    return wait(limit, [&] { return list(node_class).empty(); });
  });
}

std::vector<PeerMachine> ServedCluster::machines() {
  std::vector<PeerMachine> all;
  for (const auto& peer : peers_) {
    const auto answer = ask(peer.url + peer.machines_path);
    if (!answer) {
      ADD_FAILURE() << answer.error().message;
      continue;
    }
    for (auto& machine : peer.read_machines(*answer)) {
      if (!before_.contains(machine.instance.provider_id)) {
        all.push_back(std::move(machine));
      }
    }
  }
  return all;
}

std::vector<std::string> ServedCluster::problems() {
  std::vector<std::string> found;
  std::map<std::string, int> by_claim;
  for (const auto& machine : machines()) {
    if (!machine.is_gone) {
      found.push_back(machine.instance.provider_id + " still runs");
    }
    if (machine.claim.empty()) {
      found.push_back(machine.instance.provider_id + " was launched for no claim");
    } else if (++by_claim[machine.claim] > 1) {
      found.push_back("claim " + machine.claim + " was launched twice");
    }
  }
  const auto log = program_->log_text();
  const auto page = metrics();
  for (const auto& peer : peers_) {
    const auto ledger = ask(peer.url + "/_facade/ledger");
    for (const auto& problem :
         ledger ? peer.find_problems(*ledger) : std::vector<std::string>{"no ledger"}) {
      found.push_back(peer.name + ": " + problem);
    }
    for (const auto& secret : peer.secrets) {
      if (log.find(secret) != std::string::npos || page.find(secret) != std::string::npos) {
        found.push_back("a secret of " + peer.name + " is in the program's log or metrics");
      }
    }
  }
  return found;
}

std::string ServedCluster::said() const {
  constexpr std::size_t kLines = 40;
  return program_ ? program_->log_tail(kLines) : std::string();
}

std::string ServedCluster::metrics() {
  const auto page = ask(fmt::format("http://127.0.0.1:{}/metrics", metrics_port_));
  return page && page->is_string() ? std::string(page->as_string()) : std::string();
}

base::Task<void> ServedCluster::play_machines(std::stop_token stop) {
  while (!stop.stop_requested()) {
    for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
      co_await look_at(peer);
    }
    co_await base::sleep(thread_.loop, kLookAgain, stop);
  }
}

base::Task<void> ServedCluster::look_at(std::size_t peer) {
  net::ClientRequest request;
  request.url = peers_[peer].url + peers_[peer].machines_path;
  auto answer = co_await client_->send(std::move(request));
  if (!answer || answer->status != 200) {
    co_return;  // the next look will tell
  }
  for (const auto& machine : peers_[peer].read_machines(json::parse(answer->body))) {
    const auto& id = machine.instance.provider_id;
    if (before_.contains(id)) {
      continue;
    }
    if (!machine.is_gone && running_.insert(id).second) {
      world_->kubelet().launched(machine.instance, nullptr, kBootTime);
    }
    if (machine.is_gone && running_.erase(id) > 0) {
      world_->kubelet().terminated(id);
    }
  }
}

}  // namespace millwright::test
