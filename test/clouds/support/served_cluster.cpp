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

ServedCluster::ServedCluster(std::vector<Peer> peers) {
  std::string pattern = (std::filesystem::temp_directory_path() / "millwright-XXXXXX").string();
  directory_ = mkdtemp(pattern.data()) == nullptr ? std::string() : pattern;
  client_ = net::make_client(thread_.loop);
  machines_ = std::make_unique<PeerMachines>(*client_, std::move(peers));
  thread_.call([this] { world_ = std::make_unique<sandbox::World>(thread_.loop, quick_world()); });
}

ServedCluster::~ServedCluster() {
  program_.reset();  // before the API server that it would complain about
  thread_.call([this] {
    kubelets_.reset();
    endpoint_.reset();
    world_.reset();
  });
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

base::Result<> ServedCluster::start() {
  if (auto begun = machines_->begin(); !begun) {
    return begun;
  }
  MW_TRY(endpoint, sandbox::ApiEndpoint::start(world_->api()));
  endpoint_ = std::move(endpoint);
  const std::string kubeconfig = directory_ + "/kubeconfig";
  if (auto written = endpoint_->write_kubeconfig(kubeconfig); !written) {
    return written;
  }
  thread_.call([this] {
    world_->start();
    kubelets_ = std::make_unique<base::TaskGroup>(thread_.loop);
    kubelets_->spawn(machines_->play({.loop = thread_.loop,
                                      .client = *client_,
                                      .listener = world_->kubelet(),
                                      .boot_time = kBootTime},
                                     kubelets_->stop_token()));
  });
  return start_program(kubeconfig);
}

base::Result<> ServedCluster::start_program(const std::string& kubeconfig) {
  std::string clouds;
  std::vector<std::string> flags;
  std::map<std::string, std::string> environment;
  for (const auto& peer : machines_->peers()) {
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
        wait(kStartLimit, [&] { return !program_->running() || ask(*client_, ready).has_value(); });
    if (up && program_->running()) {
      return {};
    }
  }
  return base::fail(base::ErrorKind::Unavailable,
                    "the program did not get ready; it said:\n" + said());
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

std::vector<std::string> ServedCluster::problems() {
  auto found = machines_->problems();
  const auto log = program_->log_text();
  const auto page = metrics();
  for (const auto& peer : machines_->peers()) {
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
  const auto page = ask(*client_, fmt::format("http://127.0.0.1:{}/metrics", metrics_port_));
  return page && page->is_string() ? std::string(page->as_string()) : std::string();
}

}  // namespace millwright::test
