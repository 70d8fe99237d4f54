#include "cloud/huawei/node_class/node_class_spec.hpp"

#include "millwright/model/json_fields.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::huawei {
namespace {

namespace json = boost::json;
using model::member;
using model::text_at;

constexpr std::int64_t kUsualK8sGib = 100;

const json::value& spec_part(const json::value& value, std::string_view key) {
  static const json::value kNone;
  const auto* found = member(value, key);
  return found == nullptr ? kNone : *found;
}

std::optional<std::int64_t> spec_integer(const json::value& value, std::string_view key) {
  const auto* found = member(value, key);
  return found != nullptr && found->is_int64() ? std::optional(found->get_int64()) : std::nullopt;
}

Disk read_disk(const json::value& value) {
  Disk disk;
  disk.gib = spec_integer(value, "volumeSize").value_or(0);
  disk.type = text_at(value, "volumeType");
  disk.iops = spec_integer(value, "iops");
  disk.throughput = spec_integer(value, "throughput");
  return disk;
}

// Quantities may be written as text or as a number.
model::ResourceList read_reserved(const json::value& kubelet, std::string_view key) {
  model::ResourceList result;
  const auto* object = spec_part(kubelet, key).if_object();
  if (object == nullptr) {
    return result;
  }
  for (const auto& [name, value] : *object) {
    const std::string text =
        value.is_int64() ? std::to_string(value.get_int64()) : std::string(model::as_text(&value));
    if (const auto quantity = model::Quantity::parse(text)) {
      result[std::string(name)] = *quantity;
    }
  }
  return result;
}

const json::array& items_of(const json::value& value, std::string_view key) {
  static const json::array kNone;
  const auto* array = spec_part(value, key).if_array();
  return array == nullptr ? kNone : *array;
}

}  // namespace

NodeClassSpec read_spec(const model::NodeClass& node_class) {
  const auto& spec = node_class.spec;
  NodeClassSpec result;
  result.name = node_class.meta.name;
  for (const auto& term : items_of(spec, "subnetSelectorTerms")) {
    result.subnet_terms.push_back(
        {std::string(text_at(term, "id")), std::string(text_at(term, "name"))});
  }
  result.ims_family = text_at(spec, "imsSelector.imsFamily");
  const auto& disks = spec_part(spec, "blockDeviceMappings");
  result.root = read_disk(spec_part(disks, "root"));
  if (member(disks, "k8s") != nullptr) {
    result.k8s = read_disk(spec_part(disks, "k8s"));
  } else {
    result.k8s.gib = kUsualK8sGib;
    result.k8s.type = result.root.type;
    result.k8s.iops = result.root.iops;
    result.k8s.throughput = result.root.throughput;
  }
  for (const auto& each : items_of(disks, "users")) {
    result.users.push_back(read_disk(each));
  }
  if (const auto type = text_at(spec, "runtimeConfiguration.type"); !type.empty()) {
    result.runtime = type;
  }
  result.ssh_key = text_at(spec, "login.sshKey");
  if (const auto user = text_at(spec, "login.userPassword.username"); !user.empty()) {
    result.user = user;
  }
  result.password = text_at(spec, "login.userPassword.password");
  result.server_group = text_at(spec, "ecsGroupId");
  const auto& kubelet = spec_part(spec, "kubelet");
  result.max_pods = spec_integer(kubelet, "maxPods");
  result.kube_reserved = read_reserved(kubelet, "kubeReserved");
  result.system_reserved = read_reserved(kubelet, "systemReserved");
  return result;
}

std::vector<std::string> read_subnets(const model::NodeClass& node_class) {
  std::vector<std::string> ids;
  for (const auto& each : items_of(node_class.status, "subnets")) {
    if (const auto id = text_at(each, "id"); !id.empty()) {
      ids.emplace_back(id);
    }
  }
  return ids;
}

}  // namespace millwright::cloud::huawei
