// plane_throughput [PODS [NODES...]]: pods that the stock kube-scheduler binds per second, with and
// without the extender, on nodes that kwok plays; and how long the extender's own answers took. At
// its default client limits (a quarter of the pods), and at limits that it never reaches.
// Both are measured in turns on one control plane (without, with, with, without), so that what
// slows the machine slows both. Prints figures; nothing passes or fails.

#include "millwright/base/loop.hpp"
#include "millwright/kube/config.hpp"
#include "millwright/kube/informer.hpp"
#include "plane/runner/controller.hpp"
#include "plane/runner/histogram.hpp"
#include "plane/runner/plane_with_nodes.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>

namespace {

using namespace millwright;
using plane::Controller;
using plane::Plane;
using plane::text_at;
namespace json = boost::json;
using Clock = std::chrono::steady_clock;

constexpr auto kLimit = std::chrono::seconds(300);
// Requests a second that kube-scheduler allows itself: by default, and so many that it never waits.
constexpr int kDefaultQps = 50;
constexpr int kUnlimitedQps = 2'000;

// Never the same name twice: kwok may still be about to delete the one before.
json::value pod(int turn, int number) {
  return plane::small_pod(fmt::format("pod-{}-{:05}", turn, number));
}

// Counts pods as they are bound, on a thread of its own.
class Bindings {
 public:
  explicit Bindings(const std::string& kubeconfig) {
    auto config = kube::load_kubeconfig(kubeconfig);
    client_ = std::make_unique<kube::Client>(
        loop_, std::shared_ptr<kube::Transport>(
                   kube::make_transport(loop_, *std::move(config), base::Logger(), "throughput")));
    kube::InformerHandlers handlers;
    handlers.upsert = [this](const json::value& object) {
      if (!text_at(object, "/spec/nodeName").empty() &&
          bound_.insert(text_at(object, "/metadata/uid")).second) {
        const auto now = Clock::now().time_since_epoch().count();
        if (count_++ == 0) {
          first_ = now;
        }
        last_ = now;
      }
    };
    handlers.remove = [](const model::ObjectKey&, const std::string&) {};
    handlers.synced = [] {};
    const kube::InformerOptions options{.resource = model::kPodResource};
    group_.spawn(kube::run_informer(*client_, options, std::move(handlers), group_.stop_token()));
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~Bindings() {
    loop_.stop();
    thread_.join();
  }
  Bindings(const Bindings&) = delete;
  Bindings& operator=(const Bindings&) = delete;

  int count() const { return count_; }
  double per_second() const {
    const std::chrono::duration<double> took = Clock::duration(last_ - first_);
    return took.count() > 0 ? count_ / took.count() : 0;
  }

 private:
  base::RealLoop loop_;
  std::unique_ptr<kube::Client> client_;
  base::TaskGroup group_{loop_};
  std::set<std::string> bound_;
  std::atomic<int> count_{0};
  std::atomic<Clock::rep> first_{0};
  std::atomic<Clock::rep> last_{0};
  std::thread thread_;
};

// The value of a metric's line, labels and all; 0 when there is none.
double value_of(const std::string& metrics, const std::string& line) {
  const auto at = metrics.find("\n" + line + " ");
  return at == std::string::npos ? 0 : std::strtod(metrics.c_str() + at + line.size() + 2, nullptr);
}

// Mean time that kube-scheduler took to choose a node, calls of extenders included.
double milliseconds_per_pod(const std::string& metrics) {
  const std::string name = "scheduler_scheduling_algorithm_duration_seconds";
  const double pods = value_of(metrics, name + "_count");
  return pods > 0 ? 1000 * value_of(metrics, name + "_sum") / pods : 0;
}

base::Result<> in_time(bool done, std::string what) {
  return done ? base::Result<>() : base::fail(base::ErrorKind::Timeout, std::move(what));
}

enum class Wiring : std::uint8_t { None, FilterAlone, Whole };
constexpr const char* kNames[] = {"without", "filter alone", "with the extender"};

// What stands under "extenders" in kube-scheduler's configuration.
std::string extenders(Controller* controller, Wiring wiring) {
  if (controller == nullptr) {
    return "";
  }
  auto entries = json::parse(controller->extender());
  if (wiring == Wiring::FilterAlone) {
    for (auto& entry : entries.as_array()) {
      entry.as_object().erase("prioritizeVerb");
      entry.as_object().erase("weight");
    }
  }
  return json::serialize(entries);
}

struct Measured {
  double pods_per_second = 0;
  double milliseconds_per_pod = 0;  // of kube-scheduler's own thread of decisions
};

// The pods are there before the scheduler is, and gone afterwards. "Without" is without any of us:
// the controller, which watches the same objects, does not run either.
base::Result<Measured> measure(Plane& plane, int pods, Wiring wiring, int turn, int qps) {
  for (int i = 0; i < pods; ++i) {
    plane.call("POST", "/api/v1/namespaces/default/pods", pod(turn, i));
  }
  std::unique_ptr<Controller> controller;
  if (wiring != Wiring::None) {
    MW_TRY(started, Controller::start(plane, {}));
    controller = std::move(started);
    // The one before was killed: its lease has to run out.
    auto leads = in_time(plane::wait_until(kLimit, [&] { return controller->leads(); }),
                         "the controller does not lead");
    if (!leads) {
      return tl::unexpected(std::move(leads).error());
    }
  }
  Measured measured;
  {
    const Bindings bindings(plane.kubeconfig());
    auto done = plane.start_scheduler(extenders(controller.get(), wiring), qps);
    done = done ? in_time(plane::wait_until(kLimit, [&] { return bindings.count() >= pods; }),
                          "not all pods were bound")
                : done;
    if (!done) {
      return tl::unexpected(done.error());
    }
    measured.pods_per_second = bindings.per_second();
    measured.milliseconds_per_pod = milliseconds_per_pod(plane.scheduler_metrics());
  }
  if (wiring == Wiring::Whole) {
    const std::string metrics = controller->metrics();
    for (const std::string verb : {"filter", "prioritize"}) {
      const auto took =
          plane::Histogram::read(metrics, "millwright_extender_duration_seconds", verb);
      std::printf("    %-10s p50 <= %g ms, p99 <= %g ms in the server\n", verb.c_str(),
                  1000 * took.quantile(0.5), 1000 * took.quantile(0.99));
    }
  }
  plane.stop("kube-scheduler");
  plane.call("DELETE", "/api/v1/namespaces/default/pods?gracePeriodSeconds=0");
  auto done =
      in_time(plane::wait_until(
                  kLimit, [&] { return plane.list("/api/v1/namespaces/default/pods").empty(); }),
              "the pods do not go");
  if (!done) {
    return tl::unexpected(done.error());
  }
  return measured;
}

// Each wiring twice, so that what slows the machine slows all.
base::Result<> compare(Plane& plane, int pods, int qps, int& turn) {
  Measured sums[3];
  for (const Wiring wiring : {Wiring::None, Wiring::Whole, Wiring::FilterAlone, Wiring::FilterAlone,
                              Wiring::Whole, Wiring::None}) {
    MW_TRY(measured, measure(plane, pods, wiring, ++turn, qps));
    const auto at = static_cast<std::size_t>(wiring);
    sums[at].pods_per_second += measured.pods_per_second;
    sums[at].milliseconds_per_pod += measured.milliseconds_per_pod;
    std::printf("  %-18s %.0f pods bound per second, %.2f ms to choose a node\n", kNames[at],
                measured.pods_per_second, measured.milliseconds_per_pod);
    std::fflush(stdout);
  }
  for (const std::size_t at : {1, 2}) {
    std::printf("  %s: %.1f %% of the rate without, %.2f ms more to choose a node\n", kNames[at],
                100 * sums[at].pods_per_second / sums[0].pods_per_second,
                (sums[at].milliseconds_per_pod - sums[0].milliseconds_per_pod) / 2);
  }
  std::fflush(stdout);
  return {};
}

base::Result<> compare_on(int nodes, int pods) {
  MW_TRY(plane, plane::start_plane_with_nodes(nodes));
  int turn = 0;
  for (const int qps : {kDefaultQps, kUnlimitedQps}) {
    const int fewer = qps == kDefaultQps ? pods / 4 : pods;
    std::printf("%d pods on %d nodes, kube-scheduler at %d requests a second\n", fewer, nodes, qps);
    auto compared = compare(*plane, fewer, qps, turn);
    if (!compared) {
      return compared;
    }
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const int pods = argc > 1 ? std::atoi(argv[1]) : 2'000;
  std::vector<int> sizes;
  for (int i = 2; i < argc; ++i) {
    sizes.push_back(std::atoi(argv[i]));
  }
  if (sizes.empty()) {
    sizes = {1'000, 5'000};
  }
  for (const int nodes : sizes) {
    const auto compared = compare_on(nodes, pods);
    if (!compared) {
      std::fprintf(stderr, "plane_throughput: %s\n", compared.error().message.c_str());
      return 1;
    }
  }
  return 0;
}
