#include "app/whatif/forecast_run.hpp"

#include "app/whatif/cluster/restoring.hpp"
#include "millwright/model/codec.hpp"

#include <algorithm>

namespace millwright::app {
namespace {

// Not that of any sandbox whose names are in the files.
constexpr std::uint64_t kForecastSeed = 7305;
constexpr auto kFirstLists = std::chrono::minutes(10);
// The controllers look by themselves every ten seconds, and nodes settle for fifteen.
constexpr auto kLeastQuiet = std::chrono::minutes(2);
constexpr auto kStopPatience = std::chrono::hours(1);
// kube-controller-manager's limit.
constexpr double kPodsPerSecond = 20;
// No heartbeat and no end of a Job within any forecast.
constexpr auto kLongerThanAny = std::chrono::hours(48);

base::Task<void> stop_all(Changes* changes, EmbeddedCluster* cluster, bool* stopped) {
  if (changes != nullptr) {
    co_await changes->stop();
  }
  co_await cluster->stop();
  *stopped = true;
}

base::Task<void> make_all(Changes* changes, std::vector<ChangeAsked> asked,
                          std::optional<base::Result<>>* outcome) {
  *outcome = co_await changes->make(std::move(asked));
}

}  // namespace

ForecastRun::ForecastRun(const ForecastSetup& setup)
    : setup_(setup), loop_(setup.start), group_(loop_), last_change_(setup.start) {}

ForecastRun::~ForecastRun() {
  stop();
}

void ForecastRun::stop() {
  if (cluster_) {
    bool stopped = false;
    group_.spawn(stop_all(changes_.get(), cluster_.get(), &stopped));
    loop_.run_until([&] { return stopped; }, kStopPatience);
    changes_.reset();
    cluster_.reset();
  }
}

void ForecastRun::note_decision(std::string_view line) {
  if (line.find("\"decision\":\"removal\"") == std::string_view::npos) {
    return;
  }
  if (const auto decision = telemetry::parse_decision_line(line)) {
    for (const auto& subject : decision->about) {
      removals_[subject.name] = decision->cause;
    }
  }
}

base::Result<> ForecastRun::open() {
  EmbeddedOptions options;
  options.seed = kForecastSeed;
  options.profiles = setup_.clouds;
  options.world.kubelet.lease_interval = kLongerThanAny;
  options.world.kubelet.job_run_time = kLongerThanAny;
  options.world.replica_pods_per_second = kPodsPerSecond;
  for (const auto profile : setup_.clouds) {
    auto settings = cloud::default_settings(profile);
    if (profile == cloud::Profile::Kwok) {
      settings.catalog_file = setup_.instance_types_file;
    }
    options.settings.emplace(profile, std::move(settings));
  }
  options.write_decision = [this](std::string_view line) { note_decision(line); };
  MW_TRY(made, EmbeddedCluster::make(loop_, compute_, std::move(options)));
  cluster_ = std::move(made);
  return {};
}

base::Duration ForecastRun::quiet_time() const {
  base::Duration longest{};
  for (const auto& object : cluster_->world().api().list(model::kNodePoolResource)) {
    if (const auto pool = model::decode<model::NodePool>(*object)) {
      longest = std::max(longest, pool->consolidate_after.value().value_or(base::Duration()));
    }
  }
  return longest + kLeastQuiet;
}

bool ForecastRun::is_machine_on_its_way() const {
  const auto& claims = cluster_->world().recorder().claims();
  return std::any_of(claims.begin(), claims.end(), [](const auto& entry) {
    return !entry.second.gone && entry.second.last->node_name.empty();
  });
}

base::Result<> ForecastRun::run(const std::vector<ChangeAsked>& changes) {
  if (auto opened = open(); !opened) {
    return opened;
  }
  if (auto restored = restore_cluster(*cluster_, setup_.clouds, setup_.files.objects); !restored) {
    return restored;
  }
  loop_.run_ready();
  const auto& recorder = cluster_->world().recorder();
  for (const auto& [uid, record] : recorder.nodes()) {
    nodes_before_.insert(uid);
  }
  for (const auto& [uid, record] : recorder.claims()) {
    claims_before_.insert(uid);
  }
  for (const auto& [uid, record] : recorder.pods()) {
    pods_before_.insert(uid);
  }
  before_ = size();
  for (const auto& node : present_nodes()) {
    prices_before_[node.line.node] = node.line.price;
  }
  cluster_->world().recorder().on_change([this] { last_change_ = loop_.now(); });
  cluster_->start();
  const auto& state = cluster_->engine().state();
  loop_.run_until([&] { return state.latest()->synced; }, kFirstLists);
  changes_ = std::make_unique<Changes>(*cluster_, setup_.clouds, setup_.applied);
  std::optional<base::Result<>> outcome;
  group_.spawn(make_all(changes_.get(), changes, &outcome));
  loop_.run_until([&] { return outcome.has_value(); }, setup_.horizon);
  if (outcome && !*outcome) {
    return *std::move(outcome);
  }
  const auto quiet = quiet_time();
  last_change_ = loop_.now();
  const auto left = setup_.start + setup_.horizon - loop_.now();
  settled_ = loop_.run_until(
      [&] { return loop_.now() - last_change_ >= quiet && !is_machine_on_its_way(); }, left);
  return {};
}

}  // namespace millwright::app
