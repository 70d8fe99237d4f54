// Provisioner (karpenter.sh/v1alpha5): the NodePool of old manifests, translated by the
// controllers.
#include "schema/engine/kind.hpp"
#include "schema/engine/rules.hpp"
#include "schema/engine/runtime.hpp"
#include "schema/kinds/common.hpp"
#include "schema/kinds/kubelet.hpp"

namespace millwright::schema {
namespace {

bool consolidates(const json::value& spec) {
  const json::value* consolidation = member(spec, "consolidation");
  const json::value* enabled = member(consolidation, "enabled");
  return enabled != nullptr && enabled->is_bool() && enabled->get_bool();
}

Field provider_ref() {
  return object("The AWSNodeTemplate that says how nodes are made in the cloud.",
                {required("name", string("Name of the template.").size_at_least(1)),
                 optional("kind", string("Kind of the template; AWSNodeTemplate when absent.")),
                 optional("apiVersion", string("Version of the template's API; "
                                               "karpenter.k8s.aws/v1alpha1 when absent."))});
}

Field provisioner_spec() {
  return object(
             "Which nodes may be made and when they may be taken away.",
             {optional("annotations",
                       map_of("Annotations for the nodes.", string("Value of the annotation."))),
              optional("labels", label_map("Labels for the nodes; pods may select by them.")),
              optional("taints", taint_list("Taints that the nodes keep.")),
              optional("startupTaints",
                       taint_list("Taints that the nodes start with and something else removes.")),
              optional("requirements", requirement_list("Requirements on the labels of nodes.",
                                                        RequirementsOf::Provisioner)),
              optional("kubeletConfiguration", kubelet_configuration(KubeletOf::Provisioner)),
              optional("limits",
                       object("Limits on all nodes of the Provisioner together.",
                              {optional("resources", resource_map("Most resources together."))})),
              optional("weight", int32("Preference among Provisioners: the heaviest that can hold "
                                       "a pod gets it.")
                                     .between(1, 100)),
              optional(
                  "ttlSecondsAfterEmpty",
                  int64("Seconds an empty node is kept. Never removed when absent.").at_least(0)),
              optional("ttlSecondsUntilExpired",
                       int64("Age in seconds at which a node is replaced. Never when absent.")
                           .at_least(0)),
              optional("consolidation",
                       object("Removal and replacement of underused nodes.",
                              {optional("enabled", boolean("Whether it happens."))})),
              optional("provider", object("How nodes are made, written inline: the fields of an "
                                          "AWSNodeTemplate.",
                                          {})
                                       .keeping_unknown()),
              optional("providerRef", provider_ref())})
      .rule(rules::exactly_one_of({"provider", "providerRef"}))
      .rule({"!has(self.ttlSecondsAfterEmpty) || !has(self.consolidation) || "
             "!has(self.consolidation.enabled) || !self.consolidation.enabled",
             "ttlSecondsAfterEmpty cannot be combined with consolidation.enabled true",
             [](const json::value& self) {
               return !has(self, "ttlSecondsAfterEmpty") || !consolidates(self);
             },
             {}});
}

Field provisioner_status() {
  return object("What the Provisioner has made.",
                {optional("resources", resource_map("Resources of all its nodes.")),
                 optional("conditions", condition_list(ConditionText::ReasonOptional)),
                 optional("lastScaleTime", date_time("When a node last came or went."))});
}

}  // namespace

Kind kinds::provisioner() {
  Kind kind;
  kind.resource = model::kProvisionerResource;
  kind.description =
      "A Provisioner is the older form of a NodePool; Millwright keeps a NodePool for each.";
  kind.columns = {{"Template", "string", ".spec.providerRef.name"},
                  {"Weight", "integer", ".spec.weight", true}};
  kind.root = object(std::string(kind.description), {required("spec", provisioner_spec()),
                                                     optional("status", provisioner_status())});
  kind.runtime_check = check_provisioner;
  return kind;
}

}  // namespace millwright::schema
