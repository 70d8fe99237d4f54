// CapacityBuffer (autoscaling.x-k8s.io/v1beta1): room kept for pods that do not exist yet.
#include "schema/engine/kind.hpp"
#include "schema/engine/rules.hpp"
#include "schema/kinds/common.hpp"

namespace millwright::schema {
namespace {

Field template_reference(std::string description) {
  return object(std::move(description),
                {required("name", string("Name of the PodTemplate.").size_at_least(1))});
}

Rule template_needs_a_number() {
  return {"!has(self.podTemplateRef) || has(self.replicas) || has(self.limits)",
          "a pod template says nothing about how many; set replicas or limits",
          [](const json::value& self) {
            return !has(self, "podTemplateRef") || has(self, "replicas") || has(self, "limits");
          },
          {}};
}

Field capacity_buffer_spec() {
  Field scalable =
      object("A workload of the namespace whose pod template describes the pods.",
             {optional("apiGroup", string("API group of the workload; apps when empty.")),
              required("kind", string("Deployment, StatefulSet or ReplicaSet.").size_at_least(1)),
              required("name", string("Name of the workload.").size_at_least(1))});
  return object(
             "How much room to keep.",
             {optional(
                  "provisioningStrategy",
                  string("How the room is kept.").with_default("buffer.x-k8s.io/active-capacity")),
              optional("podTemplateRef",
                       template_reference("A PodTemplate of the namespace that describes the "
                                          "pods.")),
              optional("scalableRef", std::move(scalable)),
              optional("replicas", int32("Room for so many pods.").at_least(0)),
              optional("percentage", int32("Room for this part of the workload's replicas, in "
                                           "percent, rounded up. The larger of replicas and "
                                           "percentage counts.")
                                         .at_least(0)),
              optional("limits", resource_map("No more room than this, in resources."))})
      .rule(rules::excludes("podTemplateRef", {"scalableRef"}))
      .rule(template_needs_a_number());
}

Field capacity_buffer_status() {
  return object(
      "What the buffer comes to.",
      {optional("podTemplateRef", template_reference("The PodTemplate that describes the pods.")),
       optional("replicas", int32("Room for so many pods is kept.")),
       optional("podTemplateGeneration", int64("Generation of the PodTemplate that was read.")),
       optional("provisioningStrategy", string("How the room is kept.")),
       optional("conditions", condition_list(ConditionText::Complete))});
}

}  // namespace

Kind kinds::capacity_buffer() {
  Kind kind;
  kind.resource = model::kCapacityBufferResource;
  kind.description =
      "A CapacityBuffer keeps room for pods that do not exist yet (feature gate CapacityBuffer).";
  kind.short_names = {"cb"};
  kind.categories = {"autoscaling"};
  kind.columns = {{"Strategy", "string", ".spec.provisioningStrategy"},
                  {"PodTemplate", "string", ".status.podTemplateRef.name"},
                  {"Replicas", "integer", ".status.replicas"},
                  {"ConditionsType", "string", ".status.conditions[*].type"},
                  {"ConditionsStatus", "string", ".status.conditions[*].status"},
                  {"ConditionsReason", "string", ".status.conditions[*].reason"},
                  kAgeColumn};
  kind.root = object(std::string(kind.description), {required("spec", capacity_buffer_spec()),
                                                     optional("status", capacity_buffer_status())});
  return kind;
}

}  // namespace millwright::schema
