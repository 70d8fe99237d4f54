#include "app/replay/replay_run.hpp"

#include "app/whatif/cluster/restoring.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::app {
namespace {

namespace json = boost::json;
using model::text_at;

constexpr auto kReplayStopLimit = std::chrono::hours(1);
constexpr auto kFirstListsLimit = std::chrono::minutes(10);
constexpr auto kApplyLimit = std::chrono::minutes(10);
// kube-controller-manager's limit.
constexpr double kPodsPerSecondOfSets = 20;
// Of Jobs that were not seen to end, and no heartbeat within any day.
constexpr auto kBeyondTheDay = std::chrono::hours(24 * 40);
constexpr std::size_t kMostRefusedTold = 5;

base::Task<void> stop_replay(Changes* changes, EmbeddedCluster* cluster, bool* stopped) {
  if (changes != nullptr) {
    co_await changes->stop();
  }
  co_await cluster->stop();
  *stopped = true;
}

base::Task<void> make_changes(Changes* changes, std::vector<ChangeAsked> asked,
                              std::optional<base::Result<>>* outcome) {
  *outcome = co_await changes->make(std::move(asked));
}

model::ObjectKey key_of_json(const json::value& object) {
  return {std::string(text_at(object, "metadata.namespace")),
          std::string(text_at(object, "metadata.name"))};
}

// All that was asked for, over what is there: controllers' annotations, finalizers and status stay.
void overwrite(json::value& current, const json::value& wish) {
  auto& members = current.as_object();
  for (const auto& [key, member] : wish.as_object()) {
    if (key != "metadata") {
      members[key] = member;
    }
  }
  auto& metadata = members.at("metadata").as_object();
  const auto& own = wish.at("metadata").as_object();
  if (const auto* labels = own.if_contains("labels")) {
    metadata["labels"] = *labels;
  } else {
    metadata.erase("labels");
  }
  if (const auto* annotations = own.if_contains("annotations");
      annotations != nullptr && annotations->is_object()) {
    auto& there = metadata["annotations"];
    auto& all = there.is_object() ? there.get_object() : there.emplace_object();
    for (const auto& [key, value] : annotations->get_object()) {
      all[key] = value;
    }
  }
}

std::string machine_id(const json::value& node) {
  const std::string id(text_at(node, "spec.providerID"));
  return id.empty() ? "node://" + std::string(text_at(node, "metadata.name")) : id;
}

}  // namespace

ReplayRun::ReplayRun(const ReplaySetup& setup)
    : setup_(setup), loop_(setup.day.start), group_(loop_) {}

ReplayRun::~ReplayRun() {
  stop();
}

void ReplayRun::stop() {
  if (cluster_) {
    bool stopped = false;
    group_.spawn(stop_replay(changes_.get(), cluster_.get(), &stopped));
    loop_.run_until([&] { return stopped; }, kReplayStopLimit);
    changes_.reset();
    cluster_.reset();
  }
}

base::Result<> ReplayRun::open() {
  EmbeddedOptions options;
  options.seed = setup_.seed;
  options.profiles = setup_.clouds;
  options.world.kubelet.lease_interval = kBeyondTheDay;
  options.world.kubelet.job_run_time = kBeyondTheDay;
  options.world.replica_pods_per_second = kPodsPerSecondOfSets;
  for (const auto profile : setup_.clouds) {
    auto settings = cloud::default_settings(profile);
    if (profile == cloud::Profile::Kwok) {
      settings.catalog_file = setup_.instance_types_file;
    }
    options.settings.emplace(profile, std::move(settings));
  }
  MW_TRY(made, EmbeddedCluster::make(loop_, compute_, std::move(options)));
  cluster_ = std::move(made);
  return restore_cluster(*cluster_, setup_.clouds, setup_.files.objects);
}

base::Result<> ReplayRun::apply_file() {
  std::vector<ChangeAsked> asked;
  for (const auto& [file, objects] : setup_.applied) {
    asked.emplace_back(ApplyFile{file});
    for (const auto& object : objects) {
      replaced_.emplace(text_at(object, "kind"), text_at(object, "metadata.name"));
    }
  }
  changes_ = std::make_unique<Changes>(*cluster_, setup_.clouds, setup_.applied);
  std::optional<base::Result<>> outcome;
  group_.spawn(make_changes(changes_.get(), std::move(asked), &outcome));
  loop_.run_until([&] { return outcome.has_value(); }, kApplyLimit);
  return outcome ? *std::move(outcome)
                 : base::fail(base::ErrorKind::Timeout, "the file is not applied in ten minutes");
}

