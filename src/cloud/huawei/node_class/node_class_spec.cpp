#include "cloud/huawei/node_class/node_class_spec.hpp"

#include "cloud/common/node_class/spec_fields.hpp"
#include "millwright/model/json_fields.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::huawei {
namespace {

namespace json = boost::json;
using model::member;
using model::text_at;

constexpr std::int64_t kUsualK8sGib = 100;

Disk read_disk(const json::value& value) {
  Disk disk;
  disk.gib = integer_at(value, "volumeSize").value_or(0);
  disk.type = text_at(value, "volumeType");
  disk.iops = integer_at(value, "iops");
  disk.throughput = integer_at(value, "throughput");
  return disk;
}

// Quantities may be written as text or as a number.
model::ResourceList read_reserved(const json::value& kubelet, std::string_view key) {
  model::ResourceList result;
  const auto* object = part_at(kubelet, key).if_object();
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

}  // namespace

NodeClassSpec read_spec(const model::NodeClass& node_class) {
  const auto& spec = node_class.spec;
  NodeClassSpec result;
  result.name = node_class.meta.name;
  for (const auto& term : list_at(spec, "subnetSelectorTerms")) {
    result.subnet_terms.push_back(
        {std::string(text_at(term, "id")), std::string(text_at(term, "name"))});
  }
  result.ims_family = text_at(spec, "imsSelector.imsFamily");
  const auto& disks = part_at(spec, "blockDeviceMappings");
  result.root = read_disk(part_at(disks, "root"));
  if (member(disks, "k8s") != nullptr) {
    result.k8s = read_disk(part_at(disks, "k8s"));
  } else {
    result.k8s.gib = kUsualK8sGib;
    result.k8s.type = result.root.type;
    result.k8s.iops = result.root.iops;
    result.k8s.throughput = result.root.throughput;
  }
  for (const auto& each : list_at(disks, "users")) {
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
  const auto& kubelet = part_at(spec, "kubelet");
  result.max_pods = integer_at(kubelet, "maxPods");
  result.kube_reserved = read_reserved(kubelet, "kubeReserved");
  result.system_reserved = read_reserved(kubelet, "systemReserved");
  return result;
}

std::vector<std::string> read_subnets(const model::NodeClass& node_class) {
  std::vector<std::string> ids;
  for (const auto& each : list_at(node_class.status, "subnets")) {
    if (const auto id = text_at(each, "id"); !id.empty()) {
      ids.emplace_back(id);
    }
  }
  return ids;
}

}  // namespace millwright::cloud::huawei
