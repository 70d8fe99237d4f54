#include "millwright/disruption/decide.hpp"

namespace millwright::disruption {

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::NotInitialized:
      return "NotInitialized";
    case Cause::SharesMachine:
      return "SharesMachine";
    case Cause::NoNodePool:
      return "NoNodePool";
    case Cause::TypesUnknown:
      return "TypesUnknown";
    case Cause::DoNotDisrupt:
      return "DoNotDisrupt";
    case Cause::Nominated:
      return "Nominated";
    case Cause::RoomKept:
      return "RoomKept";
    case Cause::Fenced:
      return "Fenced";
    case Cause::InDoubt:
      return "InDoubt";
    case Cause::WriteFailed:
      return "WriteFailed";
    case Cause::NodeTooYoung:
      return "NodeTooYoung";
    case Cause::TooFull:
      return "TooFull";
    case Cause::PodsKeepIt:
      return "PodsKeepIt";
    case Cause::PodsHaveNoPlace:
      return "PodsHaveNoPlace";
    case Cause::PodsNeedUnreadyNode:
      return "PodsNeedUnreadyNode";
    case Cause::PodsStayAway:
      return "PodsStayAway";
    case Cause::PodsTooYoung:
      return "PodsTooYoung";
    case Cause::OthersNeedRoom:
      return "OthersNeedRoom";
    case Cause::FixedSize:
      return "FixedSize";
    case Cause::WithinConsolidateAfter:
      return "WithinConsolidateAfter";
    case Cause::ConsolidationOff:
      return "ConsolidationOff";
    case Cause::OnlyWhenEmpty:
      return "OnlyWhenEmpty";
    case Cause::BufferRoom:
      return "BufferRoom";
    case Cause::Budget:
      return "Budget";
    case Cause::OutsideWindows:
      return "OutsideWindows";
    case Cause::ReplacementUnderWay:
      return "ReplacementUnderWay";
    case Cause::NodeLimit:
      return "NodeLimit";
    case Cause::NotPriced:
      return "NotPriced";
    case Cause::ManyReplacements:
      return "ManyReplacements";
    case Cause::NotCheaper:
      return "NotCheaper";
    case Cause::SavesTooLittle:
      return "SavesTooLittle";
    case Cause::SpotToSpotOff:
      return "SpotToSpotOff";
    case Cause::FewSpotTypes:
      return "FewSpotTypes";
    case Cause::SameType:
      return "SameType";
    case Cause::WorkLost:
      return "WorkLost";
    case Cause::Unbalanced:
      return "Unbalanced";
  }
  return "";
}

std::string_view remedy_of(Cause cause) {
  switch (cause) {
    case Cause::DoNotDisrupt:
      return "take the annotation karpenter.sh/do-not-disrupt away";
    case Cause::NoNodePool:
      return "create its NodePool again, or delete the NodeClaim";
    case Cause::TypesUnknown:
      return "see the NodeClass's Ready condition: its NodePool's instance types are not known";
    case Cause::NodeTooYoung:
      return "shorten millwright.io/consolidation-min-node-age of its NodePool";
    case Cause::TooFull:
      return "raise millwright.io/consolidation-max-utilization of its NodePool";
    case Cause::PodsTooYoung:
      return "shorten millwright.io/consolidation-min-pod-age of its NodePool";
    case Cause::ConsolidationOff:
      return "give spec.disruption.consolidateAfter of its NodePool a duration";
    case Cause::OnlyWhenEmpty:
      return "set spec.disruption.consolidationPolicy of its NodePool to "
             "WhenEmptyOrUnderutilized";
    case Cause::WithinConsolidateAfter:
      return "shorten spec.disruption.consolidateAfter of its NodePool";
    case Cause::FixedSize:
      return "lower spec.replicas of its NodePool";
    case Cause::BufferRoom:
      return "lower the CapacityBuffer";
    case Cause::Budget:
      return "raise a budget in spec.disruption.budgets of its NodePool";
    case Cause::OutsideWindows:
      return "widen millwright.io/disruption-windows of its NodePool";
    case Cause::NodeLimit:
      return "raise spec.limits.nodes of its NodePool by one";
    case Cause::SavesTooLittle:
      return "lower millwright.io/consolidation-min-savings of its NodePool";
    case Cause::SpotToSpotOff:
      return "switch the feature gate SpotToSpotConsolidation on";
    case Cause::FewSpotTypes:
      return "allow more instance types in the NodePool's requirements";
    case Cause::PodsStayAway:
      return "delete these pods, or give them a controller";
    default:
      return "";
  }
}

}  // namespace millwright::disruption
