// plane_latency [SECONDS [PODS_PER_SECOND...]]: the time from kube-scheduler's report that a pod is
// Unschedulable to the cloud's create call for the node bought for it, while pods come at a steady
// rate. Prints figures; nothing passes or fails.
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
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>

namespace {

using namespace millwright;
using plane::CloudProcess;
using plane::Controller;
using plane::Plane;
using plane::text_at;
namespace json = boost::json;

constexpr auto kSettleLimit = std::chrono::seconds(180);

// What kube-scheduler says of pods; the request's body says what.
constexpr const char* kAuditRules =
    "- {level: Request, verbs: [patch], resources: [{group: \"\", resources: [pods/status]}]}\n"
    "- {level: None}\n";

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
    if (!error && arrived && stored && schedulers) {
      reports.emplace(text_at(entry, "/objectRef/name"), Report{*arrived, *stored});
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

void print_times(const std::map<std::string, Report>& reports,
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
}

base::Result<> measure(int rate, int length) {
  plane::PlaneOptions options;
  // No controller manager runs: nobody makes ServiceAccounts or takes the first taints off.
  options.api_server_flags = {"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition"};
  options.audit = true;
  options.audit_rules = kAuditRules;
  MW_TRY(plane, Plane::start(std::move(options)));
  auto done = plane->start_kwok(std::chrono::seconds(3'600));
  done = done ? plane::apply_crds(*plane) : done;
  if (!done) {
    return done;
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
  if (!done) {
    return done;
  }
  plane->kubectl({"wait", "--for=condition=Ready", "nodepool", "--all", "--timeout=30s"});
  Purchases purchases;
  const plane::SteadyPods load(
      {.kubeconfig = plane->kubeconfig(),
       .rate = rate,
       .count = rate * length,
       .pod = pod,
       .on_claim = [&](const json::value& claim) { purchases.see_claim(claim); }});
  const bool settled = plane::wait_until(std::chrono::seconds(length) + kSettleLimit,
                                         [&] { return load.all_bound() || load.failed() > 0; });
  std::printf("%d pods/s for %d s: %.0f pods/s were accepted, %d bound%s\n", rate, length,
              load.made_per_second(), load.bound(), settled ? "" : " (not all in time)");
  print_times(read_reports(plane->directory() + "/audit.log"), purchases.claim_of(),
              cloud->instances());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const int length = argc > 1 ? std::atoi(argv[1]) : 30;
  std::vector<int> rates;
  for (int i = 2; i < argc; ++i) {
    rates.push_back(std::atoi(argv[i]));
  }
  if (rates.empty()) {
    rates = {100, 500};
  }
  for (const int rate : rates) {
    const auto measured = measure(rate, length);
    if (!measured) {
      std::fprintf(stderr, "plane_latency: %s\n", measured.error().message.c_str());
      return 1;
    }
    std::fflush(stdout);
  }
  return 0;
}
