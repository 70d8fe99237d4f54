#include "cloud/aws/aws_cloud.hpp"

#include "cloud/aws/type_labels.hpp"

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

constexpr base::Duration kClusterKept = std::chrono::minutes(5);
// A class is resolved without a dry run when the types do not come by then.
constexpr base::Duration kCatalogAwaited = std::chrono::seconds(20);

ApiParts api_parts(AwsCloud::Parts& parts, CredentialSource* credentials) {
  return {.loop = parts.loop,
          .client = parts.client,
          .endpoints = parts.endpoints,
          .credentials = credentials,
          .metrics = &parts.metrics,
          .log = parts.log,
          .seed = parts.settings.seed};
}

CredentialParts credential_parts(const AwsCloud::Parts& parts) {
  return {.loop = parts.loop,
          .client = parts.client,
          .surroundings = parts.surroundings,
          .region = parts.endpoints.region(),
          .log = parts.log,
          .seed = parts.settings.seed + 1};
}

CapacitySettings capacity_settings(const AwsSettings& settings) {
  return {.vm_memory_overhead = settings.vm_memory_overhead_percent,
          .reserved_enis = settings.reserved_enis};
}

base::Error gone(const std::string& id) {
  return {ErrorKind::NotFound, "instance " + id + " does not exist (any more)", {}};
}

}  // namespace

AwsCloud::AwsCloud(Parts parts, PriceFile prices)
    : parts_(std::move(parts)),
      credentials_(credential_parts(parts_)),
      api_(api_parts(parts_, &credentials_)),
      ec2_(api_),
      catalog_(parts_.endpoints.region(), capacity_settings(parts_.settings)),
      resolver_(api_, parts_.settings.cluster_name, parts_.settings.reserved_capacity),
      sold_out_(parts_.loop),
      catalog_known_(parts_.loop),
      launcher_({.api = api_,
                 .catalog = catalog_,
                 .resolver = resolver_,
                 .cluster_name = parts_.settings.cluster_name,
                 .reserved_capacity = parts_.settings.reserved_capacity,
                 .metrics = parts_.metrics,
                 .log = parts_.log,
                 .on_sold_out =
                     [this] {
                       sold_out_.notify();
                       catalog_changed();
                     }}),
      validation_(launcher_, parts_.loop, parts_.log),
      tagging_(api_, parts_.settings.cluster_name, parts_.log),
      describes_(batcher_parts("describe_instances"),
                 [this](std::vector<std::string> ids) { return describe(std::move(ids)); }),
      terminations_(batcher_parts("terminate_instances"),
                    [this](std::vector<std::string> ids) { return terminate(std::move(ids)); }) {
  catalog_.prices().set_file(std::move(prices));
  recall_prices();
}

BatcherParts AwsCloud::batcher_parts(std::string name) {
  return {.loop = parts_.loop, .metrics = parts_.metrics, .name = std::move(name), .limits = {}};
}

std::span<const model::Resource> AwsCloud::node_classes() const {
  return {&model::kEc2NodeClassResource, 1};
}

void AwsCloud::on_catalog_change(std::function<void()> callback) {
  catalog_callback_ = std::move(callback);
}
void AwsCloud::on_interruption(std::function<void(InstanceNotice)> callback) {
  interruption_callback_ = std::move(callback);
}

void AwsCloud::set_recorded(std::function<bool(std::string_view)> is_recorded) {
  launcher_.ownership().set_recorded(std::move(is_recorded));
}

void AwsCloud::catalog_changed() {
  if (catalog_callback_) {
    catalog_callback_();
  }
}

base::Task<base::Result<ClusterFacts>> AwsCloud::cluster() {
  const auto& settings = parts_.settings;
  ClusterFacts facts;
  facts.name = settings.cluster_name;
  facts.endpoint = settings.cluster_endpoint;
  facts.ca_bundle = settings.cluster_ca_bundle;
  facts.version = settings.kubernetes_version;
  facts.dns_address = settings.cluster_dns_address;
  if (!facts.endpoint.empty() && !facts.version.empty()) {
    co_return facts;
  }
  const auto now = parts_.loop.now();
  if (now >= cluster_until_) {
    auto described = co_await describe_cluster(api_, settings.cluster_name);
    if (!described) {
      co_return base::with_context("EKS cluster " + settings.cluster_name +
                                       " (or set CLUSTER_ENDPOINT and CLUSTER_CA_BUNDLE)",
                                   std::move(described).error());
    }
    cluster_ = *std::move(described);
    cluster_until_ = now + kClusterKept;
  }
  const auto prefer = [](std::string& own, const std::string& described) {
    if (own.empty()) {
      own = described;
    }
  };
  prefer(facts.endpoint, cluster_.endpoint);
  prefer(facts.ca_bundle, cluster_.ca_bundle);
  prefer(facts.version, cluster_.version);
  facts.service_cidr = cluster_.service_cidr;
  facts.ipv6 = cluster_.ipv6;
  co_return facts;
}

