// AWSNodeTemplate (karpenter.k8s.aws/v1alpha1): the EC2NodeClass of old manifests, translated by
// the controllers. Selectors are maps whose entries all have to fit; values may be comma lists.
#include "schema/engine/kind.hpp"
#include "schema/engine/rules.hpp"
#include "schema/kinds/common.hpp"
#include "schema/kinds/ec2.hpp"

#include <utility>

namespace millwright::schema {
namespace {

bool selects_by_id(const json::object& selector) {
  return selector.contains("aws-ids") || selector.contains("aws::ids");
}

Field selector(std::string description) {
  return map_of(std::move(description), string("Value of the tag, or several separated by commas; "
                                               "\"*\" stands for any."))
      .size_at_most(30)
      .entry_rule(rules::no_empty_keys_or_values())
      .rule({"size(self) == 1 || !('aws-ids' in self || 'aws::ids' in self)",
             "a selector by id (aws::ids) cannot have other entries",
             [](const json::value& self) {
               return as_object(&self).size() == 1 || !selects_by_id(as_object(&self));
             },
             {}});
}

Rule custom_needs_images() {
  return {"!has(self.amiFamily) || self.amiFamily != 'Custom' || has(self.amiSelector)",
          "amiFamily \"Custom\" needs amiSelector",
          [](const json::value& self) {
            return text_at(self, "amiFamily") != "Custom" || has(self, "amiSelector");
          },
          {}};
}

Rule groups_unless_launch_template() {
  return {"has(self.securityGroupSelector) || has(self.launchTemplate)",
          "set securityGroupSelector (or launchTemplate, which holds its own groups)",
          [](const json::value& self) {
            return has(self, "securityGroupSelector") || has(self, "launchTemplate");
          },
          {}};
}

Field aws_node_template_spec() {
  return object("How nodes should be made.",
                {optional("amiFamily", string("Operating system of the images; AL2 when absent.")
                                           .one_of({"AL2", "Bottlerocket", "Ubuntu", "Windows2019",
                                                    "Windows2022", "Custom"})),
                 optional("amiSelector", selector("Which images instances run, by tags, aws::ids, "
                                                  "aws::name or aws::owners.")),
                 required("subnetSelector",
                          selector("Which subnets instances go to, by tags or aws::ids.")),
                 optional("securityGroupSelector",
                          selector("Which security groups instances get, by tags or aws::ids.")),
                 optional("instanceProfile",
                          string("Instance profile of the instances; the configured default when "
                                 "absent.")
                              .size_at_least(1)),
                 optional("launchTemplate",
                          string("Name of a launch template of your own. It cannot be translated; "
                                 "describe the nodes here instead.")),
                 optional("userData", string("Data for the first start of an instance.")),
                 optional("tags", map_of("Tags of everything made for the nodes.",
                                         string("Value of the tag."))
                                      .entry_rule(rules::no_empty_keys())),
                 optional("context", string("Context of the EC2 Fleet requests.")),
                 optional("detailedMonitoring", boolean("Whether metrics come every minute.")),
                 optional("metadataOptions", ec2_metadata_options(Defaults::None)),
                 optional("blockDeviceMappings",
                          ec2_block_devices(quantity("Size of the volume, such as \"100Gi\".")))})
      .rule(custom_needs_images())
      .rule(groups_unless_launch_template())
      .rule(rules::excludes("launchTemplate",
                            {"amiFamily", "amiSelector", "securityGroupSelector", "instanceProfile",
                             "userData", "metadataOptions", "blockDeviceMappings"}));
}

Field aws_node_template_status() {
  return object(
      "What the selectors resolved to.",
      {optional("subnets", resolved_list("Subnets that the selector found.",
                                         {required("id", string("Id of the subnet.")),
                                          optional("zone", string("Zone of the subnet."))})),
       optional("securityGroups", resolved_list("Security groups that the selector found.",
                                                {required("id", string("Id of the group.")),
                                                 optional("name", string("Name of the group."))})),
       optional("amis", resolved_list("Images that the selector found.",
                                      {required("id", string("Id of the image.")),
                                       optional("name", string("Name of the image.")),
                                       optional("requirements", image_requirement_list())})),
       optional("conditions", condition_list(ConditionText::ReasonOptional))});
}

}  // namespace

Kind kinds::aws_node_template() {
  Kind kind;
  kind.resource = model::kAwsNodeTemplateResource;
  kind.description =
      "An AWSNodeTemplate is the older form of an EC2NodeClass; Millwright keeps an EC2NodeClass "
      "for each.";
  kind.root = object(
      std::string(kind.description),
      {required("spec", aws_node_template_spec()), optional("status", aws_node_template_status())});
  return kind;
}

}  // namespace millwright::schema