base::Result<> ReplayRun::run() {
  if (auto opened = open(); !opened) {
    return opened;
  }
  loop_.run_ready();
  cluster_->start();
  const auto& state = cluster_->engine().state();
  loop_.run_until([&] { return state.latest()->synced; }, kFirstListsLimit);
  if (auto applied = apply_file(); !applied) {
    return applied;
  }
  for (const auto& step : setup_.day.steps) {
    if (step.at > loop_.now()) {
      loop_.run_until(step.at);
    }
    take(step);
  }
  if (setup_.day.end > loop_.now()) {
    loop_.run_until(setup_.day.end);
  }
  return {};
}

bool ReplayRun::is_replaced(const DayStep& step) const {
  return !step.object.resource->namespaced &&
         replaced_.contains({std::string(step.object.resource->kind),
                             std::string(text_at(step.object.object, "metadata.name"))});
}

void ReplayRun::take(const DayStep& step) {
  if (is_replaced(step)) {
    ++outvoted_;
    return;
  }
  const auto done = step.what == DayStep::What::Put ? put(*step.object.resource, step.object.object)
                                                    : remove(step);
  if (done) {
    return;
  }
  if (++refused_count_ <= kMostRefusedTold) {
    refused_.push_back(
        "line " + std::to_string(step.line) + ": " + std::string(step.object.resource->kind) + " " +
        key_of_json(step.object.object).to_string() + " is left out: " + done.error().message);
  }
}

void ReplayRun::make_namespace(std::string_view name) {
  auto& api = cluster_->world().api();
  if (!name.empty() && !api.get(model::kNamespaceResource, {{}, std::string(name)})) {
    json::value object{{"metadata", {{"name", name}}}};
    (void)api.create(model::kNamespaceResource, std::move(object));
  }
}

base::Result<> ReplayRun::put(const model::Resource& resource, const json::value& object) {
  if (resource == model::kNodeResource) {
    return put_node(object);
  }
  auto& api = cluster_->world().api();
  const auto key = key_of_json(object);
  make_namespace(key.namespace_);
  if (!api.get(resource, key)) {
    auto restored = api.restore(resource, object);
    return restored ? base::Result<>() : tl::unexpected(std::move(restored).error());
  }
  auto updated =
      api.update(resource, key, [&object](json::value& current) { overwrite(current, object); });
  const bool has_state = object.as_object().contains("status");
  if (updated && has_state) {
    updated = api.update(
        resource, key,
        [&object](json::value& current) { current.as_object()["status"] = object.at("status"); },
        "status");
  }
  return updated ? base::Result<>() : tl::unexpected(std::move(updated).error());
}

base::Result<> ReplayRun::put_node(const json::value& node) {
  auto& world = cluster_->world();
  const auto key = key_of_json(node);
  if (world.api().get(model::kNodeResource, key)) {
    return {};
  }
  auto restored = world.api().restore(model::kNodeResource, node);
  if (!restored) {
    return tl::unexpected(std::move(restored).error());
  }
  world.take_over(key.name);
  return {};
}

base::Result<> ReplayRun::remove(const DayStep& step) {
  const auto& resource = *step.object.resource;
  if (resource == model::kNodeResource) {
    cluster_->world().kubelet().terminated(machine_id(step.object.object));
  }
  auto removed = cluster_->world().api().remove(resource, key_of_json(step.object.object));
  return !removed && removed.error().kind == base::ErrorKind::NotFound ? base::Result<>()
                                                                       : std::move(removed);
}

std::optional<double> ReplayRun::price(const model::StringMap& labels) const {
  for (const auto profile : setup_.clouds) {
    const auto types = cluster_->cloud(profile)->instance_types({}, {});
    const auto price = types ? scheduling::price_of(*types, labels) : std::nullopt;
    if (price) {
      return price;
    }
  }
  return std::nullopt;
}

std::vector<std::string> ReplayRun::notes() const {
  auto notes = refused_;
  if (refused_count_ > refused_.size()) {
    notes.push_back(std::to_string(refused_count_ - refused_.size()) + " more are left out");
  }
  if (outvoted_ > 0) {
    notes.push_back(std::to_string(outvoted_) +
                    " recorded change(s) of what the given file replaces are left out");
  }
  return notes;
}

}  // namespace millwright::app
