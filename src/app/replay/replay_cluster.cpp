#include "app/replay/replay_cluster.hpp"

#include "app/whatif/cluster/restoring.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <utility>

namespace millwright::app {
namespace {

namespace json = boost::json;
using model::text_at;

// Of Jobs that were not seen to end, and no heartbeat within any day.
constexpr auto kBeyondTheDay = std::chrono::hours(24 * 40);
constexpr std::size_t kMostRefusedTold = 5;

EmbeddedOptions embedded_options(ReplayClusterOptions options) {
  EmbeddedOptions embedded;
  embedded.seed = options.seed;
  embedded.profiles = options.clouds;
  embedded.controllers = std::move(options.controllers);
  embedded.policy = options.policy;
  embedded.extender = options.extender;
  embedded.write_decision = std::move(options.write_decision);
  embedded.log = std::move(options.log);
  const auto& pace = options.pace;
  auto& kubelet = embedded.world.kubelet;
  kubelet.lease_interval = kBeyondTheDay;
  kubelet.job_run_time = kBeyondTheDay;
  kubelet.ready_after = pace.node_ready.value_or(kubelet.ready_after);
  kubelet.pod_start = pace.pod_start.value_or(kubelet.pod_start);
  kubelet.pod_stop = pace.pod_stop.value_or(kubelet.pod_stop);
  kubelet.pod_removal = pace.pod_removal.value_or(kubelet.pod_removal);
  embedded.world.replica_pods_per_second =
      pace.replica_pods_per_second.value_or(kReplicaPodsPerSecond);
  embedded.world.replica_burst = kReplicaBurst;
  for (const auto profile : embedded.profiles) {
    auto settings = cloud::default_settings(profile);
    settings.launch = pace.launch.value_or(settings.launch);
    settings.boot = pace.boot.value_or(settings.boot);
    if (profile == cloud::Profile::Kwok) {
      settings.catalog_file = options.instance_types_file;
    }
    embedded.settings.emplace(profile, std::move(settings));
  }
  return embedded;
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

base::Result<std::unique_ptr<ReplayCluster>> ReplayCluster::make(
    base::Loop& loop, base::Compute& compute, ReplayClusterOptions options,
    const std::vector<ClusterObject>& first) {
  auto clouds = options.clouds;
  MW_TRY(made, EmbeddedCluster::make(loop, compute, embedded_options(std::move(options))));
  if (auto restored = restore_cluster(*made, clouds, first); !restored) {
    return tl::unexpected(std::move(restored).error());
  }
  return std::unique_ptr<ReplayCluster>(new ReplayCluster(std::move(clouds), std::move(made)));
}

void ReplayCluster::take(const DayStep& step) {
  const auto done = step.what == DayStep::What::Put ? put(*step.object.resource, step.object.object)
                                                    : remove(step);
  if (done) {
    return;
  }
  if (++refused_count_ <= kMostRefusedTold) {
    refused_.push_back((step.line == 0 ? "" : "line " + std::to_string(step.line) + ": ") +
                       std::string(step.object.resource->kind) + " " +
                       key_of_json(step.object.object).to_string() +
                       " is left out: " + done.error().message);
  }
}

void ReplayCluster::make_namespace(std::string_view name) {
  auto& api = cluster_->world().api();
  if (!name.empty() && !api.get(model::kNamespaceResource, {{}, std::string(name)})) {
    json::value object{{"metadata", {{"name", name}}}};
    (void)api.create(model::kNamespaceResource, std::move(object));
  }
}

base::Result<> ReplayCluster::put(const model::Resource& resource, const json::value& object) {
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

base::Result<> ReplayCluster::put_node(const json::value& node) {
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

base::Result<> ReplayCluster::remove(const DayStep& step) {
  const auto& resource = *step.object.resource;
  if (resource == model::kNodeResource) {
    cluster_->world().kubelet().terminated(machine_id(step.object.object));
  }
  auto removed = cluster_->world().api().remove(resource, key_of_json(step.object.object));
  return !removed && removed.error().kind == base::ErrorKind::NotFound ? base::Result<>()
                                                                       : std::move(removed);
}

std::optional<double> ReplayCluster::price(const model::StringMap& labels) const {
  for (const auto profile : clouds_) {
    const auto types = cluster_->cloud(profile)->instance_types({}, {});
    const auto price = types ? scheduling::price_of(*types, labels) : std::nullopt;
    if (price) {
      return price;
    }
  }
  return std::nullopt;
}

std::vector<std::string> ReplayCluster::notes() const {
  auto notes = refused_;
  if (refused_count_ > refused_.size()) {
    notes.push_back(std::to_string(refused_count_ - refused_.size()) + " more are left out");
  }
  return notes;
}

}  // namespace millwright::app
