#include "cloud/huawei/huawei_cloud.hpp"

#include "cloud/huawei/launch/node_body.hpp"
#include "cloud/huawei/node_class/node_class_hash.hpp"
#include "cloud/repair_policies.hpp"

#include <algorithm>

namespace millwright::cloud::huawei {
namespace {

using base::ErrorKind;

constexpr std::string_view kNodeIdAnnotation = "karpenter.k8s.huawei/cce-node-id";
constexpr std::string_view kServerIdAnnotation = "karpenter.k8s.huawei/ecs-server-id";

CredentialParts credential_parts(const HuaweiCloud::Parts& parts) {
  return {.loop = parts.loop,
          .client = parts.client,
          .environment = parts.environment,
          .iam_url = parts.endpoints.of(Service::Iam),
          .log = parts.log};
}

ApiParts api_parts(HuaweiCloud::Parts& parts, CredentialSource* credentials) {
  return {.loop = parts.loop,
          .client = parts.client,
          .endpoints = parts.endpoints,
          .credentials = credentials,
          .project = parts.environment.text("HUAWEICLOUD_SDK_PROJECT_ID"),
          .log = parts.log,
          .seed = parts.settings.seed};
}

base::Error no_such_node(const std::string& uid) {
  return {ErrorKind::NotFound, "CCE node " + uid + " does not exist (any more)", {}};
}

// The type's labels that have one value.
void label_type(model::StringMap& labels, const scheduling::InstanceType& type) {
  for (const auto& requirement : type.requirements) {
    if (!requirement.is_complement() && requirement.values().size() == 1) {
      labels[requirement.key()] = requirement.values().front();
    }
  }
}

}  // namespace

HuaweiCloud::HuaweiCloud(Parts parts, PriceFile prices)
    : parts_(std::move(parts)),
      credentials_(credential_parts(parts_)),
      api_(api_parts(parts_, &credentials_)),
      nodes_(api_, parts_.cluster),
      catalog_(parts_.endpoints.region(), parts_.settings.spot),
      restock_(parts_.loop, catalog_.unavailable(), [this] { catalog_.changed(); }),
      refresh_({.api = api_,
                .catalog = catalog_,
                .environment = parts_.environment,
                .price_cache = parts_.settings.price_cache,
                .log = parts_.log}),
      resolver_(api_),
      launcher_({.api = api_,
                 .nodes = nodes_,
                 .catalog = catalog_,
                 .restock = restock_,
                 .resolver = resolver_,
                 .log = parts_.log}),
      failed_nodes_({.loop = parts_.loop,
                     .nodes = nodes_,
                     .unavailable = catalog_.unavailable(),
                     .restock = restock_,
                     .log = parts_.log}) {
  catalog_.prices().set_file(std::move(prices));
  refresh_.load();
}

std::span<const model::Resource> HuaweiCloud::node_classes() const {
  return {&model::kCceNodeClassResource, 1};
}

model::RepairPolicies HuaweiCloud::repair_policies() const {
  return kReadinessRepairPolicies;
}

void HuaweiCloud::on_catalog_change(std::function<void()> callback) {
  catalog_.on_change(std::move(callback));
}

base::Task<void> HuaweiCloud::run(std::stop_token stop) {
  base::TaskGroup group(parts_.loop);
  group.spawn(refresh_.run(stop));
  group.spawn(restock_.run(stop));
  co_await group.join();
}

base::Task<void> HuaweiCloud::lead(std::stop_token stop) {
  co_await failed_nodes_.run(std::move(stop));
}

void HuaweiCloud::learn_capacity(const model::NodeClaim& claim, const model::Node& node) {
  failed_nodes_.came_up(claim.provider_id);
  const auto* flavor = catalog_.find(claim.meta.label(model::kInstanceTypeLabel));
  const auto memory = model::get(node.capacity, model::kMemory);
  if (flavor != nullptr && catalog_.memory().learn({flavor->name, flavor->memory_mib},
                                                   claim.image_id, memory, parts_.loop.now())) {
    catalog_.changed();
  }
}

Provider::Reply<Instance> HuaweiCloud::create(ClaimPtr claim, NodeClassPtr node_class) {
  if (claim->meta.uid.empty()) {
    co_return base::fail(ErrorKind::Invalid, "NodeClaim " + claim->meta.name +
                                                 " has no metadata.uid; create it in the API");
  }
  const auto* ready = model::find_condition(node_class->conditions, model::kReady);
  if (ready != nullptr && ready->status == model::ConditionStatus::False) {
    co_return base::fail(ErrorKind::NotReady, "CCENodeClass " + node_class->meta.name +
                                                  " is not ready: " + ready->message);
  }
  if (!catalog_.is_known()) {
    co_return base::fail(ErrorKind::Unavailable, "Huawei Cloud's flavors are not known yet");
  }
  // An earlier process, or a call whose answer was lost, may have asked for its node.
  auto node = co_await launcher_.adopt(claim);
  if (!node && node.error().kind == ErrorKind::NotFound) {
    node = co_await launcher_.launch(claim, node_class);
  }
  MW_CO_CHECK(node);
  auto instance = to_instance(*node);
  const auto types = catalog_.types(*node_class, parts_.loop.now());
  if (const auto* type = scheduling::find_type(types, node->flavor)) {
    model::StringMap labels;
    label_type(labels, *type);
    for (const auto& [key, value] : instance.labels) {
      labels[key] = value;
    }
    instance.labels = std::move(labels);
    instance.capacity = type->capacity;
    instance.allocatable = type->allocatable();
  }
  const auto stamp = hash_stamp(*node_class);
  instance.annotations[stamp.key] = stamp.hash;
  instance.annotations[stamp.version_key] = stamp.version;
  instance.launched_at = node->created_at.value_or(parts_.loop.now());
  co_return instance;
}

Provider::Reply<> HuaweiCloud::remove_node(std::string uid) {
  MW_CO_TRY(node, co_await nodes_.get(uid));
  launcher_.forget(uid);
  if (node.is_deleting()) {
    co_return base::Result<>{};
  }
  auto removed = co_await nodes_.remove(uid);
  if (!removed && node.is_being_made() && removed.error().kind == ErrorKind::Invalid) {
    // It can be deleted when it is made, or has failed; the caller asks again until it is gone.
    parts_.log.info("CCE does not delete a node that it still makes; asking again later",
                    {{"node", uid}, {"error", removed.error().message}});
    co_return base::Result<>{};
  }
  // A node that is not there any more is NotFound, as the caller wants it.
  MW_CO_CHECK(removed);
  co_return base::Result<>{};
}

Provider::Reply<> HuaweiCloud::remove(ClaimPtr claim) {
  std::string uid = claim->provider_id;
  if (uid.empty()) {
    MW_CO_TRY(node, co_await launcher_.find_by_claim(claim));
    uid = node.uid;
  }
  auto removed = co_await remove_node(uid);
  if (!removed) {
    co_return base::with_context("NodeClaim " + claim->meta.name, std::move(removed).error());
  }
  co_return removed;
}

Provider::Reply<> HuaweiCloud::remove_leaked(std::string provider_id) {
  co_return co_await remove_node(std::move(provider_id));
}

Provider::Reply<Instance> HuaweiCloud::get(std::string provider_id) {
  if (provider_id.empty()) {
    co_return tl::unexpected(no_such_node(provider_id));
  }
  MW_CO_TRY(node, co_await nodes_.get(provider_id));
  co_return to_instance(node);
}

Provider::Reply<std::vector<Instance>> HuaweiCloud::list() {
  MW_CO_TRY(nodes, co_await nodes_.list());
  std::vector<Instance> result;
  for (const auto& node : nodes) {
    if (!node.tag(kClaimUidTag).empty()) {
      result.push_back(to_instance(node));
    }
  }
  co_return result;
}

base::Result<scheduling::InstanceTypes> HuaweiCloud::instance_types(
    const model::NodePool& /*pool*/, const model::NodeClass& node_class) const {
  if (!catalog_.is_known()) {
    return base::fail(ErrorKind::NotReady, "Huawei Cloud's flavors are not known yet");
  }
  return catalog_.types(node_class, parts_.loop.now());
}

std::optional<model::HashStamp> HuaweiCloud::hash_of(const model::NodeClass& node_class) const {
  return hash_stamp(node_class);
}

Provider::Reply<std::string> HuaweiCloud::drift(ClaimPtr claim, NodeClassPtr node_class) {
  auto reason = static_drift(*claim, hash_stamp(*node_class));
  if (!reason.empty() || claim->provider_id.empty()) {
    co_return reason;
  }
  auto found = co_await nodes_.get(claim->provider_id);
  if (!found && found.error().kind == ErrorKind::NotFound) {
    co_return std::string();  // gone: garbage collection's business
  }
  MW_CO_TRY(node, std::move(found));
  const auto subnets = read_subnets(*node_class);
  const bool moved = !subnets.empty() && !node.subnet.empty() &&
                     std::find(subnets.begin(), subnets.end(), node.subnet) == subnets.end();
  co_return std::string(moved ? "SubnetDrift" : "");
}

Provider::Reply<NodeClassState> HuaweiCloud::resolve(NodeClassPtr node_class) {
  MW_CO_TRY(state, co_await resolver_.resolve(node_class));
  if (catalog_.is_known()) {
    gauges_.publish(parts_.metrics, model::reference_to(*node_class),
                    catalog_.types(*node_class, parts_.loop.now()));
  }
  co_return state;
}

Provider::Reply<> HuaweiCloud::release(NodeClassPtr node_class) {
  gauges_.forget(parts_.metrics, model::reference_to(*node_class));
  co_return base::Result<>{};
}

Instance HuaweiCloud::to_instance(const CceNode& node) const {
  Instance instance;
  instance.provider_id = node.uid;  // bare, as CCE's kubelet registers it
  instance.image_id = node.os;
  instance.node_claim = node.tag(kClaimTag);
  instance.node_pool = node.tag(model::kNodePoolLabel);
  instance.labels = {{std::string(model::kInstanceTypeLabel), node.flavor},
                     {std::string(model::kZoneLabel), node.zone},
                     {std::string(model::kCapacityTypeLabel),
                      std::string(node.spot ? model::kSpot : model::kOnDemand)},
                     {std::string(model::kRegionLabel), parts_.endpoints.region()}};
  if (const auto* flavor = catalog_.find(node.flavor)) {
    instance.labels[std::string(model::kArchLabel)] = flavor->arch;
  }
  instance.annotations[std::string(kNodeIdAnnotation)] = node.uid;
  if (!node.server.empty()) {
    instance.annotations[std::string(kServerIdAnnotation)] = node.server;
  }
  instance.launched_at = node.created_at;
  instance.terminating = node.is_deleting();
  instance.node_name = node.private_ip;
  return instance;
}

}  // namespace millwright::cloud::huawei
