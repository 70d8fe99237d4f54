// EC2NodeClass (karpenter.k8s.aws/v1): how nodes are made on AWS.
#include "schema/engine/kind.hpp"
#include "schema/engine/rules.hpp"
#include "schema/kinds/common.hpp"
#include "schema/kinds/ec2.hpp"
#include "schema/kinds/kubelet.hpp"

#include <algorithm>

namespace millwright::schema {
namespace {

const Pattern& placement_group_id() {
  static const Pattern kPattern("^pg-[0-9a-z]+$", "a placement group id such as \"pg-0a1b2c3d\"");
  return kPattern;
}

Field placement_group() {
  return object(
             "Placement group that instances start in.",
             {optional("name", string("Name of the placement group.").size_at_least(1)),
              optional("id", string("Id of the placement group.").pattern(placement_group_id()))})
      .rule(rules::exactly_one_of({"name", "id"}));
}

std::int64_t count_where(const json::value& interfaces, std::string_view type,
                         std::optional<std::int64_t> card, std::optional<std::int64_t> device) {
  const json::array& items = as_list(&interfaces);
  return std::count_if(items.begin(), items.end(), [&](const json::value& item) {
    return text_at(item, "interfaceType") == type &&
           (!card || integer_at(item, "networkCardIndex") == card) &&
           (!device || integer_at(item, "deviceIndex") == device);
  });
}

Field network_interfaces() {
  return list_of(
             "Network interfaces of the instances; one of the default kind when absent.",
             object("A network interface.",
                    {required("networkCardIndex", int32("Index of the network card.").at_least(0)),
                     required("deviceIndex", int32("Index of the device on it.").at_least(0)),
                     required("interfaceType",
                              string("Kind of interface.").one_of({"interface", "efa-only"}))}))
      .size_at_least(1)
      .size_at_most(150)
      .keyed_by({"networkCardIndex", "deviceIndex"})
      .rule({"self.exists(x, x.networkCardIndex == 0 && x.deviceIndex == 0 && x.interfaceType == "
             "'interface')",
             "device 0 of card 0 has to be listed, with interfaceType \"interface\"",
             [](const json::value& self) { return count_where(self, "interface", 0, 0) > 0; },
             {}})
      .rule({"self.all(x, x.interfaceType != 'efa-only' || self.exists_one(y, y.interfaceType == "
             "'efa-only' && y.networkCardIndex == x.networkCardIndex))",
             "a network card may have one interface of type \"efa-only\" at most",
             [](const json::value& self) {
               const json::array& items = as_list(&self);
               return std::all_of(items.begin(), items.end(), [&](const json::value& item) {
                 return count_where(self, "efa-only", integer_at(item, "networkCardIndex"),
                                    std::nullopt) <= 1;
               });
             },
             {}});
}

Field connection_tracking() {
  return object("How long idle connections are tracked, in seconds.",
                {optional("tcpEstablishedTimeout",
                          int32("Established TCP connections.").between(60, 432000)),
                 optional("udpStreamTimeout",
                          int32("UDP flows seen in both directions.").between(60, 180)),
                 optional("udpTimeout", int32("Other UDP flows.").between(30, 60))})
      .rule(rules::at_least_one_of({"tcpEstablishedTimeout", "udpStreamTimeout", "udpTimeout"}));
}

Field instance_tags() {
  return map_of("Tags of everything made for the nodes.", string("Value of the tag."))
      .entry_rule(rules::no_empty_keys())
      .entry_rule(
          rules::keys_not_reserved({"eks:eks-cluster-name", "karpenter.sh/nodepool",
                                    "karpenter.sh/nodeclaim", "karpenter.k8s.aws/ec2nodeclass"},
                                   {"kubernetes.io/cluster"}));
}

Rule family_known() {
  return {"has(self.amiFamily) || self.amiSelectorTerms.exists(x, has(x.alias))",
          "set amiFamily, or select images by an alias",
          [](const json::value& self) {
            const json::array& terms = list_at(self, "amiSelectorTerms");
            return has(self, "amiFamily") ||
                   std::any_of(terms.begin(), terms.end(),
                               [](const json::value& term) { return has(term, "alias"); });
          },
          {}};
}

Rule family_agrees() {
  return {
      "!has(self.amiFamily) || self.amiFamily == 'Custom' || self.amiSelectorTerms.all(x, "
      "!has(x.alias) || x.alias.split('@')[0] == self.amiFamily.lowerAscii())",
      "with an alias, amiFamily has to be the alias's own family or \"Custom\"",
      [](const json::value& self) {
        const std::string_view family = text_at(self, "amiFamily");
        const json::array& terms = list_at(self, "amiSelectorTerms");
        return family.empty() || family == "Custom" ||
               std::all_of(terms.begin(), terms.end(), [&](const json::value& term) {
                 return !has(term, "alias") ||
                        ec2_family_of_alias(text_at(term, "alias")) == family;
               });
      },
      {}};
}

std::vector<Member> ec2_selection() {
  return {
      required("subnetSelectorTerms", ec2_subnet_terms()),
      required("securityGroupSelectorTerms",
               security_group_terms(rules::no_empty_keys_or_values())),
      optional("capacityReservationSelectorTerms", ec2_capacity_reservation_terms()),
      optional("placementGroupSelector", placement_group()),
      optional("associatePublicIPAddress",
               boolean("Whether instances get a public address; the subnet decides when absent.")),
      optional("ipPrefixCount",
               int32("Number of IPv4 prefixes per network interface.").at_least(0)),
      required("amiSelectorTerms", ec2_image_terms()),
      optional("amiFamily",
               string("Operating system of the images: how nodes are told to join the cluster.")
                   .one_of({"AL2", "AL2023", "Bottlerocket", "Custom", "Windows2019", "Windows2022",
                            "Windows2025"})),
  };
}

std::vector<Member> ec2_machine() {
  return {
      optional("userData", string("Data for the first start of an instance, merged with what the "
                                  "image's family needs.")),
      optional("role", string("IAM role of the instances; the instance profile is made for it.")
                           .size_at_least(1)),
      optional("instanceProfile", string("Instance profile of the instances.").size_at_least(1)),
      optional("tags", instance_tags()),
      optional("kubelet", object("Settings of the kubelet: any field of KubeletConfiguration but "
                                 "registerWithTaints.",
                                 {})
                              .keeping_unknown()),
      optional(
          "blockDeviceMappings",
          ec2_block_devices(
              string("Size of the volume, such as \"100Gi\".").pattern(patterns::disk_size()))),
      optional("instanceStorePolicy",
               string("How instance store disks are used: one striped filesystem for the kubelet.")
                   .one_of({"RAID0"})),
      optional("networkInterfaces", network_interfaces()),
      optional("detailedMonitoring", boolean("Whether metrics come every minute.")),
      optional("metadataOptions", ec2_metadata_options(Defaults::Filled)),
      optional("connectionTracking", connection_tracking()),
      optional("context", string("Context of the EC2 Fleet requests.")),
      optional("cpuOptions",
               object("Processor options.",
                      {optional("nestedVirtualization",
                                string("Whether the instances may run virtual machines.")
                                    .one_of({"enabled", "disabled"}))})),
  };
}

Field ec2_node_class_spec() {
  std::vector<Member> members = ec2_selection();
  for (Member& member : ec2_machine()) {
    members.push_back(std::move(member));
  }
  return object("How nodes should be made.", std::move(members))
      .rule(rules::exactly_one_of({"role", "instanceProfile"}))
      .rule(family_known())
      .rule(family_agrees());
}

Field reservations() {
  return resolved_list("Capacity reservations that the terms found.",
                       {required("id", string("Id of the reservation.")),
                        required("availabilityZone", string("Zone of the reservation.")),
                        required("instanceMatchCriteria",
                                 string("Which instances it serves.").one_of({"open", "targeted"})),
                        required("instanceType", string("Instance type it holds.")),
                        required("ownerID", string("Account that owns it.")),
                        optional("endTime", date_time("When it ends.")),
                        optional("reservationType", string("Kind of reservation.")
                                                        .one_of({"default", "capacity-block"})
                                                        .with_default("default")),
                        optional("state", string("State of the reservation.")
                                              .one_of({"active", "expiring"})
                                              .with_default("active")),
                        optional("interruptible", boolean("Whether the owner may take it back."))});
}

Field ec2_node_class_status() {
  return object(
      "What the selectors resolved to and whether nodes can be made.",
      {optional("subnets", resolved_list("Subnets that the terms found.",
                                         {required("id", string("Id of the subnet.")),
                                          required("zone", string("Zone of the subnet.")),
                                          optional("zoneID", string("Id of the zone."))})),
       optional("securityGroups", resolved_list("Security groups that the terms found.",
                                                {required("id", string("Id of the group.")),
                                                 optional("name", string("Name of the group."))})),
       optional("amis",
                resolved_list("Images that the terms found.",
                              {required("id", string("Id of the image.")),
                               optional("name", string("Name of the image.")),
                               optional("deprecated", boolean("Whether the image is deprecated.")),
                               required("requirements", image_requirement_list())})),
       optional("capacityReservations", reservations()),
       optional("instanceProfile", string("Instance profile in use.")),
       optional("conditions", condition_list(ConditionText::Complete))});
}

void check_ec2_node_class(const json::value& object, std::vector<Problem>& problems) {
  const json::value* spec = member(object, "spec");
  if (const json::value* kubelet = member(spec, "kubelet")) {
    check_open_kubelet(*kubelet, "spec.kubelet", problems);
  }
}

}  // namespace

Kind kinds::ec2_node_class() {
  Kind kind;
  kind.resource = model::kEc2NodeClassResource;
  kind.description = "An EC2NodeClass says how nodes are made on AWS.";
  kind.short_names = {"ec2nc", "ec2ncs"};
  kind.columns = {kReadyColumn, kAgeColumn, {"Role", "string", ".spec.role", true}};
  kind.root = object(std::string(kind.description), {required("spec", ec2_node_class_spec()),
                                                     optional("status", ec2_node_class_status())});
  kind.runtime_check = check_ec2_node_class;
  return kind;
}

}  // namespace millwright::schema
