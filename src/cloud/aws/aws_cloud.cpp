#include "cloud/aws/aws_cloud.hpp"

#include "cloud/aws/catalog/type_labels.hpp"
#include "cloud/aws/instances.hpp"
#include "cloud/aws/node_class/drift.hpp"
#include "cloud/aws/node_class/node_class_hash.hpp"
#include "cloud/repair_policies.hpp"

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

// DescribeInstances lags behind CreateFleet by seconds.
constexpr base::Duration kPartitionAwaited = std::chrono::seconds(10);
constexpr base::Duration kPartitionAskedAgain = std::chrono::seconds(1);

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
          .environment = parts.environment,
          .region = parts.endpoints.region(),
          .log = parts.log,
          .seed = parts.settings.seed + 1};
}

// Karpenter's GetCABundle: what its process trusts the API server by, unless a setting says what.
const std::string& hashed_ca(const AwsSettings& settings) {
  return settings.cluster_ca_bundle.empty() ? settings.api_server_ca : settings.cluster_ca_bundle;
}

ResolverSettings resolver_settings(const AwsSettings& settings) {
  return {.cluster_name = settings.cluster_name,
          .reserved_capacity = settings.reserved_capacity,
          .image_refresh = settings.ami_refresh_interval,
          .subnet_refresh = settings.subnet_refresh_interval,
          .ca_bundle = hashed_ca(settings)};
}

CapacitySettings capacity_settings(const AwsSettings& settings) {
  return {.vm_memory_overhead = settings.vm_memory_overhead_percent,
          .reserved_enis = settings.reserved_enis};
}

}  // namespace

AwsCloud::AwsCloud(Parts parts, PriceFile prices)
    : parts_(std::move(parts)),
      credentials_(credential_parts(parts_)),
      api_(api_parts(parts_, &credentials_)),
      ec2_(api_),
      cluster_(api_, parts_.settings, parts_.log),
      catalog_(parts_.endpoints.region(), capacity_settings(parts_.settings)),
      restock_(parts_.loop, catalog_.unavailable(), [this] { catalog_.changed(); }),
      types_(api_, catalog_, parts_.log),
      prices_({.api = api_,
               .catalog = catalog_,
               .environment = parts_.environment,
               .cache_file = parts_.settings.price_cache,
               .isolated_vpc = parts_.settings.isolated_vpc,
               .log = parts_.log}),
      resolver_(api_, resolver_settings(parts_.settings)),
      launcher_({.api = api_,
                 .catalog = catalog_,
                 .restock = restock_,
                 .resolver = resolver_,
                 .cluster_name = parts_.settings.cluster_name,
                 .reserved_capacity = parts_.settings.reserved_capacity,
                 .metrics = parts_.metrics,
                 .log = parts_.log}),
      validation_({.launcher = launcher_,
                   .catalog = catalog_,
                   .types = types_,
                   .loop = parts_.loop,
                   .log = parts_.log,
                   .dry_run = !parts_.settings.disable_dry_run}),
      tagging_(api_, parts_.settings.cluster_name, parts_.log),
      instances_(api_, parts_.metrics),
      seen_(parts_.loop),
      shifts_({.api = api_,
               .cluster = cluster_,
               .catalog = catalog_,
               .restock = restock_,
               .log = parts_.log}),
      reservations_({.api = api_,
                     .catalog = catalog_,
                     .reservations = resolver_.reservations(),
                     .cluster_name = parts_.settings.cluster_name,
                     .log = parts_.log,
                     .tell = interruption_teller()}),
      status_({.api = api_,
               .ownership = launcher_.ownership(),
               .metrics = parts_.metrics,
               .log = parts_.log,
               .tell = interruption_teller()}),
      queue_({.api = api_,
              .instances = instances_,
              .catalog = catalog_,
              .restock = restock_,
              .queue = parts_.settings.interruption_queue,
              .cluster_name = parts_.settings.cluster_name,
              .metrics = parts_.metrics,
              .log = parts_.log,
              .tell = interruption_teller()}) {
  catalog_.prices().set_file(std::move(prices));
  prices_.load();
}

TellInterruption AwsCloud::interruption_teller() {
  return [this](InterruptionKind kind, const std::string& zone, const std::string& id) {
    return tell(notice_of(kind, provider_id_of(zone, id)));
  };
}

Provider::Reply<> AwsCloud::tell(InstanceNotice notice) {
  if (!notice_handler_) {
    co_return base::Result<>{};
  }
  co_return co_await notice_handler_(std::move(notice));
}

