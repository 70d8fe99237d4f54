#include "plane/runner/plane.hpp"

#include "millwright/base/loop.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

namespace millwright::plane {
namespace {

constexpr auto kPlaneStartLimit = seconds(60);
constexpr auto kStopLimit = milliseconds(3'000);
constexpr auto kNap = milliseconds(40);
constexpr int kPlaneAttempts = 3;
// What a part is asked for without throttling itself.

constexpr std::string_view kAuditPolicy = R"(apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
)";
// Of ours only: the log stays small, and costs the API server nothing for anybody else.
constexpr std::string_view kAuditOurs =
    "- level: Metadata\n  users: [\"system:serviceaccount:millwright-system:millwright\", "
    "\"system:serviceaccount:millwright-system:millwright-scheduler\"]\n";
constexpr std::string_view kAuditEverything = "- level: Metadata\n";

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::string() : std::string(value);
}

base::Error not_up(const std::string& name, const Process& process) {
  return base::Error{.kind = base::ErrorKind::Unavailable,
                     .message = name + " did not come up; " + process.spec().log + " ends with:\n" +
                                process.log_tail()};
}

}  // namespace

bool wait_until(seconds limit, const std::function<bool()>& seen) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!seen()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(kNap);
  }
  return true;
}

std::string text_at(const json::value& object, std::string_view pointer) {
  boost::system::error_code error;
  const auto* found = object.find_pointer(pointer, error);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

base::Result<std::unique_ptr<Plane>> Plane::start(PlaneOptions options) {
  std::unique_ptr<Plane> plane(new Plane());
  plane->options_ = std::move(options);
  auto started = plane->prepare();
  if (started) {
    started = plane->start_etcd();
  }
  if (started) {
    started = plane->start_api_server();
  }
  if (!started) {
    return tl::unexpected(std::move(started).error());
  }
  return plane;
}

Plane::~Plane() {
  // etcd last: the others only fill their logs with complaints without it.
  const auto etcd = parts_.extract("etcd");
  parts_.clear();
  keep_audit_log();
  if (environment("MILLWRIGHT_KEEP").empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
}

void Plane::keep_audit_log() const {
  const std::string folder = environment("MILLWRIGHT_AUDIT");
  std::error_code ignored;
  if (!folder.empty() && std::filesystem::exists(directory_ + "/audit.log", ignored)) {
    const auto name = std::filesystem::path(directory_).filename().string() + ".log";
    std::filesystem::create_directories(folder, ignored);
    std::filesystem::copy_file(directory_ + "/audit.log", folder + "/" + name, ignored);
  }
}

base::Result<> Plane::prepare() {
  programs_ = environment("MILLWRIGHT_PLANE");
  if (programs_.empty()) {
    return base::fail(base::ErrorKind::NotFound,
                      "MILLWRIGHT_PLANE does not name the folder of the control plane's programs: "
                      "run scripts/test plane, or set it to what scripts/plane prints");
  }
  std::string pattern = (std::filesystem::temp_directory_path() / "millwright-plane-XXXXXX");
  if (mkdtemp(pattern.data()) == nullptr) {
    return base::fail(base::ErrorKind::Unavailable, "cannot make the folder " + pattern);
  }
  directory_ = pattern;
  certs::Policy policy{.common_name = "plane",
                       .dns_names = {"localhost", "kubernetes"},
                       .ip_addresses = {"127.0.0.1"}};
  // A cluster is older than any error of a clock: certificates hold for a process that is an hour
  // behind.
  policy.backdate = std::chrono::hours(24);
  MW_TRY(bundle, certs::reconcile(std::nullopt, policy, base::system_now()));
  bundle_ = std::move(bundle);
  write_text(directory_ + "/ca.crt", bundle_.ca.certificate_pem);
  write_text(directory_ + "/server.crt", bundle_.leaf.certificate_pem);
  write_text(directory_ + "/server.key", bundle_.leaf.key_pem);
  std::string rules = options_.audit_rules;
  rules += kAuditOurs;
  rules += options_.audit && options_.audit_rules.empty() ? kAuditEverything : std::string_view();
  write_text(directory_ + "/audit-policy.yaml", std::string(kAuditPolicy) + rules);
  return {};
}

base::Result<> Plane::start_part(const std::string& name, std::vector<std::string> arguments,
                                 const std::function<bool()>& ready,
                                 const std::string& executable) {
  MW_TRY(process, Process::start({.program = program(executable.empty() ? name : executable),
                                  .arguments = std::move(arguments),
                                  .environment = {{"HOME", directory_}},
                                  .log = directory_ + "/" + name + ".log",
                                  .input = {},
                                  .append_log = true}));
  auto& part = *(parts_[name] = std::move(process));
  const bool up =
      wait_until(kPlaneStartLimit, [&] { return !part.running() || !ready || ready(); });
  if (!up || !part.running()) {
    auto error = not_up(name, part);
    parts_.erase(name);
    return tl::unexpected(std::move(error));
  }
  return {};
}

base::Result<> Plane::start_etcd() {
  base::Result<> started;
  for (int attempt = 0; attempt < kPlaneAttempts; ++attempt) {
    etcd_port_ = free_port();
    const std::string client = fmt::format("http://127.0.0.1:{}", etcd_port_);
    const std::string peer = fmt::format("http://127.0.0.1:{}", free_port());
    const auto ready = [this] {
      return read_text(directory_ + "/etcd.log").find("serving client traffic") !=
             std::string::npos;
    };
    started = start_part("etcd",
                         {"--data-dir", directory_ + "/etcd", "--unsafe-no-fsync",
                          "--listen-client-urls", client, "--advertise-client-urls", client,
                          "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                          "--initial-cluster", "default=" + peer, "--log-level", "info"},
                         ready);
    if (started) {
      return {};
    }
  }
  return started;
}

base::Result<> Plane::start_api_server() {
  const std::string dir = directory_ + "/";
  if (client_ == nullptr) {
    const certs::Validity validity{.not_before = base::system_now() - std::chrono::minutes(5),
                                   .not_after = base::system_now() + std::chrono::hours(240)};
    MW_TRY(admin, certs::make_client_leaf(bundle_.ca, "admin", {"system:masters"}, validity));
    loop_ = std::make_unique<base::RealLoop>();
    admin_tls_ = {.ca_pem = bundle_.ca.certificate_pem,
                  .certificate_pem = admin.certificate_pem,
                  .key_pem = admin.key_pem};
    client_ = net::make_client(*loop_, admin_tls_);
    api_port_ = free_port();
    url_ = fmt::format("https://127.0.0.1:{}", api_port_);
    write_kubeconfig(kubeconfig(), admin);
  }
  std::vector<std::string> arguments{"--bind-address=127.0.0.1",
                                     fmt::format("--secure-port={}", api_port_),
                                     fmt::format("--etcd-servers=http://127.0.0.1:{}", etcd_port_),
                                     "--tls-cert-file=" + dir + "server.crt",
                                     "--tls-private-key-file=" + dir + "server.key",
                                     "--client-ca-file=" + dir + "ca.crt",
                                     "--requestheader-client-ca-file=" + dir + "ca.crt",
                                     "--requestheader-allowed-names=front-proxy",
                                     "--cert-dir=" + dir,
                                     "--service-account-key-file=" + dir + "server.crt",
                                     "--service-account-signing-key-file=" + dir + "server.key",
                                     "--service-account-issuer=https://kubernetes.default.svc",
                                     "--service-cluster-ip-range=10.96.0.0/16",
                                     "--endpoint-reconciler-type=none",
                                     "--authorization-mode=Node,RBAC",
                                     "--max-requests-inflight=2000",
                                     "--max-mutating-requests-inflight=1000",
                                     "--audit-policy-file=" + dir + "audit-policy.yaml",
                                     "--audit-log-path=" + dir + "audit.log"};
  arguments.insert(arguments.end(), options_.api_server_flags.begin(),
                   options_.api_server_flags.end());
  const auto ready = [this] { return call("GET", "/readyz").status == 200; };
  return start_part("kube-apiserver", std::move(arguments), ready);
}

base::Result<> Plane::restart_api_server() {
  stop("kube-apiserver");  // SIGKILL: it would drain for more than a minute
  return start_api_server();
}

base::Result<> Plane::compact_etcd() {
  // Etcd's own API, as JSON: etcd's gRPC gateway.
  const auto ask = [this](const std::string& path, const json::value& body) {
    net::ClientRequest request;
    request.method = "POST";
    request.url = fmt::format("http://127.0.0.1:{}{}", etcd_port_, path);
    request.body = json::serialize(body);
    return client_->send_blocking(std::move(request));
  };
  MW_TRY(status, ask("/v3/maintenance/status", json::object{}));
  boost::system::error_code error;
  const std::string revision = text_at(json::parse(status.body, error), "/header/revision");
  if (error || revision.empty()) {
    return base::fail(base::ErrorKind::Unavailable, "etcd's status: " + status.body);
  }
  MW_TRY(compacted,
         ask("/v3/kv/compaction", json::object{{"revision", revision}, {"physical", true}}));
  if (compacted.status != 200) {
    return base::fail(base::ErrorKind::Unavailable, "etcd's compaction: " + compacted.body);
  }
  return {};
}

base::Result<> Plane::start_controller_manager(int qps) {
  // Pods can be created once the namespace has its ServiceAccount.
  const auto ready = [this] {
    return call("GET", "/api/v1/namespaces/default/serviceaccounts/default").status == 200;
  };
  return start_part(
      "kube-controller-manager",
      {"--kubeconfig=" + kubeconfig(), "--leader-elect=false", "--secure-port=0",
       "--service-account-private-key-file=" + directory_ + "/server.key",
       "--root-ca-file=" + directory_ + "/ca.crt", "--use-service-account-credentials=false",
       fmt::format("--kube-api-qps={}", qps), fmt::format("--kube-api-burst={}", qps * 3 / 2)},
      ready);
}

base::Result<> Plane::start_kwok(seconds lease) {
  MW_TRY(stages, Process::start({.program = program("stages"),
                                 .arguments = {},
                                 .environment = {},
                                 .log = directory_ + "/stages.yaml",
                                 .input = {}}));
  stages->wait(milliseconds(30'000));
  const auto ready = [this] {
    return read_text(directory_ + "/kwok.log").find("Watch nodes") != std::string::npos;
  };
  return start_part(
      "kwok",
      {"--kubeconfig=" + kubeconfig(), "--config=" + directory_ + "/stages.yaml",
       "--manage-all-nodes=false", "--manage-nodes-with-label-selector=kwok.x-k8s.io/node=fake",
       fmt::format("--node-lease-duration-seconds={}", lease.count()), "--cidr=10.0.0.1/16",
       "--node-ip=10.0.0.1"},
      ready);
}

base::Result<> Plane::start_scheduler(const std::string& extenders, int qps) {
  const std::string configuration = fmt::format(
      "apiVersion: kubescheduler.config.k8s.io/v1\n"
      "kind: KubeSchedulerConfiguration\n"
      "clientConnection: {{kubeconfig: {}, qps: {}, burst: {}}}\n"
      "leaderElection: {{leaderElect: false}}\n"
      "extenders: {}\n",
      kubeconfig(), qps, 2 * qps, extenders.empty() ? std::string("[]") : extenders);
  return run_scheduler("kube-scheduler", configuration, kubeconfig());
}

base::Result<> Plane::start_second_scheduler(const std::string& configuration,
                                             const std::string& kubeconfig) {
  return run_scheduler(
      "second-scheduler",
      configuration + fmt::format("clientConnection: {{kubeconfig: {}}}\n", kubeconfig),
      kubeconfig);
}

base::Result<> Plane::run_scheduler(const std::string& part, const std::string& configuration,
                                    const std::string& kubeconfig) {
  const std::string path = directory_ + "/" + part + ".yaml";
  write_text(path, configuration);
  scheduler_port_ = free_port();
  const auto ready = [this] {
    const auto response = ask_scheduler("readyz");
    return response && response->status == 200;
  };
  return start_part(
      part,
      {"--config=" + path, "--bind-address=127.0.0.1",
       fmt::format("--secure-port={}", scheduler_port_),
       "--tls-cert-file=" + directory_ + "/server.crt",
       "--tls-private-key-file=" + directory_ + "/server.key",
       "--authorization-always-allow-paths=/readyz,/metrics",
       "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig},
      ready, "kube-scheduler");
}

base::Result<net::Response> Plane::ask_scheduler(const std::string& path) {
  net::ClientRequest request;
  request.url = fmt::format("https://127.0.0.1:{}/{}", scheduler_port_, path);
  return client_->send_blocking(std::move(request));
}

std::string Plane::scheduler_metrics() {
  const auto response = ask_scheduler("metrics");
  return response && response->status == 200 ? response->body : "";
}

Process* Plane::part(const std::string& name) {
  const auto found = parts_.find(name);
  return found == parts_.end() ? nullptr : found->second.get();
}

}  // namespace millwright::plane
