// plane_latency [--removal] [SECONDS [PODS_PER_SECOND...]]: the time from kube-scheduler's report
// that a pod is Unschedulable to the cloud's create call for the node bought for it, while pods
// come at a steady rate. Prints figures; nothing passes or fails.
//
// --removal: for each rate four times, without, with, with and without removal beside it. In all
// four a Deployment of another NodePool shrinks all the while, on some 350 nodes; only "with", that
// pool's nodes are consolidated. So what differs is removal itself: decisions, drains, deletions.
//
// Both ends are read from the wall clock of one machine. The beginning is in the API server's audit
// log, to the microsecond (a condition's own time has only seconds): when the report arrived, so
// that writing and telling it to us counts. The end is the simulated cloud's own record of the
// instance, which with --launch=0s is the moment of the call.

#include "millwright/cluster/ledger.hpp"
#include "millwright/model/codec.hpp"
#include "plane/runner/controller.hpp"
#include "plane/runner/steady_pods.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace millwright;
using plane::CloudProcess;
using plane::Controller;
using plane::Plane;
using plane::text_at;
namespace json = boost::json;

constexpr auto kSettleLimit = std::chrono::seconds(180);
constexpr const char* kDecisions =
    "karpenter_voluntary_disruption_decision_evaluation_duration_seconds_count";

// What kube-scheduler says of pods; the request's body says what.
constexpr const char* kAuditRules =
    "- {level: Request, verbs: [patch], resources: [{group: \"\", resources: [pods/status]}]}\n"
    "- {level: None}\n";

// Besides, what shrinks has a NodePool of its own, to which no other pod goes. Nodes of four CPUs
// take three of its pods each.
constexpr int kShrinking = 1'000;   // replicas at first
constexpr double kShrinksTo = 0.1;  // of them, at the end
constexpr auto kShrinkPause = std::chrono::milliseconds(250);
constexpr auto kShrinkingSettles = std::chrono::seconds(300);

enum class Removal : std::uint8_t { None, Off, On };  // None: nothing shrinks

std::string shrinking_objects(Removal removal) {
  return fmt::format(R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: shrinking}}
spec:
  disruption: {{consolidateAfter: {0}, budgets: [{{nodes: 100%}}]}}
  template:
    metadata: {{labels: {{role: shrinking}}}}
    spec:
      nodeClassRef: {{group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}
      taints: [{{key: role, value: shrinking, effect: NoSchedule}}]
      requirements:
      - {{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}}
      - {{key: kubernetes.io/arch, operator: In, values: [amd64]}}
      - {{key: karpenter.kwok.sh/instance-cpu, operator: In, values: ["1", "2", "4"]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: shrinking, namespace: default}}
spec:
  replicas: {1}
  selector: {{matchLabels: {{app: shrinking}}}}
  template:
    metadata: {{labels: {{app: shrinking}}}}
    spec:
      nodeSelector: {{role: shrinking}}
      tolerations: [{{key: role, value: shrinking}}]
      terminationGracePeriodSeconds: 0
      containers:
      - {{name: main, image: "registry.k8s.io/pause:3.10", resources: {{requests: {{cpu: "1"}}}}}}
)",
                     removal == Removal::On ? "0s" : "Never", kShrinking);
}

constexpr const char* kObjects = R"(apiVersion: karpenter.kwok.sh/v1alpha1
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
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
)";

json::value pod(const std::string& name) {
  const json::object container{{"name", "main"},
                               {"image", "registry.k8s.io/pause:3.10"},
                               {"resources", {{"requests", {{"cpu", "1"}, {"memory", "1Gi"}}}}}};
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"namespace", "default"}}},
          {"spec", {{"containers", json::array{container}}}}};
}

