// ECSNodeClass (karpenter.k8s.alibabacloud/v1alpha1): how nodes are made on Alibaba Cloud.
#include "schema/engine/kind.hpp"
#include "schema/engine/rules.hpp"
#include "schema/kinds/common.hpp"
#include "schema/kinds/ecs.hpp"
#include "schema/kinds/kubelet.hpp"

#include <algorithm>
#include <utility>

namespace millwright::schema {
namespace {

const Pattern& vswitch_id() {
  static const Pattern kPattern("vsw-[0-9a-z]+", "a vSwitch id such as \"vsw-0a1b2c3d\"");
  return kPattern;
}
const Pattern& ecs_alias_form() {
  static const Pattern kPattern("^[a-zA-Z0-9]+(@.+)?$",
                                "a family such as \"ContainerOS\", or \"family@version\"");
  return kPattern;
}
const Pattern& resource_group_id() {
  static const Pattern kPattern("rg-[0-9a-z]+", "a resource group id such as \"rg-0a1b2c3d\"");
  return kPattern;
}
const Pattern& password_form() {
  static const Pattern kPattern(R"(^[A-Za-z0-9()`~!@#$%^&*_+=|{}\[\]:;'<>,.?/\\-]{8,30}$)",
                                "8 to 30 letters, digits and punctuation marks, no blanks");
  return kPattern;
}
const Pattern& account_number() {
  static const Pattern kPattern("^[0-9]+$",
                                "the number of an account, such as \"1234567890123456\"");
  return kPattern;
}
const Pattern& key_pair_name() {
  static const Pattern kPattern(R"(^[A-Za-z][A-Za-z\d._:-]{1,127}$)",
                                "2 to 128 letters, digits, '.', '_', ':' and '-', beginning with "
                                "a letter");
  return kPattern;
}
const Pattern& price() {
  static const Pattern kPattern(R"(^[0-9]+(\.[0-9]+)?$)", "an hourly price such as \"0.35\"");
  return kPattern;
}

Member ecs_tags() {
  return optional("tags", selector_tags(rules::no_empty_keys()));
}

Field vswitch_terms() {
  return list_of(
             "Which vSwitches instances go to; a vSwitch has to meet one term.",
             object("A term.",
                    {ecs_tags(), optional("id", string("Id of the vSwitch.").pattern(vswitch_id())),
                     optional("zoneID", string("Zone that the vSwitch has to be in."))})
                 .rule(rules::at_least_one_of({"tags", "id"}))
                 .rule(rules::excludes("id", {"tags", "zoneID"})))
      .size_at_least(1)
      .size_at_most(30);
}

Field image_terms() {
  Field alias =
      string("Family of a public image, with or without \"@version\"; the latest without.")
          .size_at_most(30)
          .pattern(ecs_alias_form())
          .rule({"self.split('@')[0] in ['AlibabaCloudLinux3', 'ContainerOS']",
                 "expected a family among \"AlibabaCloudLinux3\", \"ContainerOS\"",
                 [](const json::value& self) {
                   const std::string_view text = as_text(&self);
                   const std::string_view family = text.substr(0, text.find('@'));
                   return family == "AlibabaCloudLinux3" || family == "ContainerOS";
                 },
                 {}});
  return list_of(
             "Which images instances run: the newest that meets one term.",
             object(
                 "A term.",
                 {optional("alias", std::move(alias)), optional("id", string("Id of the image.")),
                  ecs_tags(), optional("name", string("Name of the image; * matches any text.")),
                  optional("family", string("Family of the image.").size_at_least(1)),
                  optional("owner", string("Who owns the image.")
                                        .one_of({"system", "self", "others", "marketplace"})),
                  optional("ownerID", string("Number of the account that owns the image.")
                                          .pattern(account_number()))})
                 .rule(rules::at_least_one_of({"alias", "id", "tags", "name", "family"}))
                 .rule(
                     rules::excludes("id", {"alias", "tags", "name", "family", "owner", "ownerID"}))
                 .rule(rules::excludes("alias", {"tags", "name", "family", "owner", "ownerID"})))
      .size_at_least(1)
      .size_at_most(30)
      .rule({"size(self) == 1 || !self.exists(x, has(x.alias))",
             "a term with an alias has to be the only term",
             [](const json::value& self) {
               const json::array& terms = as_list(&self);
               return terms.size() == 1 ||
                      std::none_of(terms.begin(), terms.end(),
                                   [](const json::value& term) { return has(term, "alias"); });
             },
             {}});
}

Field performance_level() {
  return string("Performance level of an ESSD disk.")
      .one_of({"PL0", "PL1", "PL2", "PL3"})
      .with_default("PL0");
}

Field system_disk() {
  return object(
      "System disk of the instances.",
      {optional("categories",
                list_of("Disk categories, the preferred one first.", string("A disk category."))
                    .with_default(json::array{"cloud", "cloud_efficiency", "cloud_ssd",
                                              "cloud_essd", "cloud_auto", "cloud_essd_entry"})),
       optional("volumeSize", string("Size of the disk, such as \"40Gi\"; 20Gi when absent.")
                                  .pattern(patterns::disk_size())),
       optional("size", int32("Size of the disk in GiB. Deprecated: set volumeSize.").at_least(20)),
       optional("performanceLevel", performance_level()),
       optional("encrypted", boolean("Whether the disk is encrypted.")),
       optional("kmsKeyID", string("Key that encrypts the disk."))});
}

Field data_disks() {
  return list_of(
             "Data disks of the instances.",
             object("A data disk.",
                    {optional("volumeSize", string("Size of the disk, such as \"100Gi\".")
                                                .pattern(patterns::disk_size())
                                                .with_default("20Gi")),
                     optional("device", string("Name of the device, such as /dev/xvdb.")),
                     optional("category", string("Disk category; chosen from dataDiskCategories "
                                                 "when absent.")),
                     optional("performanceLevel", string("Performance level of an ESSD disk.")
                                                      .one_of({"PL0", "PL1", "PL2", "PL3"})),
                     optional("encrypted", boolean("Whether the disk is encrypted.")),
                     optional("snapshotID", string("Snapshot that the disk starts from."))}))
      .size_at_most(16);
}

std::vector<Member> ecs_selection() {
  return {
      required("vSwitchSelectorTerms", vswitch_terms()),
      optional("vSwitchSelectionPolicy",
               string("Among suitable vSwitches: the one with most free addresses, or the one "
                      "whose zone is cheapest.")
                   .one_of({"balanced", "cheapest"})
                   .with_default("cheapest")),
      required("securityGroupSelectorTerms", security_group_terms(rules::no_empty_keys())),
      required("imageSelectorTerms", image_terms()),
      optional("kubeletConfiguration", kubelet_configuration(KubeletOf::NodeClass)),
  };
}

std::vector<Member> ecs_machine() {
  return {
      optional("systemDisk", system_disk()),
      optional("dataDisks", data_disks()),
      optional("dataDiskCategories", list_of("Categories of data disks, the preferred one first.",
                                             string("A disk category."))),
      optional("formatDataDisk",
               boolean("Whether the first data disk is formatted for the container runtime.")
                   .with_default(false)),
      optional("tags",
               map_of("Tags of everything made for the nodes.", string("Value of the tag."))
                   .entry_rule(rules::no_empty_keys())
                   .entry_rule(rules::keys_not_reserved(
                       {"ecs:ecs-cluster-name", "karpenter.sh/nodepool", "karpenter.sh/nodeclaim",
                        "karpenter.k8s.alibabacloud/ecsnodeclass"},
                       {"kubernetes.io/cluster"}))),
      optional(
          "resourceGroupId",
          string("Resource group of everything made for the nodes.").pattern(resource_group_id())),
      optional("userData", string("Data for the first start of an instance, merged with what "
                                  "joins it to the cluster.")),
      optional("password",
               string("Password of the instances' root.").pattern(password_form()).hidden()),
      optional("passwordInherit",
               boolean("Whether the image's own password is kept.").with_default(false)),
      optional("keyPairName", string("SSH key pair of the instances.").pattern(key_pair_name())),
      optional("role", string("RAM role of the instances.").size_at_least(1)),
      optional("metadataOptions", ecs_metadata_options()),
      optional("spotStrategy",
               string("How spot instances are bid for: at the market's price, or up to a limit.")
                   .one_of({"SpotAsPriceGo", "SpotWithPriceLimit"})),
      optional("spotPriceLimit",
               string("Highest hourly price of a spot instance.").pattern(price())),
  };
}

Rule password_not_inherited() {
  return {"!has(self.password) || !has(self.passwordInherit) || !self.passwordInherit",
          "password cannot be combined with passwordInherit true",
          [](const json::value& self) {
            const json::value* inherit = member(self, "passwordInherit");
            return !has(self, "password") || inherit == nullptr || !inherit->is_bool() ||
                   !inherit->get_bool();
          },
          {}};
}

Rule limit_with_strategy() {
  return {
      "has(self.spotPriceLimit) == (has(self.spotStrategy) && self.spotStrategy == "
      "'SpotWithPriceLimit')",
      "set spotPriceLimit together with spotStrategy \"SpotWithPriceLimit\" or leave it out",
      [](const json::value& self) {
        return has(self, "spotPriceLimit") ==
               (text_at(self, "spotStrategy") == "SpotWithPriceLimit");
      },
      {}};
}

Field ecs_node_class_spec() {
  std::vector<Member> members = ecs_selection();
  for (Member& member : ecs_machine()) {
    members.push_back(std::move(member));
  }
  return object("How nodes should be made.", std::move(members))
      .rule(password_not_inherited())
      .rule(limit_with_strategy());
}

Field ecs_node_class_status() {
  return object(
      "What the selectors resolved to and whether nodes can be made.",
      {optional("vSwitches", resolved_list("vSwitches that the terms found.",
                                           {required("id", string("Id of the vSwitch.")),
                                            required("zoneID", string("Zone of the vSwitch."))})),
       optional("securityGroups", ecs_resolved_groups()),
       optional("images", resolved_list("Images that the terms found.",
                                        {required("id", string("Id of the image.")),
                                         optional("name", string("Name of the image.")),
                                         required("requirements", image_requirement_list())})),
       optional("conditions", condition_list(ConditionText::Complete))});
}

}  // namespace

Field ecs_metadata_options() {
  return object("How instances reach the metadata service.",
                {optional("httpEndpoint", string("Whether the service answers at all.")
                                              .one_of({"enabled", "disabled"})
                                              .with_default("enabled")),
                 optional("httpTokens", string("Whether a session token is demanded.")
                                            .one_of({"required", "optional"})
                                            .with_default("optional")),
                 optional("httpPutResponseHopLimit",
                          int32("Most network hops that the answer to a token request may travel.")
                              .between(1, 64)
                              .with_default(1))});
}

Field ecs_resolved_groups() {
  return resolved_list(
      "Security groups that the terms found.",
      {required("id", string("Id of the group.")), optional("name", string("Name of the group."))});
}

Kind kinds::ecs_node_class() {
  Kind kind;
  kind.resource = model::kEcsNodeClassResource;
  kind.description = "An ECSNodeClass says how nodes are made on Alibaba Cloud.";
  kind.short_names = {"ecsnc", "ecsncs"};
  kind.columns = {kReadyColumn, kAgeColumn};
  kind.root = object(std::string(kind.description), {required("spec", ecs_node_class_spec()),
                                                     optional("status", ecs_node_class_status())});
  return kind;
}

}  // namespace millwright::schema
