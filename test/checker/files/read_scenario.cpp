#include "checker/files/scenario.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/scheduling/overlays.hpp"
#include "unit/scheduling/builders.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>

namespace millwright::checker {
namespace {

namespace json = boost::json;
using namespace scheduling;           // NOLINT: a test helper about nothing else
using namespace scheduling::testing;  // NOLINT

constexpr auto kReplicas = "scenario/replicas";
constexpr auto kReservationId = "provider.example.com/reservation-id";

std::string text(const json::value& value) {
  return value.is_string() ? std::string(value.as_string()) : json::serialize(value);
}
std::string text_at(const json::object& object, std::string_view key, std::string fallback) {
  const auto* found = object.if_contains(key);
  return found == nullptr ? std::move(fallback) : text(*found);
}
double number(const json::value& value) {
  return value.is_double() ? value.as_double() : static_cast<double>(value.as_int64());
}

Offering offering_of(const json::object& item, double price) {
  const auto* own_price = item.if_contains("price");
  Offering result =
      offering(text_at(item, "zone", "test-zone-1"), text_at(item, "capacityType", "on-demand"),
               own_price != nullptr ? number(*own_price) : price);
  if (const auto* available = item.if_contains("available")) {
    result.available = available->as_bool();
  }
  if (const auto* reservation = item.if_contains("reservation")) {
    model::register_well_known_label(kReservationId);
    result.requirements.add(in(kReservationId, {text_at(item, "reservationId", "r-1")}));
    result.reservation_capacity = static_cast<int>(reservation->as_int64());
  }
  if (const auto* more = item.if_contains("capacity")) {
    result.capacity_override.emplace();
    for (const auto& [name, amount] : more->as_object()) {
      result.capacity_override->emplace(std::string(name), quantity(text(amount)));
    }
  }
  return result;
}

TypeBuilder builder_of(const json::object& item) {
  TypeBuilder result = type(text_at(item, "name", "t"));
  result.cpu(text_at(item, "cpu", "4")).memory(text_at(item, "memory", "8Gi"));
  result.max_pods(text_at(item, "pods", "20")).arch(text_at(item, "arch", "amd64"));
  result.os(text_at(item, "os", "linux"));
  if (const auto* labels = item.if_contains("labels")) {
    for (const auto& [key, value] : labels->as_object()) {
      model::register_well_known_label(key);
      if (value.is_null()) {
        result.requirement(Requirement(key, model::Operator::DoesNotExist));
      } else if (value.is_array()) {
        result.label(key, json::value_to<std::vector<std::string>>(value));
      } else {
        result.label(key, {text(value)});
      }
    }
  }
  if (const auto* less = item.if_contains("overhead")) {
    result.no_overhead();
    for (const auto& [name, amount] : less->as_object()) {
      result.keeps(name, text(amount));
    }
  }
  if (const auto* more = item.if_contains("resources")) {
    for (const auto& [name, amount] : more->as_object()) {
      result.has(name, text(amount));
    }
  }
  const auto* price = item.if_contains("price");
  if (price != nullptr) {
    result.price(number(*price));
  }
  if (const auto* offerings = item.if_contains("offerings")) {
    result.sold(std::vector<std::pair<std::string, std::string>>{});
    for (const auto& each : offerings->as_array()) {
      result.sold(offering_of(each.as_object(), price != nullptr ? number(*price) : 1));
    }
  }
  return result;
}

InstanceType type_of(const json::object& item) {
  InstanceType result = builder_of(item);
  if (const auto* limits = item.if_contains("volumeLimits")) {
    for (const auto& [driver, count] : limits->as_object()) {
      result.volume_limits[driver] = static_cast<int>(count.as_int64());
    }
  }
  return result;
}

class Reader {
 public:
  base::Result<Scenario> read(const std::vector<json::value>& documents) {
    snapshot_ = std::make_shared<Snapshot>();
    for (const auto& document : documents) {
      if (auto taken = take(document); !taken) {
        return tl::unexpected(taken.error());
      }
    }
    for (auto& [name, record] : records_) {
      for (const auto& pod : bound_) {
        if (pod->spec.node_name == name) {
          record.pods.push_back(pod);
          model::add_to(record.pod_requests, effective_requests(*pod));
          if (model::is_owned_by_daemonset(*pod)) {
            model::add_to(record.daemon_requests, effective_requests(*pod));
          }
        }
      }
      record.marked_for_deletion = (record.node && record.node->meta.is_deleting()) ||
                                   (record.claim && record.claim->meta.is_deleting());
      const auto shared = std::make_shared<const NodeRecord>(record);
      if (record.marked_for_deletion) {
        move_pods_of(record);
      } else {
        scenario_.problem.nodes.push_back(shared);
      }
      scenario_.problem.counted_nodes.push_back(shared);
      snapshot_->nodes.push_back(shared);
    }
    if (pools_.empty()) {
      pools_.push_back(pool("default"));
    }
    Catalog catalog;
    for (const auto& one : pools_) {
      catalog.emplace(one->meta.name, types_ ? types_ : three_sizes());
    }
    catalog = apply_overlays(catalog, pools_, snapshot_->node_overlays).catalog;
    for (const auto& one : pools_) {
      scenario_.problem.pools.push_back({one, catalog.at(one->meta.name)});
    }
    sort_devices();
    scenario_.problem.daemon_sets = snapshot_->daemon_sets;
    scenario_.problem.cluster = snapshot_;
    return std::move(scenario_);
  }

