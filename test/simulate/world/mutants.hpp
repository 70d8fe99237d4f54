// The planted faults by name.
#pragma once

#include "millwright/base/mutant.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace millwright::test {

inline constexpr std::array<std::pair<base::Mutant, std::string_view>, 22> kMutants = {{
    {base::Mutant::FollowersAnswer, "followers-answer"},
    {base::Mutant::TermsOverlap, "terms-overlap"},
    {base::Mutant::WritesAfterTerm, "writes-after-term"},
    {base::Mutant::NewNameAfterLostReply, "new-name-after-lost-reply"},
    {base::Mutant::NoticesAcknowledged, "notices-acknowledged"},
    {base::Mutant::LeadsBeforeLists, "leads-before-lists"},
    {base::Mutant::CloudListedFirst, "cloud-listed-first"},
    {base::Mutant::RefusedNotWoken, "refused-not-woken"},
    {base::Mutant::SuccessorsForgotten, "successors-forgotten"},
    {base::Mutant::NothingFenced, "nothing-fenced"},
    {base::Mutant::DoubtIgnored, "doubt-ignored"},
    {base::Mutant::NewLeaderKnowsAll, "new-leader-knows-all"},
    {base::Mutant::SurplusKept, "surplus-kept"},
    {base::Mutant::OrphansKept, "orphans-kept"},
    {base::Mutant::LeftoversKept, "leftovers-kept"},
    {base::Mutant::LimitsForgotten, "limits-forgotten"},
    {base::Mutant::UnseenNodesForgotten, "unseen-nodes-forgotten"},
    {base::Mutant::EarlyNoticesDropped, "early-notices-dropped"},
    {base::Mutant::UnregisteredLossKept, "unregistered-loss-kept"},
    {base::Mutant::YoungMachinesJudged, "young-machines-judged"},
    {base::Mutant::ProtectionIgnored, "protection-ignored"},
    {base::Mutant::BudgetsIgnored, "budgets-ignored"},
}};

}  // namespace millwright::test
