// Faults that reviews found, planted again on purpose: scripts/simulate must find each of them.
// Only builds with MILLWRIGHT_MUTANTS have them; elsewhere planted() is false when it is compiled.
#pragma once

#include <cstdint>

namespace millwright::base {

enum class Mutant : std::uint8_t {
  None,
  FollowersAnswer,        // a replica that does not lead answers kube-scheduler
  TermsOverlap,           // the next term of a replica begins beside the last one
  WritesAfterTerm,        // nobody asks whether the term is over
  NewNameAfterLostReply,  // a claim whose answer was lost is bought again under another name
  NoticesAcknowledged,    // an interruption counts as handled though nothing was done
  LeadsBeforeLists,       // controllers act on a state that is not complete, asking nobody
  CloudListedFirst,       // garbage collection compares old instances with new claims
  RefusedNotWoken,        // who was refused waits for kube-scheduler's own timer
  SuccessorsForgotten,    // nothing is reserved for the pods of a node that goes
  NothingFenced,          // a node that was chosen still takes pods
  DoubtIgnored,           // a node goes though a pod is on its way there
  NewLeaderKnowsAll,      // a new leader expects no attempts that it has not seen
  SurplusKept,            // reservations outlive the demand
  OrphansKept,            // nobody ends an instance that no claim owns
  LeftoversKept,          // what a command closed and did not remove stays closed
  LimitsForgotten,        // claims that are being created do not count in the limits
  UnseenNodesForgotten,   // a Node that was registered unseen has no pods to drain
  EarlyNoticesDropped,    // an interruption of a machine that is not on record yet is nobody's
  UnregisteredLossKept,   // a machine that is lost before it registers is waited for
  YoungMachinesJudged,    // a machine that the cloud does not list yet counts as lost
  ProtectionIgnored,      // nodes go though a pod has karpenter.sh/do-not-disrupt
  BudgetsIgnored,         // nodes that are going do not count in the budget
};

#ifdef MILLWRIGHT_MUTANTS
inline Mutant planted_mutant = Mutant::None;
inline bool planted(Mutant mutant) {
  return planted_mutant == mutant;
}
#else
constexpr bool planted(Mutant /*mutant*/) {
  return false;
}
#endif

}  // namespace millwright::base