Provider::Reply<Instance> AwsCloud::create(ClaimPtr claim, NodeClassPtr node_class) {
  if (claim->meta.uid.empty()) {
    co_return base::fail(ErrorKind::Invalid, "NodeClaim " + claim->meta.name +
                                                 " has no metadata.uid; create it in the API");
  }
  const auto* ready = model::find_condition(node_class->conditions, model::kReady);
  if (ready != nullptr && ready->status == model::ConditionStatus::False) {
    co_return base::fail(ErrorKind::NotReady, "EC2NodeClass " + node_class->meta.name +
                                                  " is not ready: " + ready->message);
  }
  if (!catalog_.is_known()) {
    co_return base::fail(ErrorKind::Unavailable, "EC2's instance types are not known yet");
  }
  // Before this process led, or in a call that never ended, it may have got its instance.
  auto adopted = co_await launcher_.adopt(claim, node_class);
  if (adopted) {
    auto told = co_await tell_partition(claim, *std::move(adopted));
    MW_CO_TRY(known_one, std::move(told));
    co_return describe_launch(known_one, *node_class);
  }
  if (adopted.error().kind != ErrorKind::NotFound) {
    co_return tl::unexpected(std::move(adopted).error());
  }
  auto facts = co_await cluster();
  MW_CO_TRY(known, std::move(facts));
  auto launched = co_await launcher_.launch(claim, node_class, known);
  MW_CO_TRY(made, std::move(launched));
  auto told = co_await tell_partition(claim, std::move(made));
  MW_CO_TRY(placed, std::move(told));
  co_return describe_launch(placed, *node_class);
}

base::Task<AwsCloud::Describes::Replies> AwsCloud::describe(std::vector<std::string> ids) {
  Describes::Replies replies;
  auto answered = co_await ec2_.instances_by_id(ids);
  if (!answered && ids.size() > 1 && answered.error().kind == ErrorKind::NotFound) {
    // One that is gone hides the others.
    for (const auto& id : ids) {
      std::vector<std::string> one(1, id);
      auto single = co_await describe(std::move(one));
      replies.push_back(std::move(single.front()));
    }
    co_return replies;
  }
  for (const auto& id : ids) {
    if (!answered) {
      replies.emplace_back(tl::unexpected<base::Error>(answered.error()));
      continue;
    }
    const auto found = std::find_if(answered->begin(), answered->end(),
                                    [&](const auto& each) { return each.id == id; });
    if (found == answered->end()) {
      replies.emplace_back(tl::unexpected(gone(id)));
    } else {
      replies.emplace_back(*found);
    }
  }
  co_return replies;
}

base::Task<AwsCloud::Terminations::Replies> AwsCloud::terminate(std::vector<std::string> ids) {
  Terminations::Replies replies;
  auto done = co_await ec2_.terminate(ids);
  if (!done && ids.size() > 1) {
    for (const auto& id : ids) {
      std::vector<std::string> one(1, id);
      auto single = co_await terminate(std::move(one));
      replies.push_back(std::move(single.front()));
    }
    co_return replies;
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (done) {
      replies.emplace_back(true);
    } else {
      replies.emplace_back(tl::unexpected<base::Error>(done.error()));
    }
  }
  co_return replies;
}

Provider::Reply<> AwsCloud::remove_instance(std::string id) {
  auto described = co_await describes_.ask(id);
  MW_CO_TRY(instance, std::move(described));
  if (instance.state == "terminated") {
    launcher_.ownership().forget(id);
    co_return tl::unexpected(gone(id));
  }
  if (instance.is_terminating()) {
    co_return base::Result<>{};
  }
  auto terminated = co_await terminations_.ask(id);
  if (!terminated) {
    parts_.metrics.count("karpenter_cloudprovider_instance_termination_failures_total",
                         "Terminations that AWS refused.");
    co_return tl::unexpected(std::move(terminated).error());
  }
  co_return base::Result<>{};
}

Provider::Reply<> AwsCloud::remove(ClaimPtr claim) {
  std::string id = instance_id_of(claim->provider_id);
  if (id.empty() && !claim->provider_id.empty()) {
    co_return base::fail(ErrorKind::NotFound, "NodeClaim " + claim->meta.name + ": \"" +
                                                  claim->provider_id +
                                                  "\" is no instance of EC2's");
  }
  if (const auto* dealt = launcher_.ownership().dealt_to(claim->meta.uid); id.empty() && dealt) {
    id = dealt->instance_id;
  }
  // What a merged launch made for it in another life is nobody's then, and collected.
  if (id.empty()) {
    auto found = co_await launcher_.find_by_claim(claim);
    MW_CO_TRY(instance, std::move(found));
    id = instance.id;
  }
  auto removed = co_await remove_instance(id);
  if (!removed) {
    co_return base::with_context("NodeClaim " + claim->meta.name, std::move(removed).error());
  }
  co_return removed;
}

Provider::Reply<> AwsCloud::remove_leaked(std::string provider_id) {
  auto removed = co_await remove_instance(instance_id_of(provider_id));
  co_return removed;
}