base::Task<void> AwsCloud::run(std::stop_token stop) {
  base::TaskGroup group(parts_.loop);
  group.spawn(types_.run(stop));
  group.spawn(prices_.run(stop));
  group.spawn(restock_.run(stop));
  if (parts_.settings.enable_zonal_shift) {
    group.spawn(shifts_.run(stop));
  }
  co_await group.join();
}

base::Task<void> AwsCloud::lead(std::stop_token stop) {
  base::TaskGroup group(parts_.loop);
  group.spawn(launcher_.templates().run(stop));
  group.spawn(reservations_.run(stop));
  group.spawn(status_.run(stop));
  if (!parts_.settings.interruption_queue.empty()) {
    group.spawn(queue_.run(stop));
  }
  co_await group.join();
}

std::span<const model::Resource> AwsCloud::node_classes() const {
  return {&model::kEc2NodeClassResource, 1};
}

void AwsCloud::learn_capacity(const model::NodeClaim& claim, const model::Node& node) {
  const auto* type = catalog_.find(claim.meta.label(model::kInstanceTypeLabel));
  const auto memory = model::get(node.capacity, model::kMemory);
  if (type != nullptr && catalog_.memory().learn({type->name, type->memory_mib}, claim.image_id,
                                                 memory, parts_.loop.now())) {
    catalog_.changed();
  }
}

model::RepairPolicies AwsCloud::repair_policies() const {
  return kAwsRepairPolicies;
}

void AwsCloud::on_catalog_change(std::function<void()> callback) {
  catalog_.on_change(std::move(callback));
}
void AwsCloud::on_interruption(NoticeHandler handler) {
  notice_handler_ = std::move(handler);
}

void AwsCloud::set_recorded(std::function<bool(std::string_view)> is_recorded) {
  launcher_.ownership().set_recorded(std::move(is_recorded));
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
  // An earlier process, or a call whose answer was lost, may have launched its instance.
  auto launched = co_await launcher_.adopt(claim, node_class);
  if (!launched && launched.error().kind == ErrorKind::NotFound) {
    MW_CO_TRY(cluster, co_await cluster_.facts());
    launched = co_await launcher_.launch(claim, node_class, cluster);
  }
  if (launched) {
    launched = co_await await_partition(claim, *std::move(launched));
  }
  MW_CO_CHECK(launched);
  const auto types = catalog_.types(*node_class, parts_.loop.now());
  auto instance =
      launched_instance(*launched, *node_class, scheduling::find_type(types, launched->type),
                        hash_stamp(*node_class, hashed_ca(parts_.settings)));
  instance.launched_at = parts_.loop.now();
  co_return instance;
}

// A node must have the label of its partition when it registers (Karpenter delays the registration
// until then): pods that spread over partitions see it from the start.
base::Task<base::Result<Launched>> AwsCloud::await_partition(ClaimPtr claim, Launched launched) {
  const auto until = parts_.loop.now() + kPartitionAwaited;
  while (launched.awaits_partition) {
    auto described = co_await instances_.describe(launched.instance_id);
    const bool is_late = parts_.loop.now() >= until;
    if (described && (described->partition > 0 || is_late)) {
      launched.partition = described->partition;
      launched.awaits_partition = false;
      launcher_.ownership().deal(launched, *claim, parts_.loop.now());
      break;
    }
    if (!described && described.error().kind != base::ErrorKind::NotFound) {
      co_return tl::unexpected(std::move(described).error());
    }
    if (is_late) {
      co_return base::fail(base::ErrorKind::Unavailable,
                           "NodeClaim " + claim->meta.name + ": instance " + launched.instance_id +
                               " is launched, but EC2 does not show its partition yet; asking "
                               "again");
    }
    co_await base::sleep(parts_.loop, kPartitionAskedAgain);
  }
  co_return launched;
}

Provider::Reply<> AwsCloud::remove_instance(std::string id) {
  seen_.forget(id);
  MW_CO_TRY(instance, co_await instances_.describe(id));
  if (instance.state == "terminated") {
    launcher_.ownership().forget(id);
    co_return tl::unexpected(no_such_instance(id));
  }
  if (instance.is_terminating()) {
    co_return base::Result<>{};
  }
  auto terminated = co_await instances_.terminate(id);
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
                                                  "\" is not the id of an EC2 instance");
  }
  if (const auto* dealt = launcher_.ownership().dealt_to(claim->meta.uid); id.empty() && dealt) {
    id = dealt->instance_id;
  }
  // An instance that an earlier process launched for several claims at once does not name its
  // claim: it is not found here, and garbage-collected.
  if (id.empty()) {
    MW_CO_TRY(instance, co_await launcher_.find_by_claim(claim));
    id = instance.id;
  }
  auto removed = co_await remove_instance(id);
  if (!removed) {
    co_return base::with_context("NodeClaim " + claim->meta.name, std::move(removed).error());
  }
  co_return removed;
}

