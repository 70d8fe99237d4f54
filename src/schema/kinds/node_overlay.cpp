// NodeOverlay (karpenter.sh/v1alpha1): prices and extended resources that the cloud does not tell.
#include "schema/engine/kind.hpp"
#include "schema/engine/rules.hpp"
#include "schema/engine/runtime.hpp"
#include "schema/kinds/common.hpp"

#include <algorithm>

namespace millwright::schema {
namespace {

EntryRule extended_resources_only() {
  static const std::vector<std::string> kFixed{"cpu", "memory", "ephemeral-storage", "pods"};
  return {"!(k in " + rules::cel_list(kFixed) + ")",
          "the cloud knows " + rules::quoted_list(kFixed) +
              " of every instance type; only other resources may be set",
          [](std::string_view key, const json::value&) {
            return std::find(kFixed.begin(), kFixed.end(), key) == kFixed.end();
          }};
}

Field node_overlay_spec() {
  return object("What to believe of which instance types.",
                {required("requirements",
                          requirement_list("Requirements on the labels of NodePools, instance "
                                           "types and offerings that the overlay is about.",
                                           RequirementsOf::NodeOverlay)),
                 optional("price", string("Price per hour that counts in place of the cloud's.")
                                       .pattern(patterns::price())),
                 optional("priceAdjustment",
                          string("Change of the cloud's price: an amount per hour such as "
                                 "\"+0.05\" or \"-0.05\", or a part such as \"+10%\" or \"-10%\". "
                                 "No price falls below 0.")
                              .pattern(patterns::price_adjustment())),
                 optional("capacity",
                          resource_map("Resources that nodes of these types will have besides "
                                       "those that the cloud tells.")
                              .size_at_most(100)
                              .entry_rule(extended_resources_only())),
                 optional("weight", int32("Of several overlays about one thing the heaviest wins; "
                                          "equal ones conflict. Counts as 0 when absent.")
                                        .between(1, 10'000))})
      .rule(rules::excludes("price", {"priceAdjustment"}));
}

}  // namespace

Kind kinds::node_overlay() {
  Kind kind;
  kind.resource = model::kNodeOverlayResource;
  kind.description =
      "A NodeOverlay corrects what the cloud says of instance types: their price, and the extended "
      "resources that their nodes will have (alpha, feature gate NodeOverlay).";
  kind.short_names = {"overlays"};
  kind.columns = {kReadyColumn, kAgeColumn, {"Weight", "integer", ".spec.weight", true}};
  kind.root =
      object(std::string(kind.description),
             {required("spec", node_overlay_spec()),
              optional("status",
                       object("Whether the overlay is in use.",
                              {optional("conditions", condition_list(ConditionText::Complete))}))});
  kind.runtime_check = check_node_overlay;
  return kind;
}

}  // namespace millwright::schema
