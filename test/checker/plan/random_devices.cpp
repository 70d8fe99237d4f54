// Random problems in which pods ask for devices, on top of those of random_world.
#include "checker/plan/random_world.hpp"
#include "unit/scheduling/object_builders.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace millwright::checker {
namespace {

using scheduling::NodeRecord;
using scheduling::NodeRecordPtr;
using scheduling::Problem;
using scheduling::Snapshot;

constexpr std::string_view kDeviceDriver = "gpu.example.com";
const std::string kOfDriver = R"(device.driver == "gpu.example.com")";
const std::string kOfModel = R"(device.attributes["gpu.example.com"].model == "a")";
const std::string kOfSize =
    R"(device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0)";

// What drivers published agrees with what was foreseen for the type, because Karpenter knows of
// types only the latter.
class DevicesOfWorld {
 public:
  DevicesOfWorld(Problem problem, std::uint32_t seed)
      : random_(seed),
        problem_(std::move(problem)),
        snapshot_(std::make_shared<Snapshot>(*problem_.cluster)) {}

  Problem add() {
    add_classes();
    add_templates();
    foresee();
    for (const NodeRecordPtr& node : std::vector<NodeRecordPtr>(problem_.nodes)) {
      publish(node);
    }
    ask();
    sort_lists();
    problem_.kept.clear();  // that room says nothing of devices
    problem_.options.resource_claims = true;
    problem_.cluster = snapshot_;
    return std::move(problem_);
  }

 private:
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  bool once_in(int n) { return pick(n) == 0; }

  static model::ObjectMeta named(std::string name, std::string space = {}) {
    model::ObjectMeta meta;
    meta.name = std::move(name);
    meta.namespace_ = std::move(space);
    return meta;
  }

  void add_classes() {
    const auto add = [this](std::string name, std::vector<std::string> selectors) {
      snapshot_->device_classes.push_back(std::make_shared<model::DeviceClass>(
          model::DeviceClass{.meta = named(std::move(name)), .selectors = std::move(selectors)}));
    };
    add("gpu", {kOfDriver});
    if (once_in(2)) {
      add("large", {kOfDriver, kOfSize});
    }
  }

  model::DeviceRequest request(int number) {
    model::DeviceRequest result;
    result.name = "r" + std::to_string(number);
    result.class_name = snapshot_->device_classes.size() > 1 && once_in(3) ? "large" : "gpu";
    if (once_in(2)) {
      result.selectors = {once_in(2) ? kOfModel : kOfSize};
    }
    result.count = once_in(3) ? 2 : 1;
    return result;
  }

  void add_templates() {
    const int count = 2 + pick(3);
    for (int i = 0; i < count; ++i) {
      model::ResourceClaimSpec spec;
      const int requests = once_in(3) ? 2 : 1;
      for (int r = 0; r < requests; ++r) {
        spec.requests.push_back(request(r));
      }
      specs_.push_back(spec);
      for (const char* space : {"default", "other"}) {
        snapshot_->resource_claim_templates.push_back(
            std::make_shared<model::ResourceClaimTemplate>(model::ResourceClaimTemplate{
                .meta = named("devices-" + std::to_string(i), space), .spec = spec}));
      }
    }
  }

  std::vector<model::Device> make_devices() {
    std::vector<model::Device> result;
    const int count = 1 + pick(4);
    const bool alike = once_in(2);
    for (int i = 0; i < count; ++i) {
      model::Device device;
      if (alike && i > 0) {
        device = result.front();
      } else {
        device.attributes["gpu.example.com/model"] = std::string(once_in(2) ? "a" : "b");
        device.capacity["gpu.example.com/memory"] =
            scheduling::testing::quantity(std::to_string(20 << pick(3)) + "Gi");
      }
      device.name = "gpu-" + std::to_string(i);
      result.push_back(std::move(device));
    }
    return result;
  }

  void foresee() {
    auto templates = std::make_shared<std::vector<model::DeviceTemplate>>();
    for (const auto& type : *problem_.pools.front().types) {
      if (once_in(3)) {
        continue;
      }
      const auto& devices = of_type_[type.name] = make_devices();
      templates->push_back(
          {.driver = std::string(kDeviceDriver),
           .node_terms = {{{scheduling::testing::need(model::kInstanceTypeLabel,
                                                      model::Operator::In, {type.name})},
                           {}}},
           .devices = devices});
    }
    problem_.options.device_templates = std::move(templates);
  }

