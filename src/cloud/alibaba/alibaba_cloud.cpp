#include "cloud/alibaba/alibaba_cloud.hpp"

#include "cloud/alibaba/catalog/type_labels.hpp"
#include "cloud/alibaba/node_class/node_class_hash.hpp"
#include "cloud/common/node_class/static_drift.hpp"
#include "cloud/repair_policies.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace millwright::cloud::alibaba {
namespace {

using base::ErrorKind;

constexpr base::Duration kClusterKept = std::chrono::minutes(5);
constexpr std::size_t kDescribedAtOnce = 100;

base::Error no_such_instance(const std::string& id) {
  return {ErrorKind::NotFound, "ECS instance " + id + " does not exist (any more)", {}};
}

// The type's labels that have one value.
void label_by_type(model::StringMap& labels, const scheduling::InstanceType& type) {
  for (const auto& requirement : type.requirements) {
    if (!requirement.is_complement() && requirement.values().size() == 1) {
      labels[requirement.key()] = requirement.values().front();
    }
  }
}

model::ResourceList without_zeros(model::ResourceList resources) {
  std::erase_if(resources, [](const auto& item) { return item.second.is_zero(); });
  return resources;
}

// As far as the pool says them: by labels of its template, or by a requirement of one value.
model::StringMap labels_of_nodes(const model::NodePool& pool) {
  auto labels = pool.template_.labels.value_or(model::StringMap{});
  for (const auto& requirement : pool.template_.requirements) {
    if (requirement.op == model::Operator::In && requirement.values.size() == 1) {
      labels.emplace(requirement.key, requirement.values.front());
    }
  }
  return labels;
}

void label_place(model::StringMap& labels, const std::string& type, const std::string& zone,
                 std::string_view capacity_type) {
  labels[std::string(model::kInstanceTypeLabel)] = type;
  labels[std::string(model::kZoneLabel)] = zone;
  labels[std::string(kZoneIdLabel)] = zone;
  labels[std::string(model::kCapacityTypeLabel)] = capacity_type;
}

}  // namespace

AlibabaCloud::AlibabaCloud(Parts parts, PriceFile prices)
    : parts_(std::move(parts)),
      credentials_({.loop = parts_.loop,
                    .client = parts_.client,
                    .environment = parts_.environment,
                    .sts_url = parts_.endpoints.of(Service::Sts),
                    .log = parts_.log}),
      api_({.loop = parts_.loop,
            .client = parts_.client,
            .endpoints = parts_.endpoints,
            .credentials = credentials_,
            .log = parts_.log,
            .seed = parts_.settings.seed,
            .rpc_v1 = parts_.environment.text("ALIBABA_CLOUD_RPC_SIGNATURE") == "v1"}),
      ecs_(api_),
      cs_(api_),
      catalog_(parts_.endpoints.region(),
               {.vm_memory_overhead = parts_.settings.vm_memory_overhead_percent}),
      restock_(parts_.loop, catalog_.unavailable(), [this] { catalog_.changed(); }),
      refresh_({.api = api_,
                .catalog = catalog_,
                .environment = parts_.environment,
                .price_cache = parts_.settings.price_cache,
                .log = parts_.log}),
      resolver_(api_),
      launcher_({.api = api_,
                 .catalog = catalog_,
                 .restock = restock_,
                 .resolver = resolver_,
                 .cluster_id = parts_.settings.cluster_id,
                 .custom_cluster = parts_.settings.custom_cluster,
                 .log = parts_.log}),
      recycled_({.loop = parts_.loop,
                 .catalog = catalog_,
                 .restock = restock_,
                 .region = parts_.endpoints.region(),
                 .log = parts_.log}),
      describes_({.loop = parts_.loop,
                  .metrics = parts_.metrics,
                  .name = "describe_instances",
                  .limits = {.items = kDescribedAtOnce}},
                 [this](std::vector<std::string> ids) { return describe_all(std::move(ids)); }) {
  catalog_.prices().set_file(std::move(prices));
  refresh_.load();
}

std::span<const model::Resource> AlibabaCloud::node_classes() const {
  static constexpr std::array kKinds{model::kEcsNodeClassResource,
                                     model::kOfficialEcsNodeClassResource};
  return kKinds;
}

std::string AlibabaCloud::provider_id_of(const std::string& instance_id) const {
  return parts_.endpoints.region() + "." + instance_id;
}

