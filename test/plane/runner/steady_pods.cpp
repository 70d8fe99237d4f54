#include "plane/runner/steady_pods.hpp"

#include "millwright/base/loop.hpp"
#include "millwright/kube/config.hpp"
#include "millwright/kube/informer.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

namespace millwright::plane {

struct SteadyPods::Work {
  explicit Work(SteadyPodsOptions what) : options(std::move(what)) {
    auto config = kube::load_kubeconfig(options.kubeconfig);
    client = std::make_unique<kube::Client>(
        loop, std::shared_ptr<kube::Transport>(
                  kube::make_transport(loop, *std::move(config), base::Logger(), "steady-pods")));
    watch(model::kPodResource, [this](const json::value& object) { see(object); });
    if (options.on_claim) {
      watch(model::kNodeClaimResource, options.on_claim);
    }
    begun = loop.now();
    loop.post([this] { make_due(); });
    thread = std::thread([this] { loop.run(); });
  }
  ~Work() {
    loop.stop();
    thread.join();
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  void watch(model::Resource resource, std::function<void(const json::value&)> upsert) {
    kube::InformerHandlers handlers;
    handlers.upsert = std::move(upsert);
    handlers.remove = [](const model::ObjectKey&, const std::string&) {};
    handlers.synced = [] {};
    const kube::InformerOptions how{.resource = resource};
    group.spawn(kube::run_informer(*client, how, std::move(handlers), group.stop_token()));
  }
  void see(const json::value& pod) {
    const std::string name = text_at(pod, "/metadata/name");
    if (name.starts_with(options.prefix) && !text_at(pod, "/spec/nodeName").empty()) {
      bound_names.insert(name);
      bound = static_cast<int>(bound_names.size());
    }
  }
  // By the clock, whatever the server takes to answer: a slow server must not thin out the load.
  void make_due() {
    const std::chrono::duration<double> since = loop.now() - begun;
    const int due = std::min(options.count, static_cast<int>(since.count() * options.rate) + 1);
    while (made < due) {
      group.spawn(make(made++));
    }
    if (made < options.count) {
      loop.after(std::chrono::milliseconds(2), [this] { make_due(); });
    }
  }
  base::Task<void> make(int number) {
    auto object = options.pod(fmt::format("{}-{:06}", options.prefix, number));
    const auto created =
        co_await client->create(model::kPodResource, std::move(object), group.stop_token());
    failed += created ? 0 : 1;
    const std::chrono::duration<double> since = loop.now() - begun;
    made_in = since.count();
  }

  SteadyPodsOptions options;
  base::RealLoop loop;
  std::unique_ptr<kube::Client> client;
  base::TaskGroup group{loop};
  base::TimePoint begun;
  int made = 0;
  std::atomic<int> failed{0};
  std::atomic<int> bound{0};
  std::atomic<double> made_in{1};
  std::set<std::string> bound_names;
  std::thread thread;
};

SteadyPods::SteadyPods(SteadyPodsOptions options)
    : work_(std::make_unique<Work>(std::move(options))) {}

SteadyPods::~SteadyPods() = default;

bool SteadyPods::all_bound() const {
  return work_->bound >= work_->options.count;
}

int SteadyPods::bound() const {
  return work_->bound;
}

int SteadyPods::failed() const {
  return work_->failed;
}

double SteadyPods::made_per_second() const {
  return work_->options.count / work_->made_in.load();
}

}  // namespace millwright::plane
