#include "plane/flood/scene.hpp"

#include "millwright/model/quantity.hpp"
#include "plane/runner/histogram.hpp"
#include "plane/runner/plane_with_nodes.hpp"
#include "plane/runner/steady_pods.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace millwright::plane {
namespace {

constexpr auto kLeadLimit = seconds(30);
constexpr auto kRoundLimit = seconds(300);
constexpr const char* kFilterTime = "millwright_extender_duration_seconds";
constexpr const char* kFilterVerb = "verb=\"filter\"";
constexpr const char* kChoiceTime = "scheduler_scheduling_algorithm_duration_seconds";
constexpr double kMillis = 1000;
// What many container runtimes start a process with.
constexpr rlim_t kFewFiles = 1024;

// The limits of the ports (docs/architecture.md).
constexpr std::size_t kFilterBody = 2U << 20;
constexpr std::size_t kReviewBody = 8U << 20;
constexpr std::size_t kPlainBody = 4U << 10;

constexpr const char* kPool = R"(apiVersion: karpenter.kwok.sh/v1alpha1
kind: KWOKNodeClass
metadata: {name: default}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  disruption: {consolidateAfter: Never}
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
)";

// Processes that are started meanwhile may have few files open.
class FewFiles {
 public:
  FewFiles() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = std::min(before_.rlim_cur, kFewFiles);
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

 private:
  rlimit before_{};
};

std::string proc_file(pid_t pid, const std::string& name) {
  return fmt::format("/proc/{}/{}", pid, name);
}

// From now on the most memory that was resident is counted anew.
void forget_peak(pid_t pid) {
  std::ofstream(proc_file(pid, "clear_refs")) << "5";
}

long peak_kib_of(pid_t pid) {
  const std::string field = "VmHWM:";
  std::ifstream status(proc_file(pid, "status"));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) {
      return std::strtol(line.c_str() + field.size(), nullptr, 10);
    }
  }
  return 0;
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

json::array node_names(int count) {
  json::array names;
  for (int i = 0; i < count; ++i) {
    names.emplace_back(name_of_node(i));
  }
  return names;
}

// A port that is flooded may be asked twice.
template <class Ask>
std::string page_of(Ask ask) {
  std::string page;
  wait_until(seconds(30), [&] {
    page = ask();
    return !page.empty();
  });
  return page;
}

// Both pages before and after a round.
class Times {
 public:
  explicit Times(Controller& controller, Plane& plane)
      : filter_(read_filter(controller)), choice_(read_choice(plane)) {}
  void tell(Controller& controller, Plane& plane, Outcome& outcome) const {
    const Histogram served = read_filter(controller).since(filter_);
    outcome.served_p50 = kMillis * served.quantile(0.5);
    outcome.served_p99 = kMillis * served.quantile(0.99);
    outcome.chosen_p99 = kMillis * read_choice(plane).since(choice_).quantile(0.99);
  }

 private:
  static Histogram read_filter(Controller& controller) {
    return Histogram::read(page_of([&] { return controller.metrics(); }), kFilterTime, kFilterVerb);
  }
  static Histogram read_choice(Plane& plane) {
    return Histogram::read(page_of([&] { return plane.scheduler_metrics(); }), kChoiceTime);
  }
  Histogram filter_;
  Histogram choice_;
};

}  // namespace

base::Result<std::unique_ptr<Scene>> Scene::start(SceneOptions options) {
  std::unique_ptr<Scene> scene(new Scene());
  auto started = scene->start_parts(options);
  if (!started) {
    return tl::unexpected(std::move(started).error());
  }
  return scene;
}

base::Result<> Scene::start_parts(const SceneOptions& options) {
  nodes_ = options.nodes;
  MW_TRY(plane, start_plane_with_nodes(options.nodes));
  plane_ = std::move(plane);
  {
    const FewFiles few;
    MW_TRY(controller, Controller::start(*plane_, {}));
    controller_ = std::move(controller);
  }
  if (const Output applied = plane_->kubectl({"apply", "-f", "-"}, kPool); applied.exit_code != 0) {
    return base::fail(base::ErrorKind::Invalid, applied.text);
  }
  if (!wait_until(kLeadLimit, [this] { return controller_->leads(); })) {
    return base::fail(base::ErrorKind::Timeout, "the controller does not lead");
  }
  auto stanza = json::parse(controller_->extender());
  stanza.as_array().front().as_object()["httpTimeout"] = options.http_timeout;
  return plane_->start_scheduler(json::serialize(stanza));
}

