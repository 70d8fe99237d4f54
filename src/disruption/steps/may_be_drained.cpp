#include "disruption/steps/running_pods.hpp"
#include "millwright/disruption/pod_obstacles.hpp"
#include "millwright/disruption/steps.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace millwright::disruption {
namespace {

using ClaimNames = std::set<std::string_view>;

// Of the pods of one controller that are not on the nodes of this step.
struct Elsewhere {
  bool any = false;
  bool serving = false;
};

class NextStep {
 public:
  NextStep(const scheduling::Snapshot& snapshot, const std::vector<std::string>& next,
           const std::vector<std::string>& begun, base::TimePoint now)
      : snapshot_(snapshot),
        obstacles_(snapshot.disruption_budgets, now),
        next_(next.begin(), next.end()),
        begun_(begun.begin(), begun.end()) {}

  bool may_begin() {
    return std::all_of(snapshot_.nodes.begin(), snapshot_.nodes.end(),
                       [&](const auto& record) {
                         return !next_.contains(record->claim_name()) || take_note_of(*record);
                       }) &&
           !any_still_to_be_evicted() && all_are_served();
  }

 private:
  // Of a node that is to go. False: one of its pods keeps it.
  bool take_note_of(const scheduling::NodeRecord& record) {
    if (obstacles_.find(record.pods)) {
      return false;
    }
    for (const auto& pod : record.pods) {
      if (!scheduling::is_reschedulable(*pod)) {
        continue;
      }
      for (const auto& budget : obstacles_.budgets_of(*pod)) {
        budgets_.insert(budget.get());
      }
      if (const auto controller = stand_ins_of(*pod); !controller.empty()) {
        elsewhere_.emplace(controller, Elsewhere());
      }
    }
    return true;
  }

  // Nodes of later steps are marked for deletion, and run their pods until their turn comes.
  bool is_being_drained(const scheduling::NodeRecord& record) const {
    return begun_.contains(record.claim_name()) ||
           (record.claim && record.claim->meta.is_deleting()) ||
           (record.node && record.node->meta.is_deleting());
  }

  bool any_still_to_be_evicted() const {
    return std::any_of(snapshot_.nodes.begin(), snapshot_.nodes.end(), [&](const auto& record) {
      return begun_.contains(record->claim_name()) &&
             std::any_of(record->pods.begin(), record->pods.end(), [&](const auto& pod) {
               return !pod->meta.is_deleting() && scheduling::is_reschedulable(*pod) &&
                      is_of_a_budget(*pod);
             });
    });
  }

  bool is_of_a_budget(const model::Pod& pod) const {
    const auto budgets = obstacles_.budgets_of(pod);
    return std::any_of(budgets.begin(), budgets.end(),
                       [&](const auto& each) { return budgets_.contains(each.get()); });
  }

  bool all_are_served() {
    for (const auto& record : snapshot_.nodes) {
      if (next_.contains(record->claim_name())) {
        continue;
      }
      const bool goes = is_being_drained(*record);
      for (const auto& pod : record->pods) {
        if (const auto found = elsewhere_.find(stand_ins_of(*pod)); found != elsewhere_.end()) {
          found->second.any = true;
          found->second.serving = found->second.serving || (!goes && is_serving(*pod));
        }
      }
    }
    for (const auto& demand : snapshot_.demand) {
      const auto found = elsewhere_.find(stand_ins_of(*demand.sample));
      // Also one that its controller seems to be denied: what runs may be all that is left of it.
      const bool is_short = !demand.waiting.empty() || demand.expected > 0 || demand.later > 0;
      if (found != elsewhere_.end() && is_short) {
        found->second.any = true;
      }
    }
    return std::all_of(elsewhere_.begin(), elsewhere_.end(),
                       [](const auto& item) { return item.second.serving || !item.second.any; });
  }

  const scheduling::Snapshot& snapshot_;
  PodObstacles obstacles_;
  ClaimNames next_;
  ClaimNames begun_;
  // Of the pods on the nodes that are to go.
  std::set<const model::PodDisruptionBudget*> budgets_;
  std::map<std::string_view, Elsewhere> elsewhere_;  // by controller
};

}  // namespace

bool may_be_drained(const scheduling::Snapshot& snapshot, const std::vector<std::string>& next,
                    const std::vector<std::string>& begun, base::TimePoint now) {
  return NextStep(snapshot, next, begun, now).may_begin();
}

}  // namespace millwright::disruption
