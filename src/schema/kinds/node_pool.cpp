// NodePool (karpenter.sh/v1): which nodes may be made, and when they may be taken away.
#include "schema/engine/kind.hpp"
#include "schema/engine/rules.hpp"
#include "schema/engine/runtime.hpp"
#include "schema/kinds/common.hpp"

namespace millwright::schema {
namespace {

Field claim_template() {
  Field metadata =
      object("Labels and annotations of every node of the pool.",
             {optional("labels", label_map("Labels for the nodes; pods may select by them.")),
              optional("annotations",
                       map_of("Annotations for the nodes.", string("Value of the annotation.")))});
  Field spec = object(
      "What the NodeClaims of the pool look like.",
      {optional("taints", taint_list("Taints that the nodes keep.")),
       optional("startupTaints",
                taint_list("Taints that the nodes start with and something else removes, such as "
                           "a network agent. They do not keep pods from being planned there.")),
       required("requirements",
                requirement_list("Requirements on the labels of nodes and, through them, on "
                                 "instance types, zones and capacity types.",
                                 RequirementsOf::NodePool)),
       required("nodeClassRef", node_class_ref(ReferenceChange::NameOnly)),
       optional("terminationGracePeriod",
                string("Longest time that draining a node may take, whatever disruption budgets "
                       "and pods say. Unlimited when absent.")
                    .pattern(patterns::duration())),
       optional("expireAfter", string("Age at which a node is replaced; \"Never\" turns it off.")
                                   .pattern(patterns::duration_or_never())
                                   .with_default("720h"))});
  return object("The template of the pool's NodeClaims.",
                {optional("metadata", std::move(metadata)), required("spec", std::move(spec))});
}

Field budget() {
  return object(
             "How many nodes may be disrupted at once, for some reasons or at some times.",
             {required("nodes", string("Most nodes disrupted at once: a count, or a percentage of "
                                       "the pool's nodes, rounded up. \"0\" forbids disruption.")
                                    .pattern(patterns::budget_nodes())
                                    .with_default("10%")),
              optional("reasons", list_of("Reasons that the budget is about; all when absent.",
                                          string("A reason for disruption.")
                                              .one_of({"Underutilized", "Empty", "Drifted"}))
                                      .size_at_most(50)
                                      .as_set()),
              optional("schedule",
                       string("When the budget begins to apply: cron, in UTC. Always when absent.")
                           .pattern(patterns::cron())),
              optional("duration",
                       string("How long the budget applies from each time of the schedule on.")
                           .pattern(patterns::budget_duration()))})
      .rule(rules::together("schedule", "duration"));
}

Field disruption() {
  return object("When nodes of the pool may be taken away.",
                {optional("consolidateAfter",
                          string("How long a node must have seen no pod come or go before it may "
                                 "be consolidated; \"Never\" turns consolidation off.")
                              .pattern(patterns::duration_or_never())
                              .with_default("0s")),
                 optional("consolidationPolicy",
                          string("Which nodes consolidation looks at.")
                              .one_of({"WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"})
                              .with_default("WhenEmptyOrUnderutilized")),
                 optional("budgets", list_of("Limits on the pace of disruption. The strictest one "
                                             "that applies counts.",
                                             budget())
                                         .size_at_most(50)
                                         .with_default(json::array{{{"nodes", "10%"}}}))})
      .with_default({{"consolidateAfter", "0s"}});
}

// Static capacity: a pool with replicas keeps that many nodes whatever the pods ask for.
bool static_limits_only_nodes(const json::value& self) {
  const json::object& limits = object_at(self, "limits");
  return !has(self, "replicas") || limits.empty() ||
         (limits.size() == 1 && limits.contains("nodes"));
}

Field node_pool_spec() {
  return object("What the pool should be.",
                {required("template", claim_template()), optional("disruption", disruption()),
                 optional("limits", resource_map("Most resources that all nodes of the pool may "
                                                 "have together; \"nodes\" limits their number.")),
                 optional("weight", int32("Preference among pools: the heaviest pool that can "
                                          "hold a pod gets it. Counts as 0 when absent.")
                                        .between(1, 100)),
                 optional("replicas",
                          int64("Number of nodes of a static pool, kept whatever pods ask for "
                                "(alpha). Absent: the pool grows and shrinks with its pods.")
                              .at_least(0))})
      .rule({"has(self.replicas) == has(oldSelf.replicas)",
             "a pool cannot turn from static (replicas set) to dynamic (replicas absent) or back; "
             "create another pool",
             {},
             [](const json::value& self, const json::value& old) {
               return has(self, "replicas") == has(old, "replicas");
             }})
      .rule({"!has(self.replicas) || !has(self.weight)",
             "weight has no meaning for a static pool; leave out weight or replicas",
             [](const json::value& self) { return !has(self, "replicas") || !has(self, "weight"); },
             {}})
      .rule({"!has(self.replicas) || !has(self.limits) || size(self.limits) == 0 || "
             "(size(self.limits) == 1 && 'nodes' in self.limits)",
             "a static pool may limit only \"nodes\"",
             static_limits_only_nodes,
             {}});
}

Field node_pool_status() {
  return object("What the pool is.",
                {optional("resources", resource_map("Resources of all nodes of the pool.")),
                 optional("nodes", int64("Number of nodes of the pool.").with_default(0)),
                 optional("nodeClassObservedGeneration",
                          int64("Generation of the NodeClass that the conditions were found on.")),
                 optional("conditions", condition_list(ConditionText::Complete))});
}

}  // namespace

Kind kinds::node_pool() {
  Kind kind;
  kind.resource = model::kNodePoolResource;
  kind.description = "A NodePool says which nodes Millwright may make and when it may remove them.";
  kind.columns = {
      {"NodeClass", "string", ".spec.template.spec.nodeClassRef.name"},
      {"Nodes", "string", ".status.nodes"},
      kReadyColumn,
      kAgeColumn,
      {"Weight", "integer", ".spec.weight", true},
      {"CPU", "string", ".status.resources.cpu", true},
      {"Memory", "string", ".status.resources.memory", true},
  };
  kind.root = object(std::string(kind.description),
                     {required("spec", node_pool_spec()), optional("status", node_pool_status())});
  kind.scalable = true;
  kind.runtime_check = check_node_pool;
  return kind;
}

}  // namespace millwright::schema