std::vector<Victim> Scene::victims(const Flood& flood) {
  const Victim extender{.name = "extender",
                        .port = controller_->extender_port(),
                        .tls = true,
                        .path = "/scheduler/filter",
                        .body_limit = kFilterBody};
  std::vector<Victim> victims{extender,
                              {.name = "webhooks",
                               .port = controller_->serving_port(),
                               .tls = true,
                               .path = "/validate",
                               .body_limit = kReviewBody},
                              {.name = "metrics",
                               .port = controller_->metrics_port(),
                               .path = "/metrics",
                               .body_limit = kPlainBody},
                              {.name = "health",
                               .port = controller_->health_port(),
                               .path = "/healthz",
                               .body_limit = kPlainBody}};
  if (flood.with_certificate) {
    const net::ClientTls stolen = controller_->scheduler_tls();
    Victim known = extender;
    known.name = "extender, with its certificate";
    known.certificate_pem = stolen.certificate_pem;
    known.key_pem = stolen.key_pem;
    victims.push_back(std::move(known));
  }
  return victims;
}

std::unique_ptr<Attacker> Scene::attack(const Flood& flood) {
  if (flood.assaults.empty()) {
    return nullptr;
  }
  std::vector<std::string> nodes;
  for (int i = 0; i < nodes_; ++i) {
    nodes.push_back(name_of_node(i));
  }
  auto attacker = Attacker::start(victims(flood), flood.assaults, std::move(nodes));
  return attacker ? *std::move(attacker) : nullptr;
}

// Always about the same pod: its attempts replace one another.
SteadyCallerOptions Scene::caller() {
  const json::object pod{
      {"metadata", {{"name", "beside"}, {"namespace", "default"}, {"uid", "beside"}}},
      {"spec", {{"containers", json::array()}}}};
  return {.tls = controller_->scheduler_tls(),
          .url = fmt::format("https://127.0.0.1:{}/scheduler/filter", controller_->extender_port()),
          .body = json::serialize(
              json::object{{"Pod", pod}, {"Nodes", nullptr}, {"NodeNames", node_names(nodes_)}})};
}

std::size_t Scene::skipped_calls() {
  auto* const scheduler = plane_->part("kube-scheduler");
  return scheduler == nullptr ? 0 : occurrences(scheduler->log_text(), "Skipping extender");
}

Outcome Scene::play(const Round& round) {
  Outcome outcome;
  const pid_t pid = controller_->process().pid();
  const std::size_t skipped_before = skipped_calls();
  const Times times(*controller_, *plane_);
  forget_peak(pid);
  auto attacker = attack(round.flood);
  SteadyCaller beside(caller());
  const SteadyPods pods({.kubeconfig = plane_->kubeconfig(),
                         .prefix = round.name,
                         .rate = round.pods_per_second,
                         .count = round.pods,
                         .pod = small_pod,
                         .on_claim = {}});
  int unready = 0;
  outcome.settled = wait_until(kRoundLimit, [&] {
    unready = controller_->ready() ? 0 : unready + 1;
    outcome.unready_in_a_row = std::max(outcome.unready_in_a_row, unready);
    const bool struck =
        attacker == nullptr || attacker->fewest_strikes() >= round.flood.strikes_of_each;
    return pods.all_bound() && struck;
  });
  outcome.calls = beside.finish();
  outcome.peak_kib = peak_kib_of(pid);
  if (attacker != nullptr) {
    outcome.strikes = attacker->strikes();
    outcome.fewest_strikes = attacker->fewest_strikes();
    outcome.answers = attacker->answers();
    attacker.reset();
  }
  outcome.bound = pods.bound();
  outcome.skipped = skipped_calls() - skipped_before;
  outcome.claims = plane_->list("/apis/karpenter.sh/v1/nodeclaims").size();
  times.tell(*controller_, *plane_, outcome);
  return outcome;
}

long Scene::memory_limit_kib() {
  const auto objects = install_objects(*plane_, {"--no-crds"});
  for (const auto& object : objects.value_or(std::vector<json::value>{})) {
    const auto limit = model::Quantity::parse(
        text_at(object, "/spec/template/spec/containers/0/resources/limits/memory"));
    if (text_at(object, "/kind") == "Deployment" && limit) {
      return static_cast<long>(limit->units() / 1024);
    }
  }
  return 0;
}

}  // namespace millwright::plane