 private:
  // What runs on a node that is leaving is planned anew.
  void move_pods_of(const NodeRecord& record) {
    for (const auto& pod : record.pods) {
      if (is_reschedulable(*pod)) {
        scenario_.problem.pods.push_back(pod);
      }
    }
  }

  base::Result<void> take(const json::value& document) {
    const std::string kind = text_at(document.as_object(), "kind", "");
    if (kind == "Scenario") {
      return take_scenario(document.as_object());
    }
    if (kind == "Pod") {
      return take_pod(document);
    }
    if (kind == "NodePool") {
      return add<model::NodePool>(document, pools_);
    }
    if (kind == "Node" || kind == "NodeClaim") {
      return take_node(document, kind == "Node");
    }
    if (kind == "NodeOverlay") {
      return add<model::NodeOverlay>(document, snapshot_->node_overlays);
    }
    if (kind == "Namespace") {
      return add<model::Namespace>(document, snapshot_->namespaces);
    }
    if (kind == "DaemonSet") {
      return add<model::DaemonSet>(document, snapshot_->daemon_sets);
    }
    if (kind == "PersistentVolumeClaim") {
      return add<model::PersistentVolumeClaim>(document, snapshot_->volume_claims);
    }
    if (kind == "PersistentVolume") {
      return add<model::PersistentVolume>(document, snapshot_->volumes);
    }
    if (kind == "StorageClass") {
      return add<model::StorageClass>(document, snapshot_->storage_classes);
    }
    const bool selects =
        std::any_of(model::kPodSelectorResources.begin(), model::kPodSelectorResources.end(),
                    [&](const auto& resource) { return resource.kind == kind; });
    if (selects) {
      return add_selector(document, kind);
    }
    if (kind == "CSINode") {
      return add<model::CSINode>(document, snapshot_->csi_nodes);
    }
    if (auto taken = take_devices(document, kind)) {
      scenario_.problem.options.resource_claims = true;
      return *std::move(taken);
    }
    return base::fail(base::ErrorKind::Invalid, "a scenario cannot have a " + kind);
  }

  template <class T>
  static base::Result<void> add(const json::value& document,
                                std::vector<std::shared_ptr<const T>>& to,
                                std::string_view default_namespace = "default") {
    auto decoded = model::decode<T>(document);
    if (!decoded) {
      return tl::unexpected(decoded.error());
    }
    if (decoded->meta.namespace_.empty()) {
      decoded->meta.namespace_ = default_namespace;
    }
    to.push_back(std::make_shared<const T>(*std::move(decoded)));
    return {};
  }

  // The planner looks them up by name, so a snapshot has them sorted.
  void sort_devices() {
    const auto sort = [](auto& list) {
      std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
        return std::tie(a->meta.name, a->meta.namespace_) <
               std::tie(b->meta.name, b->meta.namespace_);
      });
    };
    sort(snapshot_->device_classes);
    sort(snapshot_->resource_claims);
    sort(snapshot_->resource_claim_templates);
    sort(snapshot_->resource_slices);
  }

  // nullopt: the kind is none of dynamic resource allocation.
  std::optional<base::Result<void>> take_devices(const json::value& document,
                                                 const std::string& kind) {
    if (kind == "DeviceClass") {
      return add<model::DeviceClass>(document, snapshot_->device_classes, "");
    }
    if (kind == "ResourceClaim") {
      return add<model::ResourceClaim>(document, snapshot_->resource_claims);
    }
    if (kind == "ResourceClaimTemplate") {
      return add<model::ResourceClaimTemplate>(document, snapshot_->resource_claim_templates);
    }
    if (kind == "ResourceSlice") {
      return add<model::ResourceSlice>(document, snapshot_->resource_slices, "");
    }
    if (kind == "DRAConfig") {
      return take_device_config(document);
    }
    return std::nullopt;
  }

  base::Result<void> take_device_config(const json::value& document) {
    auto decoded = model::decode_device_templates(document);
    if (!decoded) {
      return tl::unexpected(decoded.error());
    }
    auto& known = scenario_.problem.options.device_templates;
    auto templates = known == nullptr ? std::vector<model::DeviceTemplate>() : *known;
    templates.insert(templates.end(), decoded->begin(), decoded->end());
    known = std::make_shared<const std::vector<model::DeviceTemplate>>(std::move(templates));
    return {};
  }