// Which claim was bought for a pod. Thread-safe.
class Purchases {
 public:
  void see_claim(const json::value& object) {
    const auto claim = model::decode<model::NodeClaim>(object);
    if (!claim) {
      return;
    }
    const auto reservations = cluster::decode_reservations(
        claim->meta.annotation(model::kReservationsAnnotation), claim->meta.name);
    const std::scoped_lock lock(mutex_);
    for (const auto& reservation : reservations.value_or(std::vector<scheduling::Reservation>{})) {
      claim_of_.emplace(reservation.sample.name, claim->meta.name);  // each pod is its own group
    }
  }
  // By the pod's name, so far.
  std::map<std::string, std::string> claim_of() {
    const std::scoped_lock lock(mutex_);
    return claim_of_;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> claim_of_;
};

// When kube-scheduler's first report on a pod arrived at the API server, and when it was stored.
struct Report {
  base::TimePoint arrived;
  base::TimePoint stored;
};

std::map<std::string, Report> read_reports(const std::string& audit_log) {
  std::map<std::string, Report> reports;
  std::ifstream lines(audit_log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(R"("reason":"Unschedulable")") == std::string::npos) {
      continue;
    }
    boost::system::error_code error;
    const auto entry = json::parse(line, error);
    const auto arrived = base::parse_rfc3339(text_at(entry, "/requestReceivedTimestamp"));
    const auto stored = base::parse_rfc3339(text_at(entry, "/stageTimestamp"));
    const bool schedulers = text_at(entry, "/userAgent").starts_with("kube-scheduler");
    const std::string name = text_at(entry, "/objectRef/name");
    if (!error && arrived && stored && schedulers && name.starts_with("pod-")) {
      reports.emplace(name, Report{*arrived, *stored});
    }
  }
  return reports;
}

double milliseconds_at(std::vector<double>& sorted, double share) {
  if (sorted.empty()) {
    return 0;
  }
  const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1));
  return sorted[at];
}

void print_line(const char* what, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  std::printf("  %-38s p50 %6.1f ms   p99 %6.1f ms   max %6.1f ms\n", what,
              milliseconds_at(times, 0.5), milliseconds_at(times, 0.99), milliseconds_at(times, 1));
}

// Returns the p99 from a report's arrival, in milliseconds.
double print_times(const std::map<std::string, Report>& reports,
                   const std::map<std::string, std::string>& claim_of,
                   const std::vector<json::value>& instances) {
  std::map<std::string, base::TimePoint> created;  // by claim
  for (const auto& instance : instances) {
    if (const auto at = base::parse_rfc3339(text_at(instance, "/launchedAt"))) {
      created.emplace(text_at(instance, "/nodeClaim"), *at);
    }
  }
  const auto between = [](base::TimePoint from, base::TimePoint to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
  };
  std::vector<double> from_arrival;
  std::vector<double> from_storing;
  std::pair<double, std::string> slowest;
  std::size_t early = 0;
  std::size_t unbought = 0;
  for (const auto& [name, report] : reports) {
    const auto claim = claim_of.find(name);
    const auto call = claim == claim_of.end() ? created.end() : created.find(claim->second);
    if (call == created.end()) {
      ++unbought;
    } else if (call->second < report.arrived) {
      ++early;
    } else {
      from_arrival.push_back(between(report.arrived, call->second));
      from_storing.push_back(std::max(0.0, between(report.stored, call->second)));
      slowest = std::max(slowest, {from_arrival.back(), name + " on " + claim->second});
    }
  }
  std::printf("  %zu pods reported Unschedulable; %zu create calls\n", reports.size(),
              created.size());
  std::printf(
      "  for %zu a node was bought because of it, for %zu one was on its way by then, %zu "
      "found room\n",
      from_arrival.size(), early, unbought);
  print_line("report arrived -> create call", from_arrival);
  print_line("report stored  -> create call", from_storing);
  std::printf("  the slowest: %s (MILLWRIGHT_KEEP=1 keeps what all parts said)\n",
              slowest.second.c_str());
  std::sort(from_arrival.begin(), from_arrival.end());
  return milliseconds_at(from_arrival, 0.99);
}

// Takes replicas away from the Deployment that shrinks, evenly over `length`.
class Shrinking {
 public:
  Shrinking(Plane& plane, std::chrono::seconds length) : plane_(plane), length_(length) {}