// Empty when it is none of this region's.
std::string AlibabaCloud::instance_id_of(std::string_view provider_id) const {
  const auto prefix = parts_.endpoints.region() + ".";
  if (!provider_id.starts_with(prefix) || !provider_id.substr(prefix.size()).starts_with("i-")) {
    return {};
  }
  return std::string(provider_id.substr(prefix.size()));
}

base::Task<void> AlibabaCloud::run(std::stop_token stop) {
  base::TaskGroup group(parts_.loop);
  group.spawn(refresh_.run_types(stop));
  group.spawn(refresh_.run_stock(stop));
  group.spawn(refresh_.run_prices(stop));
  group.spawn(restock_.run(stop));
  co_await group.join();
}

base::Task<void> AlibabaCloud::lead(std::stop_token stop) {
  while (parts_.settings.interruption && !stop.stop_requested()) {
    auto found = co_await owned();
    if (found) {
      co_await recycled_.look_at(*std::move(found));
    } else {
      parts_.log.warn("spot instances could not be looked at", {{"error", found.error().message}});
    }
    co_await base::sleep(parts_.loop, RecycledInstances::kLookPeriod, stop);
  }
}

void AlibabaCloud::learn_capacity(const model::NodeClaim& claim, const model::Node& node) {
  const auto* type = catalog_.find(claim.meta.label(model::kInstanceTypeLabel));
  const auto memory = model::get(node.capacity, model::kMemory);
  if (type != nullptr &&
      catalog_.memory().learn({.type = type->name, .mebibytes = type->memory_mib}, claim.image_id,
                              memory, parts_.loop.now())) {
    catalog_.changed();
  }
}

model::RepairPolicies AlibabaCloud::repair_policies() const {
  return kReadinessRepairPolicies;
}

void AlibabaCloud::on_catalog_change(std::function<void()> callback) {
  catalog_.on_change(std::move(callback));
}

void AlibabaCloud::on_interruption(NoticeHandler handler) {
  recycled_.on_notice(std::move(handler));
}

Provider::Reply<Instance> AlibabaCloud::create(ClaimPtr claim, NodeClassPtr node_class) {
  if (claim->meta.uid.empty()) {
    co_return base::fail(ErrorKind::Invalid, "NodeClaim " + claim->meta.name +
                                                 " has no metadata.uid; create it in the API");
  }
  const auto* ready = model::find_condition(node_class->conditions, model::kReady);
  if (ready != nullptr && ready->status == model::ConditionStatus::False) {
    co_return base::fail(ErrorKind::NotReady, "ECSNodeClass " + node_class->meta.name +
                                                  " is not ready: " + ready->message);
  }
  const auto of_claim = served(node_class);
  if (!of_claim.problems.empty()) {
    co_return base::fail(ErrorKind::NotReady,
                         "ECSNodeClass " + node_class->meta.name +
                             " asks for what cannot be made: " + of_claim.problems_text());
  }
  if (!catalog_.is_known()) {
    co_return base::fail(ErrorKind::Unavailable, "ECS's instance types are not known yet");
  }
  // An earlier process, or a call whose answer was lost, may have launched its instance.
  auto launched = co_await launcher_.adopt(claim);
  if (!launched && launched.error().kind == ErrorKind::NotFound) {
    launched = co_await launcher_.launch(claim, of_claim.node_class);
  }
  MW_CO_CHECK(launched);
  co_return to_instance(*launched, *claim, *of_claim.node_class);
}

base::Task<AlibabaCloud::Describes::Replies> AlibabaCloud::describe_all(
    std::vector<std::string> ids) {
  Describes::Replies replies;
  const auto found = co_await ecs_.instances_by_id(ids);
  for (const auto& id : ids) {
    if (!found) {
      replies.emplace_back(tl::unexpected<base::Error>(found.error()));
      continue;
    }
    const auto instance =
        std::find_if(found->begin(), found->end(), [&](const auto& each) { return each.id == id; });
    if (instance == found->end()) {
      replies.emplace_back(tl::unexpected(no_such_instance(id)));
    } else {
      replies.emplace_back(*instance);
    }
  }
  co_return replies;
}

Provider::Reply<> AlibabaCloud::remove_instance(std::string id) {
  auto described = co_await describes_.ask(id);
  if (!described && described.error().kind == ErrorKind::NotFound) {
    deleting_.erase(id);
  }
  MW_CO_CHECK(described);
  std::vector<std::string> ids{id};
  auto deleted = co_await ecs_.delete_instances(std::move(ids));
  if (!deleted && is_wrong_state(deleted.error().code)) {
    // It is still starting; whoever wants it gone asks again.
    co_return base::Result<>{};
  }
  if (!deleted && deleted.error().kind == ErrorKind::NotFound) {
    deleting_.erase(id);
    co_return tl::unexpected(no_such_instance(id));
  }
  MW_CO_CHECK(deleted);
  deleting_.insert(id);
  co_return base::Result<>{};
}