  // Makes it a node of some type that has devices.
  void publish(const NodeRecordPtr& node) {
    if (of_type_.empty() || once_in(3)) {
      return;
    }
    const auto& [type, devices] =
        *std::next(of_type_.begin(), pick(static_cast<int>(of_type_.size())));
    relabel(node, type);
    if (!node->initialized()) {
      return;  // it is taken to have what its type has
    }
    const std::size_t slices = devices.size() > 1 && once_in(3) ? 2 : 1;
    for (std::size_t s = 0; s < slices; ++s) {
      model::ResourceSlice slice{.meta = named(node->name() + "-" + std::to_string(s)),
                                 .driver = std::string(kDeviceDriver),
                                 .pool = node->name(),
                                 .generation = 1,
                                 .slices_in_pool = static_cast<std::int64_t>(slices),
                                 .node_name = node->name(),
                                 .devices = {}};
      for (std::size_t d = s; d < devices.size(); d += slices) {
        slice.devices.push_back(devices[d]);
      }
      snapshot_->resource_slices.push_back(
          std::make_shared<model::ResourceSlice>(std::move(slice)));
    }
    for (const model::Device& device : devices) {
      if (once_in(4)) {
        take(node->name(), device.name);
      }
    }
  }

  void relabel(const NodeRecordPtr& node, const std::string& type) {
    auto record = std::make_shared<NodeRecord>(*node);
    const std::string key(model::kInstanceTypeLabel);
    if (record->node) {
      auto copy = std::make_shared<model::Node>(*record->node);
      copy->meta.labels[key] = type;
      record->node = std::move(copy);
    }
    if (record->claim) {
      auto copy = std::make_shared<model::NodeClaim>(*record->claim);
      copy->meta.labels[key] = type;
      record->claim = std::move(copy);
    }
    for (auto* list : {&problem_.nodes, &problem_.counted_nodes, &snapshot_->nodes}) {
      std::replace(list->begin(), list->end(), node, NodeRecordPtr(record));
    }
  }

  void take(const std::string& node, const std::string& device) {
    model::ResourceClaim claim;
    claim.meta = named("taken-" + node + "-" + device, "default");
    claim.spec.requests = {
        {.name = "r", .class_name = "gpu", .selectors = {}, .first_available = {}}};
    claim.allocated = true;
    claim.devices = {{.driver = std::string(kDeviceDriver), .pool = node, .device = device}};
    claim.node_terms = {
        {{}, {scheduling::testing::need("metadata.name", model::Operator::In, {node})}}};
    claim.reserved_for = {"user-of-" + node + "-" + device};
    snapshot_->resource_claims.push_back(std::make_shared<model::ResourceClaim>(std::move(claim)));
  }

  // Replicas ask for the same. Pods of leaving nodes ask for nothing: they would bring claims along
  // that have devices.
  void ask() {
    std::map<std::string, std::vector<std::size_t>> of_workload;
    for (auto& pod : problem_.pods) {
      if (!pod->spec.node_name.empty()) {
        continue;
      }
      const std::string workload = pod->meta.uid.substr(0, pod->meta.uid.rfind('-'));
      const auto [wanted, is_new] = of_workload.try_emplace(workload);
      if (is_new) {
        const int claims = once_in(2) ? 0 : once_in(4) ? 2 : 1;
        for (int i = 0; i < claims; ++i) {
          wanted->second.push_back(static_cast<std::size_t>(pick(static_cast<int>(specs_.size()))));
        }
      }
      if (!wanted->second.empty()) {
        pod = with_claims(*pod, wanted->second);
      }
    }
  }

  scheduling::PodPtr with_claims(const model::Pod& pod, const std::vector<std::size_t>& templates) {
    auto copy = std::make_shared<model::Pod>(pod);
    for (std::size_t i = 0; i < templates.size(); ++i) {
      model::PodResourceClaim reference;
      reference.name = "d" + std::to_string(i);
      if (once_in(10)) {  // made by hand
        reference.claim_name = pod.meta.uid + "-" + reference.name;
        snapshot_->resource_claims.push_back(std::make_shared<model::ResourceClaim>(
            model::ResourceClaim{.meta = named(reference.claim_name, pod.meta.namespace_),
                                 .spec = specs_[templates[i]],
                                 .devices = {},
                                 .node_terms = {},
                                 .reserved_for = {}}));
      } else {
        reference.template_name = "devices-" + std::to_string(templates[i]);
      }
      copy->spec.resource_claims.push_back(std::move(reference));
    }
    return copy;
  }

  void sort_lists() {
    const auto sort = [](auto& list) {
      std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
        return std::tie(a->meta.name, a->meta.namespace_) <
               std::tie(b->meta.name, b->meta.namespace_);
      });
    };
    sort(snapshot_->resource_claims);
    sort(snapshot_->resource_claim_templates);
    sort(snapshot_->resource_slices);
  }

  std::mt19937 random_;
  Problem problem_;
  std::shared_ptr<Snapshot> snapshot_;
  std::vector<model::ResourceClaimSpec> specs_;                // of templates
  std::map<std::string, std::vector<model::Device>> of_type_;  // by instance type
};

}  // namespace

scheduling::Problem random_world_with_devices(std::uint32_t seed) {
  return DevicesOfWorld(random_world(seed), seed).add();
}

}  // namespace millwright::checker