  void go_on() {
    const auto now = Clock::now();
    if (now < next_) {
      return;
    }
    next_ = now + kShrinkPause;
    const double done = std::min(
        1.0, std::chrono::duration<double>(now - begun_) / std::chrono::duration<double>(length_));
    const auto replicas = static_cast<int>(kShrinking * (1 - done * (1 - kShrinksTo)));
    if (std::exchange(replicas_, replicas) != replicas) {
      plane_.call("PATCH", "/apis/apps/v1/namespaces/default/deployments/shrinking",
                  {{"spec", {{"replicas", replicas}}}}, "application/merge-patch+json");
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  Plane& plane_;
  std::chrono::seconds length_;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point next_ = begun_;
  int replicas_ = kShrinking;
};

// What shrinks is there, with its nodes.
base::Result<> raise_shrinking(Plane& plane, Removal removal) {
  if (auto managed = plane.start_controller_manager(); !managed) {
    return managed;
  }
  plane.kubectl({"apply", "-f", "-"}, shrinking_objects(removal));
  const bool up = plane::wait_until(kShrinkingSettles, [&] {
    const auto answer = plane.call("GET", "/apis/apps/v1/namespaces/default/deployments/shrinking");
    boost::system::error_code error;
    const auto* available = answer.body.find_pointer("/status/availableReplicas", error);
    return available != nullptr && available->is_int64() && available->as_int64() == kShrinking;
  });
  if (!up) {
    return base::fail(base::ErrorKind::Timeout, "the Deployment that is to shrink did not come up");
  }
  return {};
}

// Returns the p99 from a report's arrival to the create call, in milliseconds.
base::Result<double> measure(int rate, int length, Removal removal) {
  plane::PlaneOptions options;
  // No controller manager runs: nobody makes ServiceAccounts or takes the first taints off.
  options.api_server_flags = {"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition"};
  options.audit = true;
  options.audit_rules = kAuditRules;
  MW_TRY(plane, Plane::start(std::move(options)));
  auto done = plane->start_kwok(std::chrono::seconds(3'600));
  done = done ? plane::apply_crds(*plane) : done;
  if (!done) {
    return tl::unexpected(done.error());
  }
  MW_TRY(cloud, CloudProcess::start(*plane, {"--launch=0s", "--boot=1s"}));
  MW_TRY(controller, Controller::start(*plane, {.name = "millwright",
                                                .clouds = "kwok",
                                                .flags = {},
                                                .kubeconfig = {},
                                                .cloud_url = cloud->url(),
                                                .environment = {}}));
  plane->kubectl({"apply", "-f", "-"}, kObjects);
  done = plane->start_scheduler(controller->extender());
  if (done && removal != Removal::None) {
    done = raise_shrinking(*plane, removal);
  }
  if (!done) {
    return tl::unexpected(done.error());
  }
  plane->kubectl({"wait", "--for=condition=Ready", "nodepool", "--all", "--timeout=30s"});
  Shrinking shrinking(*plane, std::chrono::seconds(length));
  Purchases purchases;
  const plane::SteadyPods load(
      {.kubeconfig = plane->kubeconfig(),
       .rate = rate,
       .count = rate * length,
       .pod = pod,
       .on_claim = [&](const json::value& claim) { purchases.see_claim(claim); }});
  const bool settled = plane::wait_until(std::chrono::seconds(length) + kSettleLimit, [&] {
    if (removal != Removal::None) {
      shrinking.go_on();
    }
    return load.all_bound() || load.failed() > 0;
  });
  std::printf("%d pods/s for %d s: %.0f pods/s were accepted, %d bound%s\n", rate, length,
              load.made_per_second(), load.bound(), settled ? "" : " (not all in time)");
  if (removal != Removal::None) {
    std::printf("  removal beside it: %.0f decisions, %.0f commands begun\n",
                controller->metric(kDecisions, R"(consolidation_type="empty")"),
                controller->metric("karpenter_voluntary_disruption_decisions_total"));
  }
  return print_times(read_reports(plane->directory() + "/audit.log"), purchases.claim_of(),
                     cloud->instances());
}

base::Result<> measure_beside_removal(int rate, int length) {
  std::map<Removal, std::vector<double>> p99;
  for (const auto removal : {Removal::Off, Removal::On, Removal::On, Removal::Off}) {
    std::printf("%s removal: ", removal == Removal::On ? "with" : "without");
    MW_TRY(found, measure(rate, length, removal));
    p99[removal].push_back(found);
    std::fflush(stdout);
  }
  const auto mean = [&](Removal removal) { return (p99[removal][0] + p99[removal][1]) / 2; };
  std::printf("%d pods/s: report arrived -> create call, p99 with removal %.2f x without\n", rate,
              mean(Removal::On) / mean(Removal::Off));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool beside_removal = std::erase(words, "--removal") > 0;
  std::vector<int> numbers;
  std::transform(words.begin(), words.end(), std::back_inserter(numbers),
                 [](const auto& word) { return std::atoi(word.c_str()); });
  const int length = numbers.empty() ? 30 : numbers.front();
  std::vector<int> rates(numbers.begin() + (numbers.empty() ? 0 : 1), numbers.end());
  if (rates.empty()) {
    rates = {100, 500};
  }
  for (const int rate : rates) {
    base::Result<> measured;
    if (beside_removal) {
      measured = measure_beside_removal(rate, length);
    } else if (const auto p99 = measure(rate, length, Removal::None); !p99) {
      measured = tl::unexpected(p99.error());
    }
    if (!measured) {
      std::fprintf(stderr, "plane_latency: %s\n", measured.error().message.c_str());
      return 1;
    }
    std::fflush(stdout);
  }
  return 0;
}
