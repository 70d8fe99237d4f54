#include "controllers/termination/volume_detachment.hpp"

#include "controllers/termination/termination_reports.hpp"
#include "millwright/controllers/termination/drain.hpp"
#include "millwright/model/volume_claims.hpp"

#include <algorithm>
#include <set>

namespace millwright::controllers {
namespace {

constexpr auto kVolumePoll = std::chrono::seconds(1);

// Volumes still attached, except those of pods that stay until the node goes.
std::vector<std::string> attached_volumes(const scheduling::Snapshot& snapshot,
                                          const scheduling::NodeRecord& record) {
  std::set<std::string> staying;
  for (const auto& pod : record.pods) {
    for (const auto& volume : pod->spec.volumes) {
      const auto key = model::volume_claim(*pod, volume);
      const auto claim = std::find_if(
          snapshot.volume_claims.begin(), snapshot.volume_claims.end(), [&key](const auto& each) {
            return each->meta.namespace_ == key.namespace_ && each->meta.name == key.name;
          });
      if (claim != snapshot.volume_claims.end()) {
        staying.insert((*claim)->volume_name);
      }
    }
  }
  std::vector<std::string> attached;
  for (const auto& attachment : snapshot.volume_attachments) {
    if (attachment->node_name == record.node->meta.name &&
        !attachment->persistent_volume_name.empty() &&
        !staying.contains(attachment->persistent_volume_name)) {
      attached.push_back(attachment->meta.name);
    }
  }
  return attached;
}

}  // namespace

base::Task<base::Result<Requeue>> await_volumes(Services& services, ClaimPtr claim,
                                                scheduling::NodeRecordPtr record) {
  const auto attached = attached_volumes(*services.state.snapshot(), *record);
  const auto deadline = termination_deadline(*record);
  const bool late = deadline && services.loop.now() >= *deadline;
  const auto edit = [&attached, late](model::ConditionSet& set) {
    if (attached.empty()) {
      set.set_true(model::kVolumesDetached);
    } else if (late) {
      set.set_false(model::kVolumesDetached, "TerminationGracePeriodElapsed",
                    "Volumes were still attached when the termination grace period ended");
    } else {
      set.set_unknown(model::kVolumesDetached, "AwaitingVolumeDetachment",
                      "Waiting for volumes to be detached");
    }
  };
  if (claim) {
    MW_CO_CHECK(co_await edit_conditions(services, claim, edit));
  }
  if (attached.empty() || late) {
    co_return Requeue{};
  }
  tell_attached(services, *record->node, attached);
  co_return Requeue{kVolumePoll};
}

}  // namespace millwright::controllers
