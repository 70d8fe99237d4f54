// CCENodeClass (karpenter.k8s.huawei/v1alpha1): how nodes are made on Huawei Cloud.
#include "millwright/model/quantity.hpp"
#include "schema/engine/kind.hpp"
#include "schema/engine/rules.hpp"
#include "schema/kinds/common.hpp"
#include "schema/kinds/kubelet.hpp"

#include <boost/json/serialize.hpp>

#include <utility>

namespace millwright::schema {
namespace {

const Pattern& uuid() {
  static const Pattern kPattern(
      "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
      "an id such as \"0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f\"");
  return kPattern;
}

Field subnet_terms() {
  return list_of("Which subnets nodes go to; a subnet has to meet one term.",
                 object("A term; id and name both have to fit when both are given.",
                        {optional("id", string("Id of the subnet.").pattern(uuid())),
                         optional("name", string("Name of the subnet."))})
                     .rule(rules::at_least_one_of({"id", "name"})))
      .size_at_least(1)
      .size_at_most(30);
}

Field disk(std::string description, std::int64_t least, std::int64_t most) {
  return object(std::move(description),
                {required("volumeSize", int32("Size in GiB.").between(least, most)),
                 required("volumeType",
                          string("Kind of disk.")
                              .size_at_least(1)
                              .one_of({"SAS", "SSD", "SATA", "ESSD", "GPSSD", "ESSD2", "GPSSD2"})),
                 optional("iops", int32("I/O operations per second, for GPSSD2 and ESSD2.")),
                 optional("throughput", int32("Throughput in MiB/s, for GPSSD2."))})
      .rule({"!(self.volumeType in ['GPSSD2', 'ESSD2']) || has(self.iops)",
             "disks of type GPSSD2 and ESSD2 need iops",
             [](const json::value& self) {
               const std::string_view type = text_at(self, "volumeType");
               return (type != "GPSSD2" && type != "ESSD2") || has(self, "iops");
             },
             {}})
      .rule({"self.volumeType != 'GPSSD2' || has(self.throughput)",
             "disks of type GPSSD2 need throughput",
             [](const json::value& self) {
               return text_at(self, "volumeType") != "GPSSD2" || has(self, "throughput");
             },
             {}});
}

Field disks() {
  return object(
      "Disks of the nodes.",
      {required("root", disk("System disk.", 20, 1024)),
       optional("k8s", disk("Disk of the container runtime and the kubelet; 100 GiB of the system "
                            "disk's type when absent.",
                            20, 32768)),
       optional("users", list_of("More data disks.", disk("A data disk.", 10, 32768)))});
}

Field login() {
  return object("How to log in to the nodes.",
                {optional(
                     "userPassword",
                     object("Log in with a password.",
                            {optional(
                                 "username",
                                 string("Name of the user.").one_of({"root"}).with_default("root")),
                             required("password",
                                      string("Password, salted and hashed (SHA-512 crypt) and "
                                             "then base64-encoded.")
                                          .size_at_least(1)
                                          .hidden())})),
                 optional("sshKey", string("Name of an SSH key pair.").size_at_least(1))})
      .rule(rules::exactly_one_of({"userPassword", "sshKey"}));
}

Field cce_node_class_spec() {
  return object(
      "How nodes should be made.",
      {required("subnetSelectorTerms", subnet_terms()),
       optional(
           "kubelet",
           object(
               "Settings of the kubelet on the nodes.",
               {optional("maxPods", int32("Most pods on a node; by the node's memory when "
                                          "absent.")
                                        .between(16, 256)),
                optional("kubeReserved", reserved_resources("Kept for Kubernetes' own programs.")),
                optional("systemReserved", reserved_resources("Kept for the operating system."))})),
       optional("ecsGroupId", string("Server group that keeps the nodes on different hosts.")),
       required("imsSelector",
                object("Which image nodes run.",
                       {required("imsFamily",
                                 string("Operating system as CCE names it, such as \"Huawei Cloud "
                                        "EulerOS 2.0\".")
                                     .size_at_least(1))})),
       required("blockDeviceMappings", disks()),
       optional("runtimeConfiguration",
                object("Container runtime of the nodes.",
                       {optional("type", string("Name of the runtime.")
                                             .one_of({"docker", "containerd"})
                                             .with_default("containerd"))})),
       required("login", login())});
}

Field cce_node_class_status() {
  return object("What the selectors resolved to and whether nodes can be made.",
                {optional("subnets", resolved_list("Subnets that the terms found.",
                                                   {required("id", string("Id of the subnet."))})),
                 optional("conditions", condition_list(ConditionText::Complete))});
}

// CCE takes reservations as whole numbers in a unit of its own per resource.
struct SuffixUnit {
  std::string_view resource;
  std::int64_t milli;
  std::string_view accepted;
};
constexpr std::int64_t kOne = 1000;  // thousandths
constexpr SuffixUnit kUnits[] = {
    {"cpu", 1, "whole millicores such as \"100m\""},
    {"memory", kOne << 20, "whole MiB such as \"512Mi\""},
    {"ephemeral-storage", kOne << 30, "whole GiB such as \"10Gi\""},
    {"pid", kOne, "a whole number such as \"1000\""},
};

// Quantities round up to thousandths, so finer text has to be told by its spelling.
bool finer_than_milli(std::string_view text) {
  return text.ends_with('n') || text.ends_with('u') ||
         (text.ends_with('m') && text.find('.') != std::string_view::npos);
}

void check_reserved(const json::value& kubelet, std::string_view block,
                    std::vector<Problem>& problems) {
  for (const auto& [name, value] : object_at(kubelet, block)) {
    for (const SuffixUnit& unit : kUnits) {
      const std::string_view text = as_text(&value);
      const auto amount = model::Quantity::parse(text);
      if (unit.resource != std::string_view(name) || !amount) {
        continue;
      }
      if (finer_than_milli(text) || amount->milli() % unit.milli != 0) {
        problems.push_back({"spec.kubelet." + std::string(block) + "[" + std::string(name) + "]",
                            json::serialize(value), "expected " + std::string(unit.accepted)});
      }
    }
  }
}

void check_cce_node_class(const json::value& object, std::vector<Problem>& problems) {
  const json::value* spec = member(object, "spec");
  if (const json::value* kubelet = member(spec, "kubelet")) {
    check_reserved(*kubelet, "kubeReserved", problems);
    check_reserved(*kubelet, "systemReserved", problems);
  }
}

}  // namespace

Kind kinds::cce_node_class() {
  Kind kind;
  kind.resource = model::kCceNodeClassResource;
  kind.description = "A CCENodeClass says how nodes are made on Huawei Cloud.";
  kind.short_names = {"ccenc"};
  kind.columns = {kReadyColumn, kAgeColumn};
  kind.root = object(std::string(kind.description), {required("spec", cce_node_class_spec()),
                                                     optional("status", cce_node_class_status())});
  kind.runtime_check = check_cce_node_class;
  return kind;
}

}  // namespace millwright::schema
