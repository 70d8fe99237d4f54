// KWOKNodeClass (karpenter.kwok.sh/v1alpha1): nodes of the simulated cloud.
#include "schema/engine/kind.hpp"
#include "schema/kinds/common.hpp"

namespace millwright::schema {
namespace {

// Simulated nodes need nothing of the cloud, so the class is ready from the start. The time is
// fixed, so that reading the object twice gives the same object.
json::value ready_status() {
  return {{"conditions", json::array{{{"type", "Ready"},
                                      {"status", "True"},
                                      {"lastTransitionTime", "2024-01-01T01:01:01Z"},
                                      {"reason", "Ready"},
                                      {"message", ""}}}}};
}

}  // namespace

Kind kinds::kwok_node_class() {
  Kind kind;
  kind.resource = model::kKwokNodeClassResource;
  kind.description = "A KWOKNodeClass says how simulated nodes are made.";
  kind.short_names = {"kwoknc", "kwokncs"};
  kind.columns = {kReadyColumn, kAgeColumn};
  kind.root = object(
      std::string(kind.description),
      {optional("spec",
                object("What simulated nodes should be.",
                       {optional("nodeRegistrationDelay",
                                 string("Time between the creation of an instance and its Node "
                                        "object. None when absent.")
                                     .pattern(patterns::duration()))})),
       optional("status", object("What the class is.",
                                 {optional("conditions", condition_list(ConditionText::Complete))})
                              .with_default(ready_status()))});
  return kind;
}

}  // namespace millwright::schema