Provider::Reply<> AwsCloud::remove_leaked(std::string provider_id) {
  co_return co_await remove_instance(instance_id_of(provider_id));
}

Provider::Reply<Instance> AwsCloud::get(std::string provider_id) {
  const auto id = instance_id_of(provider_id);
  if (id.empty()) {
    co_return base::fail(ErrorKind::NotFound,
                         "\"" + provider_id + "\" is not the id of an EC2 instance");
  }
  MW_CO_TRY(instance, co_await instances_.describe(id));
  co_return to_instance(instance);
}

Provider::Reply<std::vector<Instance>> AwsCloud::list() {
  const std::vector<Filter> filters{
      {"tag-key", {std::string(model::kNodePoolLabel)}},
      {"tag-key", {std::string(kNodeClassLabel)}},
      {"tag:" + std::string(kClusterTag), {parts_.settings.cluster_name}},
      {"instance-state-name", {living_states().begin(), living_states().end()}}};
  MW_CO_TRY(found, co_await ec2_.instances(filters));
  launcher_.sweep();
  seen_.replace(found);
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

Provider::Reply<Ec2Instance> AwsCloud::recent_instance(std::string id) {
  if (const auto* known = seen_.find(id)) {
    co_return *known;
  }
  MW_CO_TRY(instance, co_await instances_.describe(id));
  seen_.put(instance);
  co_return instance;
}

std::optional<model::HashStamp> AwsCloud::hash_of(const model::NodeClass& node_class) const {
  return hash_stamp(node_class, hashed_ca(parts_.settings));
}

Provider::Reply<std::string> AwsCloud::drift(ClaimPtr claim, NodeClassPtr node_class) {
  const auto id = instance_id_of(claim->provider_id);
  if (id.empty() || !catalog_.is_known()) {
    co_return drift_so_far(*claim);  // nobody can tell yet
  }
  auto described = co_await recent_instance(id);
  if (!described && described.error().kind == ErrorKind::NotFound) {
    co_return std::string();  // gone: garbage collection's business
  }
  MW_CO_TRY(instance, std::move(described));
  if (tagging_.look_at(*claim, instance)) {
    seen_.forget(id);
  }
  auto reason = static_drift(*claim, hash_stamp(*node_class, hashed_ca(parts_.settings)));
  if (reason.empty()) {
    const auto types = catalog_.types(*node_class, parts_.loop.now());
    reason = drift_reason(*node_class, instance, *types);
  }
  if (reason.empty() && placement_changed(catalog_.placements(), *node_class, instance)) {
    reason = "PlacementGroupDrift";
  }
  co_return reason;
}

Provider::Reply<NodeClassState> AwsCloud::resolve(NodeClassPtr node_class) {
  MW_CO_TRY(cluster, co_await cluster_.facts());
  MW_CO_TRY(state, co_await resolver_.resolve(node_class, cluster.version));
  const bool reservations_changed = resolver_.reservations().publish(catalog_.reservations());
  if (resolver_.placements().publish(catalog_.placements()) || reservations_changed) {
    catalog_.changed();
  }
  auto validated = co_await validation_.validate(node_class, std::move(state), std::move(cluster));
  if (catalog_.is_known()) {
    gauges_.publish(parts_.metrics, model::reference_to(*node_class),
                    catalog_.types(*node_class, parts_.loop.now()));
  }
  co_return validated;
}

Provider::Reply<> AwsCloud::release(NodeClassPtr node_class) {
  MW_CO_CHECK(co_await resolver_.profiles().remove_all_of(node_class));
  MW_CO_CHECK(co_await launcher_.templates().remove_all_of(node_class->meta.name));
  gauges_.forget(parts_.metrics, model::reference_to(*node_class));
  catalog_.forget(model::reference_to(*node_class));
  co_return base::Result<>{};
}

Instance AwsCloud::to_instance(const Ec2Instance& found) const {
  auto instance = described_instance(found);
  // An instance of a launch for several claims gets its claim's tag with its Node.
  if (auto claim = launcher_.ownership().claim_of(found.id); !claim.empty()) {
    instance.node_claim = std::move(claim);
  }
  instance.labels[std::string(model::kRegionLabel)] = parts_.endpoints.region();
  if (const auto* facts = catalog_.find(found.type)) {
    instance.labels[std::string(model::kArchLabel)] = facts->arch;
  }
  return instance;
}

}  // namespace millwright::cloud::aws
