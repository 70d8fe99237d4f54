// What becomes of the pods that a plan puts on nodes and claims which exist.

#include "controllers/process/pace.hpp"
#include "controllers/provisioning/planning_round.hpp"
#include "millwright/controllers/provisioning/provisioning.hpp"
#include "millwright/controllers/provisioning/reservations.hpp"
#include "millwright/scheduling/stuck_nodes.hpp"

#include <map>
#include <utility>
#include <vector>

namespace millwright::controllers {
namespace {

constexpr auto kNomination = std::chrono::seconds(20);

}  // namespace

void Provisioner::nominate(const model::Pod& pod, const std::string& target) {
  if (nominations_->take(services_.loop.now())) {
    services_.events.record({.object = kube::reference_to(model::kPodResource, pod.meta),
                             .warning = false,
                             .reason = "Nominated",
                             .message = "Pod should schedule on: " + target,
                             .dedupe_values = {}});
  }
}

// While the plan was made it may have gone, and another of its name come.
scheduling::NodeRecordPtr Provisioner::still_there(const scheduling::NodeRecord& then) const {
  const auto now = then.managed() ? services_.state.find_claim(then.claim_name())
                                  : find_node(*services_.state.snapshot(), then.name());
  const auto is_same = [](const auto& object, const auto& before) {
    return before == nullptr || (object != nullptr && object->meta.uid == before->meta.uid);
  };
  return now && is_same(now->node, then.node) && is_same(now->claim, then.claim) &&
                 !now->marked_for_deletion && !now->fenced
             ? now
             : nullptr;
}

// Room on a node that is still starting is kept as on a claim, while it has time to start. A node
// that is up keeps none, since kube-scheduler may bind at once.
void Provisioner::place_on_existing(const scheduling::NodeRecord& record,
                                    const scheduling::PodPtr& pod) {
  const std::string node = record.node ? "node/" + record.name() : "";
  nominate(*pod, !record.managed()
                     ? node
                     : "nodeclaim/" + record.claim_name() + (node.empty() ? "" : ", " + node));
  const base::TimePoint now = services_.loop.now();
  const base::TimePoint until = scheduling::StuckNodes::waiting_since(record).value_or(now) +
                                services_.options.registration_timeout;
  if (!record.initialized() && until > now) {
    services_.ledger.reserve_all(reservations_for({pod}, record.name(), until));
  }
}

void Provisioner::place_pods(const PlanningRound& round, bool is_new) {
  std::map<std::string_view, const scheduling::NodeRecord*> records;
  for (const auto& record : round.problem.nodes) {
    records.emplace(record->name(), record.get());
  }
  std::map<std::string_view, scheduling::NodeRecordPtr> present;
  std::vector<std::pair<scheduling::NodeRecordPtr, scheduling::PodPtr>> placed;
  for (const auto& placement : round.plan.placements) {
    const auto* name = std::get_if<std::string>(&placement.target);
    if (name == nullptr || !round.signalled.contains(placement.pod_uid) ||
        round.expected.contains(placement.pod_uid)) {
      continue;
    }
    const auto [record, first] = present.try_emplace(*name);
    if (first) {
      record->second = still_there(*records.at(*name));
    }
    if (record->second != nullptr) {
      placed.emplace_back(record->second, round.pods.at(placement.pod_uid));
    }
  }
  const base::TimePoint until = services_.loop.now() + kNomination;
  for (const auto& [record, pod] : placed) {
    services_.state.nominate(record->name(), until);
    if (is_new) {
      place_on_existing(*record, pod);
    }
    if (record->initialized()) {
      reservations_.has_room(pod->meta.uid);
    }
  }
}

}  // namespace millwright::controllers