Provider::Reply<> AlibabaCloud::remove(ClaimPtr claim) {
  auto id = instance_id_of(claim->provider_id);
  if (id.empty() && !claim->provider_id.empty()) {
    co_return base::fail(ErrorKind::NotFound,
                         "NodeClaim " + claim->meta.name + ": \"" + claim->provider_id +
                             "\" is not the id of an ECS instance of " + parts_.endpoints.region());
  }
  if (id.empty()) {
    auto launched = co_await launcher_.find_by_claim(claim);
    if (!launched && launched.error().kind == ErrorKind::NotFound) {
      launcher_.forget(claim->meta.uid);
    }
    MW_CO_CHECK(launched);
    id = launched->instance_id;
  }
  launcher_.forget(claim->meta.uid);
  auto removed = co_await remove_instance(id);
  if (!removed) {
    co_return base::with_context("NodeClaim " + claim->meta.name, std::move(removed).error());
  }
  co_return removed;
}

Provider::Reply<> AlibabaCloud::remove_leaked(std::string provider_id) {
  const auto id = instance_id_of(provider_id);
  if (id.empty()) {
    co_return tl::unexpected(no_such_instance(provider_id));
  }
  co_return co_await remove_instance(id);
}

Provider::Reply<Instance> AlibabaCloud::get(std::string provider_id) {
  const auto id = instance_id_of(provider_id);
  if (id.empty()) {
    co_return base::fail(
        ErrorKind::NotFound,
        "\"" + provider_id + "\" is not the id of an ECS instance of " + parts_.endpoints.region());
  }
  MW_CO_TRY(found, co_await describes_.ask(id));
  co_return to_instance(found);
}

base::Task<base::Result<std::vector<EcsInstance>>> AlibabaCloud::owned() {
  const Tags tags{{ownership_tag(parts_.settings.cluster_id), "owned"}};
  MW_CO_TRY(found, co_await ecs_.instances_by_tags(tags));
  // Those that Alibaba's own provider launched, before the cluster moved here, have other tags. A
  // claim whose instance is not in the list would be given up.
  const Tags official{{std::string(kOfficialManagerTag), std::string(kOfficialManager)},
                      {std::string(kOfficialClusterTag), parts_.settings.cluster_id}};
  MW_CO_TRY(moved, co_await ecs_.instances_by_tags(official));
  std::set<std::string> known;
  for (const auto& each : found) {
    known.insert(each.id);
  }
  std::copy_if(moved.begin(), moved.end(), std::back_inserter(found),
               [&known](const EcsInstance& each) { return known.insert(each.id).second; });
  // Other machines of the cluster have its tag, too.
  std::erase_if(found, [](const EcsInstance& each) {
    return each.tag(model::kNodePoolLabel).empty() ||
           (each.tag(kNodeClassLabel).empty() && each.tag(kOfficialManagerTag) != kOfficialManager);
  });
  co_return found;
}

Provider::Reply<std::vector<Instance>> AlibabaCloud::list() {
  MW_CO_TRY(found, co_await owned());
  std::vector<Instance> result;
  std::set<std::string> known;
  for (const auto& each : found) {
    known.insert(each.id);
    result.push_back(to_instance(each));
  }
  std::erase_if(deleting_, [&known](const std::string& id) { return !known.contains(id); });
  co_return result;
}

base::Result<scheduling::InstanceTypes> AlibabaCloud::instance_types(
    const model::NodePool& pool, const model::NodeClass& node_class) const {
  if (!catalog_.is_known()) {
    return base::fail(ErrorKind::NotReady, "ECS's instance types are not known yet");
  }
  const NodeClassPtr borrowed(NodeClassPtr(), &node_class);
  return catalog_.types(*served(borrowed).node_class, labels_of_nodes(pool), parts_.loop.now());
}

std::optional<model::HashStamp> AlibabaCloud::hash_of(const model::NodeClass& node_class) const {
  return hash_stamp(*served(NodeClassPtr(NodeClassPtr(), &node_class)).node_class);
}

std::vector<std::string> AlibabaCloud::unsupported(const model::NodeClass& node_class) const {
  return served(NodeClassPtr(NodeClassPtr(), &node_class)).problems;
}

