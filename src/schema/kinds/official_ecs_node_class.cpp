// ECSNodeClass (karpenter.alibabacloud.com/v1alpha1): the kind of Alibaba Cloud's own provider.
// Manifests that were written for it are taken as they are; what cannot be done of them is said
// when the class is resolved, and by `millwright convert`.
#include "schema/engine/kind.hpp"
#include "schema/engine/rules.hpp"
#include "schema/kinds/common.hpp"
#include "schema/kinds/ecs.hpp"
#include "schema/kinds/kubelet.hpp"

#include <utility>

namespace millwright::schema {
namespace {

constexpr std::int64_t kMostOfficialDisks = 16;
// The API server bounds what rules may cost by the length that a list may have.
constexpr std::int64_t kMostTerms = 30;

Member term_tags() {
  return optional("tags", selector_tags(rules::no_empty_keys()));
}

Field official_vswitch_terms() {
  return list_of("Which vSwitches instances go to; a vSwitch has to meet one term.",
                 object("A term.", {term_tags(), optional("id", string("Id of the vSwitch.")),
                                    optional("zoneID", string("Zone that it has to be in."))})
                     .rule(rules::at_least_one_of({"tags", "id"})))
      .size_at_least(1)
      .size_at_most(kMostTerms);
}

Field official_group_terms() {
  return list_of(
             "Which security groups instances get: all that meet one term.",
             object("A term.", {term_tags(), optional("id", string("Id of the security group.")),
                                optional("name", string("Name of the security group."))})
                 .rule(rules::at_least_one_of({"tags", "id", "name"})))
      .size_at_least(1)
      .size_at_most(5);
}

Field official_image_terms() {
  return list_of("Which images instances run: the newest that meets one term.",
                 object("A term.",
                        {term_tags(), optional("id", string("Id of the image.")),
                         optional("name", string("Name of the image; * matches any text.")),
                         optional("imageFamily", string("Family of the image.")),
                         optional("imageOwnerAlias",
                                  string("Who owns the image.")
                                      .one_of({"system", "self", "others", "marketplace"})),
                         optional("imageOwnerID", string("Number of the account that owns the "
                                                         "image."))}))
      .size_at_least(1)
      .size_at_most(kMostTerms);
}

Field official_level() {
  return string("Performance level of an ESSD disk.").one_of({"PL0", "PL1", "PL2", "PL3"});
}

Field official_system_disk() {
  return object(
      "System disk of the instances.",
      {optional("category", string("Disk category.").with_default("cloud_essd")),
       optional("size", int32("Size of the disk in GiB.").between(20, 500).with_default(40)),
       optional("performanceLevel", official_level().with_default("PL0")),
       optional("encrypted", boolean("Whether the disk is encrypted.")),
       optional("kmsKeyID", string("Key that encrypts the disk."))});
}

Field official_data_disks() {
  return list_of("Data disks of the instances.",
                 object("A data disk.",
                        {required("category", string("Disk category.")),
                         required("size", int32("Size of the disk in GiB.").between(20, 32768)),
                         optional("device", string("Name of the device, such as /dev/xvdb.")),
                         optional("performanceLevel", official_level()),
                         optional("encrypted", boolean("Whether the disk is encrypted.")),
                         optional("kmsKeyID", string("Key that encrypts the disk. Not supported: "
                                                     "no node is made.")),
                         optional("snapshotID", string("Snapshot that the disk starts from.")),
                         optional("deleteWithInstance",
                                  boolean("Whether the disk goes with its instance. Only true is "
                                          "supported.")
                                      .with_default(true))}))
      .size_at_most(kMostOfficialDisks);
}

Field official_reservation_terms() {
  return list_of("Capacity reservations. Not asked for by name: ECS decides.",
                 object("A term.", {term_tags(), optional("id", string("Id of the reservation."))}))
      .size_at_most(kMostTerms);
}

std::vector<Member> official_selection() {
  return {optional("clusterID", string("ACK cluster of the nodes: that of the controller.")),
          optional("clusterName", string("Not needed: ACK's script joins the node.")),
          optional("clusterEndpoint", string("Not needed: ACK's script joins the node.")),
          optional("vSwitchSelectorTerms", official_vswitch_terms()),
          optional("securityGroupSelectorTerms", official_group_terms()),
          optional("imageSelectorTerms", official_image_terms()),
          optional("kubelet", kubelet_configuration(KubeletOf::NodeClass))};
}

std::vector<Member> official_machine() {
  return {
      optional("role", string("RAM role of the instances.")),
      optional("systemDisk", official_system_disk()),
      optional("dataDisks", official_data_disks()),
      optional("instanceStorePolicy",
               string("What becomes of local disks. They are left as they are.")),
      optional("spotStrategy",
               string("How spot instances are bid for: at the market's price, or up to a limit.")
                   .one_of({"SpotAsPriceGo", "SpotWithPriceLimit"})),
      optional("spotPriceLimit", number("Highest hourly price of a spot instance.")),
      optional("userData", string("Script for the first start of an instance, run after what joins "
                                  "it to the cluster.")),
      optional("tags", map_of("Tags of the instances.", string("Value of the tag."))
                           .entry_rule(rules::no_empty_keys())),
      optional(
          "capacityReservationPreference",
          string("Which reservations are used. ECS decides.").one_of({"open", "target", "none"})),
      optional("capacityReservationSelectorTerms", official_reservation_terms()),
      optional("metadataOptions", ecs_metadata_options()),
      optional("launchTemplateID",
               string("Launch template of the instances. Not supported: no node is made.")),
      optional("launchTemplateVersion", int64("Version of the launch template."))};
}

Rule needed_without_template(const std::string& name) {
  return {
      "has(self.launchTemplateID) || has(self." + name + ")",
      "spec." + name + " is required when launchTemplateID is not specified",
      [name](const json::value& self) { return has(self, "launchTemplateID") || has(self, name); },
      {}};
}

Rule limit_of_strategy() {
  return {
      "!has(self.spotStrategy) || self.spotStrategy != 'SpotWithPriceLimit' || "
      "(has(self.spotPriceLimit) && self.spotPriceLimit > 0.0)",
      "spotStrategy \"SpotWithPriceLimit\" needs a spotPriceLimit above 0",
      [](const json::value& self) {
        if (text_at(self, "spotStrategy") != "SpotWithPriceLimit") {
          return true;
        }
        const json::value* limit = member(self, "spotPriceLimit");
        return limit != nullptr && limit->is_number() && limit->to_number<double>() > 0;
      },
      {}};
}

Field official_spec() {
  auto members = official_selection();
  for (auto& member : official_machine()) {
    members.push_back(std::move(member));
  }
  return object("How nodes should be made.", std::move(members))
      .rule(needed_without_template("vSwitchSelectorTerms"))
      .rule(needed_without_template("securityGroupSelectorTerms"))
      .rule(needed_without_template("imageSelectorTerms"))
      .rule(limit_of_strategy());
}

Field official_status() {
  return object(
      "What the selectors resolved to and whether nodes can be made.",
      {optional("ready", boolean("Whether nodes can be made.")),
       optional("vSwitches",
                resolved_list("vSwitches that the terms found.",
                              {required("id", string("Id of the vSwitch.")),
                               required("zone", string("Zone of the vSwitch.")),
                               optional("zoneID", string("The same.")),
                               optional("availableIPAddressCount",
                                        int64("Free addresses. Left out: each pod changes it."))})),
       optional("securityGroups", ecs_resolved_groups()),
       optional("images", resolved_list("Images that the terms found.",
                                        {required("id", string("Id of the image.")),
                                         optional("name", string("Name of the image.")),
                                         optional("architecture", string("x86_64 or arm64."))})),
       optional("ramRole", string("RAM role of the instances.")),
       optional("conditions", condition_list(ConditionText::Complete))});
}

}  // namespace

Kind kinds::official_ecs_node_class() {
  Kind kind;
  kind.resource = model::kOfficialEcsNodeClassResource;
  kind.description =
      "An ECSNodeClass says how nodes are made on Alibaba Cloud, in the words of Alibaba Cloud's "
      "own provider.";
  kind.columns = {kReadyColumn, kAgeColumn};
  kind.root = object(std::string(kind.description),
                     {required("spec", official_spec()), optional("status", official_status())});
  return kind;
}

}  // namespace millwright::schema
