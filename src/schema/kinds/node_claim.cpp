// NodeClaim (karpenter.sh/v1): one node asked of the cloud, from the request to its removal.
#include "schema/engine/kind.hpp"
#include "schema/engine/rules.hpp"
#include "schema/engine/runtime.hpp"
#include "schema/kinds/common.hpp"

namespace millwright::schema {
namespace {

Field node_claim_spec() {
  return object(
             "What the node should be.",
             {optional("taints", taint_list("Taints that the node keeps.")),
              optional("startupTaints",
                       taint_list("Taints that the node starts with and something else removes.")),
              required("requirements", requirement_list("Requirements on the node's labels and, "
                                                        "through them, on its instance type.",
                                                        RequirementsOf::NodeClaim)),
              optional("resources",
                       object("Resources the node has to have.",
                              {optional("requests",
                                        resource_map("Least amounts that must be allocatable."))})),
              required("nodeClassRef", node_class_ref(ReferenceChange::Any)),
              optional("terminationGracePeriod",
                       string("Longest time that draining the node may take. Unlimited when "
                              "absent.")
                           .pattern(patterns::duration())),
              optional("expireAfter",
                       string("Age at which the node is replaced; \"Never\" turns it off.")
                           .pattern(patterns::duration_or_never())
                           .with_default("720h"))})
      .rule(rules::immutable());
}

Field node_claim_status() {
  return object(
      "What the node is.",
      {optional("nodeName", string("Name of the Node object.")),
       optional("providerID", string("The cloud's name for the instance.")),
       optional("imageID", string("Image that the instance runs.")),
       optional("capacity", resource_map("Resources of the node.")),
       optional("allocatable", resource_map("Resources that pods can have.")),
       optional("conditions", condition_list(ConditionText::ReasonOptional)),
       optional("lastPodEventTime", date_time("When a pod last came to the node or left it."))});
}

}  // namespace

Kind kinds::node_claim() {
  Kind kind;
  kind.resource = model::kNodeClaimResource;
  kind.description = "A NodeClaim is one node: asked of the cloud, running, or being removed.";
  kind.columns = {
      {"Type", "string", R"(.metadata.labels.node\.kubernetes\.io/instance-type)"},
      {"Capacity", "string", R"(.metadata.labels.karpenter\.sh/capacity-type)"},
      {"Zone", "string", R"(.metadata.labels.topology\.kubernetes\.io/zone)"},
      {"Node", "string", ".status.nodeName"},
      kReadyColumn,
      kAgeColumn,
      {"ImageID", "string", ".status.imageID", true},
      {"ID", "string", ".status.providerID", true},
      {"NodePool", "string", R"(.metadata.labels.karpenter\.sh/nodepool)", true},
      {"NodeClass", "string", ".spec.nodeClassRef.name", true},
      {"Drifted", "string", R"(.status.conditions[?(@.type=="Drifted")].status)", true},
  };
  kind.root = object(std::string(kind.description), {required("spec", node_claim_spec()),
                                                     optional("status", node_claim_status())});
  kind.runtime_check = check_node_claim;
  return kind;
}

}  // namespace millwright::schema