  base::Result<void> add_selector(const json::value& document, const std::string& kind) {
    auto decoded = model::decode_pod_selector(kind, document);
    if (!decoded) {
      return tl::unexpected(decoded.error());
    }
    decoded->meta.namespace_ = "default";
    snapshot_->pod_selectors.push_back(
        std::make_shared<const model::PodSelector>(*std::move(decoded)));
    return {};
  }

  // They look like a pod's own.
  base::Result<void> take_default_constraints(const json::value& list) {
    auto decoded = model::decode<model::Pod>(
        json::object{{"spec", json::object{{"topologySpreadConstraints", list}}}});
    if (!decoded) {
      return tl::unexpected(decoded.error());
    }
    scenario_.problem.options.default_spread = {
        {.scheduler_name = {}, .constraints = std::move(decoded->spec.topology_spread)}};
    return {};
  }

  base::Result<void> take_scenario(const json::object& document) {
    scenario_.title = text_at(document, "title", "");
    scenario_.expect = document.at("expect");
    if (const auto* list = document.if_contains("types")) {
      std::vector<InstanceType> made;
      for (const auto& item : list->as_array()) {
        made.push_back(type_of(item.as_object()));
      }
      types_ = types(std::move(made));
    }
    SolveOptions& options = scenario_.problem.options;
    if (text_at(document, "preferencePolicy", "Respect") == "Ignore") {
      options.preferences = PreferencePolicy::Ignore;
    }
    if (text_at(document, "minValuesPolicy", "Strict") == "BestEffort") {
      options.min_values = MinValuesPolicy::BestEffort;
    }
    if (const auto* limit = document.if_contains("maxInstanceTypes")) {
      options.max_instance_types = static_cast<std::size_t>(limit->as_int64());
    }
    if (const auto* claims = document.if_contains("resourceClaims")) {
      options.resource_claims = options.resource_claims || claims->as_bool();
    }
    if (const auto* list = document.if_contains("defaultConstraints")) {
      return take_default_constraints(*list);
    }
    return {};
  }

  base::Result<void> take_pod(const json::value& document) {
    auto decoded = model::decode<model::Pod>(document);
    if (!decoded) {
      return tl::unexpected(decoded.error());
    }
    model::Pod pod = *std::move(decoded);
    if (pod.meta.namespace_.empty()) {
      pod.meta.namespace_ = "default";
    }
    const auto replicas = pod.meta.annotations.find(kReplicas);
    const int count = replicas == pod.meta.annotations.end() ? 1 : std::stoi(replicas->second);
    for (int i = 0; i < count; ++i) {
      model::Pod copy = pod;
      if (count > 1) {
        copy.meta.name += "-" + std::to_string(i);
      }
      copy.meta.uid = copy.meta.name;
      auto shared = std::make_shared<const model::Pod>(std::move(copy));
      (pod.spec.node_name.empty() ? scenario_.problem.pods : bound_).push_back(std::move(shared));
    }
    return {};
  }

  // A NodeClaim and a Node of the same name are joined.
  base::Result<void> take_node(const json::value& document, bool is_node) {
    if (is_node) {
      auto decoded = model::decode<model::Node>(document);
      if (!decoded) {
        return tl::unexpected(decoded.error());
      }
      decoded->meta.labels.try_emplace(std::string(model::kHostnameLabel), decoded->meta.name);
      NodeRecord& record = records_[decoded->meta.name];
      record.node = std::make_shared<const model::Node>(*std::move(decoded));
      return {};
    }
    auto decoded = model::decode<model::NodeClaim>(document);
    if (!decoded) {
      return tl::unexpected(decoded.error());
    }
    NodeRecord& record = records_[decoded->meta.name];
    record.claim = std::make_shared<const model::NodeClaim>(*std::move(decoded));
    return {};
  }

  Scenario scenario_;
  std::shared_ptr<Snapshot> snapshot_;
  std::vector<std::shared_ptr<const model::NodePool>> pools_;
  InstanceTypes types_;
  std::map<std::string, NodeRecord> records_;
  std::vector<PodPtr> bound_;
};

}  // namespace

base::Result<Scenario> read_scenario(std::string_view text) {
  if (!text.starts_with('{')) {
    auto documents = model::parse_yaml(text);
    if (!documents) {
      return tl::unexpected(documents.error());
    }
    return Reader().read(*documents);
  }
  std::vector<json::value> documents;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    auto document = model::parse_json(text.substr(begin, end - begin));
    if (!document) {
      return tl::unexpected(document.error());
    }
    documents.push_back(*std::move(document));
    begin = end + 1;
  }
  return Reader().read(documents);
}

base::Result<Scenario> read_scenario_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return base::fail(base::ErrorKind::NotFound, path + " cannot be read");
  }
  std::ostringstream text;
  text << file.rdbuf();
  return read_scenario(text.str());
}

}  // namespace millwright::checker
