#include "app/whatif/forecast_run.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::app {
namespace {

namespace json = boost::json;
using model::text_at;

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

std::string annotation_of(const json::value& object, std::string_view key) {
  return std::string(
      model::as_text(model::member(model::find_path(object, "metadata.annotations"), key)));
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

// Clouds stamp each NodeClaim with a hash of its NodeClass. That of a real cloud says nothing to a
// simulated one, so a claim that fits its class gets the simulated cloud's own.
json::value ForecastRun::stamped(const ClusterObject& each) const {
  json::value object = each.object;
  if (*each.resource != model::kNodeClaimResource) {
    return object;
  }
  const auto reference = reference_at(object, "spec.nodeClassRef");
  for (const auto* candidate : node_classes_) {
    if (reference_to(*candidate) != reference) {
      continue;
    }
    const auto profile = cloud_of(*candidate->resource);
    auto* cloud = profile ? cluster_->cloud(*profile) : nullptr;
    const auto node_class = model::decode<model::NodeClass>(candidate->object);
    if (cloud == nullptr || !node_class) {
      continue;
    }
    const auto stamp = cloud->stamp(*node_class);
    const bool fits = std::all_of(stamp.begin(), stamp.end(), [&](const auto& entry) {
      const auto on_claim = annotation_of(object, entry.first);
      return !on_claim.empty() && on_claim == annotation_of(candidate->object, entry.first);
    });
    if (fits) {
      auto& annotations = object.at("metadata").at("annotations").as_object();
      for (const auto& [key, value] : stamp) {
        annotations[key] = value;
      }
    }
  }
  return object;
}

base::Result<> ForecastRun::restore() {
  for (const auto& each : setup_.files.objects) {
    if (cloud_of(*each.resource)) {
      node_classes_.push_back(&each);
    }
  }
  auto& api = cluster_->world().api();
  for (const auto& each : setup_.files.objects) {
    const auto kind = std::string(each.resource->kind);
    auto object = stamped(each);
    const auto key = model::ObjectKey{std::string(text_at(object, "metadata.namespace")),
                                      std::string(text_at(object, "metadata.name"))};
    if (kind == "Namespace" && api.get(*each.resource, key)) {
      continue;  // every cluster has some
    }
    auto restored = api.restore(*each.resource, std::move(object));
    if (!restored) {
      return base::with_context(kind + " " + key.to_string() + " of the files",
                                std::move(restored).error());
    }
  }
  return adopt_machines();
}

cloud::SimulatedCloud* ForecastRun::cloud_serving(const model::NodeClassReference& ref) const {
  for (const auto profile : setup_.clouds) {
    auto* cloud = cluster_->cloud(profile);
    const auto served = cloud->node_classes();
    if (std::any_of(served.begin(), served.end(),
                    [&](const model::Resource& resource) { return ref.is_of(resource); })) {
      return cloud;
    }
  }
  return nullptr;
}

base::Result<> ForecastRun::adopt_machines() {
  for (const auto& object : cluster_->world().api().list(model::kNodeClaimResource)) {
    MW_TRY(claim, model::decode<model::NodeClaim>(*object));
    if (claim.provider_id.empty()) {
      continue;
    }
    if (auto* cloud = cloud_serving(claim.node_class_ref)) {
      cloud->adopt(std::make_shared<const model::NodeClaim>(std::move(claim)));
    }
  }
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
  if (auto restored = restore(); !restored) {
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
