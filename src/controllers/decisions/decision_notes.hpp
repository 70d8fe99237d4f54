// Writes what controllers decide into the DecisionLog and the metrics of what was bought and saved.
// Nothing is recorded where there is no log.
#pragma once

#include "millwright/controllers/services.hpp"
#include "millwright/scheduling/solve.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::controllers {

struct NewClaim;
struct PlanningRound;

// Of what a decision was made from: versions of objects, prices, room that is promised. Takes as
// long as a walk over them; meant for the thread that decides.
std::string digest_of(const scheduling::Problem& problem);
std::string digest_of(const disruption::Input& input);

// Plans are made many times a second while pods wait for room: one is recorded if it buys
// something, or has another place among those that exist for a pod than the plan before.
class PlanNotes {
 public:
  void note(Services& services, const PlanningRound& round);

 private:
  std::map<std::string, std::string> targets_;  // of the newest plan, by pod uid
};

// All refusals of the newest plan; those of a round without pods: none.
void note_refusals(Services& services, const PlanningRound& round);
// What a pool may buy, as the plan saw it; nullptr when the pool is none of its.
scheduling::InstanceTypes types_of(const PlanningRound& round, std::string_view pool);
// Counts the price per hour, too.
void note_purchase(Services& services, const NewClaim& wanted, const model::NodeClaim& claim);

// What keeps every node that stays, as of the newest decision. `inputs` is its digest.
void note_kept(Services& services, const disruption::Input& input,
               const disruption::Decisions& decisions, const std::string& inputs);
// The nodes of `records` go now, as the command says. Counts what it saves per hour.
void note_removal(Services& services, const disruption::Command& command,
                  const std::vector<scheduling::NodeRecordPtr>& records);
// They were to go and stay: `why` is the end of a sentence that begins with that.
void note_taken_back(Services& services, const disruption::Command& command,
                     const std::string& why);
// A NodeClaim was deleted for `reason`, as in karpenter_nodeclaims_disrupted_total. Nothing where
// the reason is a command's: note_removal() told.
void note_deletion(Services& services, const model::NodeClaim& claim, const std::string& reason);

}  // namespace millwright::controllers
