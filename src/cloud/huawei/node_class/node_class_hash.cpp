#include "cloud/huawei/node_class/node_class_hash.hpp"

#include "cloud/common/text/digest.hpp"
#include "cloud/huawei/node_class/node_class_spec.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::huawei {
namespace {

namespace json = boost::json;

constexpr std::size_t kHashDigits = 20;

json::value number_or_null(const std::optional<std::int64_t>& number) {
  return number ? json::value(*number) : json::value();
}

json::array disk_parts(const Disk& disk) {
  return {disk.gib, disk.type, number_or_null(disk.iops), number_or_null(disk.throughput)};
}

json::array resource_parts(const model::ResourceList& resources) {
  json::array parts;
  for (const auto& [name, quantity] : resources) {
    parts.push_back(json::array{name, quantity.milli()});
  }
  return parts;
}

}  // namespace

model::HashStamp hash_stamp(const model::NodeClass& node_class) {
  const auto spec = read_spec(node_class);
  json::array users;
  for (const auto& disk : spec.users) {
    users.push_back(disk_parts(disk));
  }
  const json::array parts{spec.ims_family,
                          disk_parts(spec.root),
                          disk_parts(spec.k8s),
                          std::move(users),
                          spec.runtime,
                          spec.ssh_key,
                          spec.user,
                          spec.password,
                          spec.server_group,
                          number_or_null(spec.max_pods),
                          resource_parts(spec.kube_reserved),
                          resource_parts(spec.system_reserved)};
  return {.key = std::string(kHashAnnotation),
          .version_key = std::string(kHashVersionAnnotation),
          .hash = to_hex(sha256(json::serialize(parts))).substr(0, kHashDigits),
          .version = "mw1",
          .earlier = {}};
}

}  // namespace millwright::cloud::huawei