Provider::Reply<Instance> AwsCloud::get(std::string provider_id) {
  const auto id = instance_id_of(provider_id);
  if (id.empty()) {
    co_return base::fail(ErrorKind::NotFound, "\"" + provider_id + "\" is no instance of EC2's");
  }
  auto described = co_await describes_.ask(id);
  MW_CO_TRY(instance, std::move(described));
  co_return to_instance(instance);
}

Provider::Reply<std::vector<Instance>> AwsCloud::list() {
  const std::vector<Filter> filters{
      {"tag-key", {std::string(model::kNodePoolLabel)}},
      {"tag-key", {std::string(kNodeClassLabel)}},
      {"tag:" + std::string(kClusterTag), {parts_.settings.cluster_name}},
      {"instance-state-name", {living_states().begin(), living_states().end()}}};
  auto answered = co_await ec2_.instances(filters);
  MW_CO_TRY(found, std::move(answered));
  launcher_.sweep();
  std::vector<Instance> result;
  for (const auto& each : found) {
    result.push_back(to_instance(each));
  }
  co_return result;
}

base::Result<scheduling::InstanceTypes> AwsCloud::instance_types(
    const model::NodePool& /*pool*/, const model::NodeClass& node_class) const {
  if (!catalog_.is_known()) {
    return base::fail(ErrorKind::NotReady, "EC2's instance types are not known yet");
  }
  return catalog_.types(node_class, parts_.loop.now());
}

Provider::Reply<std::string> AwsCloud::drift(ClaimPtr claim, NodeClassPtr node_class) {
  const auto id = instance_id_of(claim->provider_id);
  if (id.empty() || !catalog_.is_known()) {
    co_return std::string();
  }
  auto described = co_await describes_.ask(id);
  if (!described && described.error().kind == ErrorKind::NotFound) {
    co_return std::string();  // gone: garbage collection's business
  }
  MW_CO_TRY(instance, std::move(described));
  tagging_.look_at(*claim, instance);
  const auto types = catalog_.types(*node_class, parts_.loop.now());
  auto reason = drift_reason(*claim, *node_class, instance, *types);
  if (reason.empty() && placement_changed(catalog_.placements(), *node_class, instance)) {
    reason = "PlacementGroupDrift";
  }
  co_return reason;
}

std::vector<RepairPolicy> AwsCloud::repair_policies() const {
  using model::ConditionStatus;
  constexpr base::Duration kHalfHour = std::chrono::minutes(30);
  return {{"Ready", ConditionStatus::False, kHalfHour},
          {"Ready", ConditionStatus::Unknown, kHalfHour},
          {"AcceleratedHardwareReady", ConditionStatus::False, std::chrono::minutes(10)},
          {"StorageReady", ConditionStatus::False, kHalfHour},
          {"NetworkingReady", ConditionStatus::False, kHalfHour},
          {"KernelReady", ConditionStatus::False, kHalfHour},
          {"ContainerRuntimeReady", ConditionStatus::False, kHalfHour}};
}

Provider::Reply<NodeClassState> AwsCloud::resolve(NodeClassPtr node_class) {
  auto facts = co_await cluster();
  MW_CO_TRY(known, std::move(facts));
  auto resolved = co_await resolver_.resolve(node_class, known.version);
  MW_CO_TRY(state, std::move(resolved));
  const bool reservations_changed = resolver_.tell_reservations(catalog_.reservations());
  if (resolver_.tell_placements(catalog_.placements()) || reservations_changed) {
    catalog_.touch();
    catalog_changed();
  }
  auto validated = co_await validate(node_class, std::move(state), known);
  if (catalog_.is_known()) {
    gauges_.publish(parts_.metrics, node_class->meta.name,
                    catalog_.types(*node_class, parts_.loop.now()));
  }
  co_return validated;
}

// The last condition, of what the others found.
base::Task<NodeClassState> AwsCloud::validate(NodeClassPtr node_class, NodeClassState state,
                                              ClusterFacts cluster) {
  NodeClassCondition condition;
  condition.type = "ValidationSucceeded";
  condition.good = state.ready;
  if (!state.ready) {
    condition.reason = "DependenciesNotReady";
    condition.message = "waiting for what the other conditions name";
  } else if (!parts_.settings.disable_dry_run) {
    if (!catalog_.is_known()) {
      const std::stop_token never;
      co_await catalog_known_.wait(never, kCatalogAwaited);
    }
    std::optional<NodeClassCondition> judged;
    if (catalog_.is_known()) {
      const auto found = std::make_shared<model::NodeClass>(*node_class);
      found->status = state.status;
      found->meta.resource_version.clear();  // no version of it has this status yet
      judged = co_await validation_.judge(found, std::move(cluster));
    }
    if (!judged) {
      co_return state;
    }
    condition = *std::move(judged);
  }
  if (state.ready && !condition.good) {
    state.ready = false;
    state.reason = condition.reason;
    state.message = condition.message;
  }
  state.conditions.push_back(std::move(condition));
  co_return state;
}

}  // namespace millwright::cloud::aws