Provider::Reply<std::string> AlibabaCloud::drift(ClaimPtr claim, NodeClassPtr node_class) {
  const auto wanted = served(node_class).node_class;
  auto reason = static_drift(*claim, hash_stamp(*wanted));
  const auto id = instance_id_of(claim->provider_id);
  if (!reason.empty() || id.empty() || !catalog_.is_known()) {
    co_return reason;
  }
  auto described = co_await describes_.ask(id);
  if (!described && described.error().kind == ErrorKind::NotFound) {
    co_return std::string();  // gone: garbage collection's business
  }
  MW_CO_TRY(instance, std::move(described));
  const auto types = catalog_.types(*wanted, claim->meta.labels, parts_.loop.now());
  co_return drift_reason(read_status(*wanted), instance,
                         scheduling::find_type(types, instance.type));
}

base::Task<base::Result<ClusterFacts>> AlibabaCloud::cluster() {
  const auto known = cluster_;
  if (known && parts_.loop.now() < cluster_until_) {
    co_return *known;
  }
  MW_CO_TRY(facts, co_await cs_.cluster(parts_.settings.cluster_id));
  auto shared_how = Interfaces::Shared;
  if (facts.network == Network::Terway) {
    shared_how = co_await interfaces(facts.network_add_on);
  }
  cluster_ = facts;
  cluster_until_ = parts_.loop.now() + kClusterKept;
  catalog_.set_network(facts.network, shared_how);
  co_return facts;
}

// Nodes can be bought without the answer, so that a policy from before this call goes on working.
base::Task<Interfaces> AlibabaCloud::interfaces(std::string add_on) {
  const auto has_trunks = co_await cs_.has_trunks(parts_.settings.cluster_id, std::move(add_on));
  if (has_trunks) {
    co_return *has_trunks ? Interfaces::Trunk : Interfaces::Shared;
  }
  parts_.log.warn("whether Terway has trunk interfaces could not be read",
                  {{"error", has_trunks.error().message}});
  co_return catalog_.settings().interfaces;
}

Provider::Reply<NodeClassState> AlibabaCloud::resolve(NodeClassPtr node_class) {
  MW_CO_TRY(facts, co_await cluster());
  const auto wanted = served(node_class);
  MW_CO_TRY(state, co_await resolver_.resolve(wanted.node_class, facts.version));
  wanted.judge(state);
  if (catalog_.is_known()) {
    gauges_.publish(parts_.metrics, model::reference_to(*node_class),
                    catalog_.types(*wanted.node_class, {}, parts_.loop.now()));
  }
  co_return in_own_terms(*node_class, std::move(state));
}

Provider::Reply<> AlibabaCloud::release(NodeClassPtr node_class) {
  gauges_.forget(parts_.metrics, model::reference_to(*node_class));
  co_return base::Result<>{};
}

Instance AlibabaCloud::to_instance(const Launched& launched, const model::NodeClaim& claim,
                                   const model::NodeClass& node_class) const {
  Instance instance;
  instance.provider_id = provider_id_of(launched.instance_id);
  instance.image_id = launched.image_id;
  const auto types = catalog_.types(node_class, claim.meta.labels, parts_.loop.now());
  if (const auto* type = scheduling::find_type(types, launched.type)) {
    label_by_type(instance.labels, *type);
    instance.capacity = without_zeros(type->capacity);
    instance.allocatable = without_zeros(type->allocatable());
  }
  label_place(instance.labels, launched.type, launched.zone, launched.capacity_type);
  const auto stamp = hash_stamp(node_class);
  instance.annotations[stamp.key] = stamp.hash;
  instance.annotations[stamp.version_key] = stamp.version;
  instance.launched_at = parts_.loop.now();
  return instance;
}

Instance AlibabaCloud::to_instance(const EcsInstance& found) const {
  Instance instance;
  instance.provider_id = provider_id_of(found.id);
  instance.image_id = found.image_id;
  instance.node_claim = found.tag(kClaimTag);
  instance.node_pool = found.tag(model::kNodePoolLabel);
  label_place(instance.labels, found.type, found.zone, found.capacity_type());
  instance.labels[std::string(model::kRegionLabel)] = parts_.endpoints.region();
  if (const auto* facts = catalog_.find(found.type)) {
    instance.labels[std::string(model::kArchLabel)] = facts->arch;
  }
  instance.launched_at = found.created_at;
  instance.terminating = deleting_.contains(found.id);
  // As ACK's kubelets register.
  if (!found.private_address.empty()) {
    instance.node_name = parts_.endpoints.region() + "." + found.private_address;
  }
  return instance;
}

}  // namespace millwright::cloud::alibaba
