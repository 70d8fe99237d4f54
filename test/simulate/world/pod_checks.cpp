// Which nodes may be chosen for removal, how pods are ended, and that those who were refused are
// woken.
#include "simulate/world/checks.hpp"

#include <algorithm>

namespace millwright::test {
namespace {

// A write may be a minute on its way, or its sender behind.
constexpr auto kKnown = std::chrono::minutes(1);
constexpr auto kSleeps = std::chrono::seconds(15);   // backoff of kube-scheduler, and its turn
constexpr auto kCreated = std::chrono::seconds(10);  // until a Deployment has all its pods
constexpr auto kMoved = std::chrono::seconds(15);    // until a pod is bound where room is kept

bool is_protected(const model::Pod& pod) {
  return pod.meta.annotation(model::kDoNotDisruptAnnotation) == "true";
}

// What kube-scheduler may have given to others, and is not bound yet, by node.
std::map<std::string, model::ResourceList> given_away(
    const scheduling::Snapshot& snapshot, const std::map<std::string, FilterCalls>& calls) {
  std::map<std::string, model::ResourceList> given;
  for (const auto& pod : snapshot.pending_pods) {
    const auto known = calls.find(pod->meta.uid);
    if (known == calls.end()) {
      continue;
    }
    std::set<std::string> nodes;
    for (const auto& [scheduler, call] : known->second) {
      nodes.insert(call.let_through.begin(), call.let_through.end());
    }
    for (const std::string& node : nodes) {
      model::add_to(given[node], scheduling::effective_requests(*pod));
    }
  }
  return given;
}

// Room for the pod on a node that is open, less what is reserved there for others.
bool has_room(const cluster::State::Sight& sight, const model::Pod& pod,
              const std::map<std::string, model::ResourceList>& given) {
  const auto group = scheduling::group_of(pod);
  const auto* const demand = scheduling::find_demand(sight.snapshot->demand, group);
  const bool beyond = demand != nullptr && demand->needed() > sight.ledger->reserved(group);
  const auto fits = [&](const scheduling::NodeRecordPtr& record) {
    const bool open = record->node && model::is_ready(*record->node) && record->taints().empty() &&
                      !record->fenced && !record->marked_for_deletion;
    if (!open) {
      return false;
    }
    model::ResourceList room = record->allocatable();
    model::subtract_from(room, record->pod_requests);
    if (const auto taken = given.find(record->name()); taken != given.end()) {
      model::subtract_from(room, taken->second);
    }
    bool own = false;
    const auto kept = sight.ledger->by_target.find(record->name());
    if (kept != sight.ledger->by_target.end()) {
      for (const auto& reservation : kept->second) {
        own = own || reservation.group == group;
        for (int i = 0; reservation.group != group && i < reservation.count; ++i) {
          model::subtract_from(room, reservation.requests);
        }
      }
    }
    return (own || beyond) && model::fits(scheduling::effective_requests(pod), room);
  };
  return std::any_of(sight.snapshot->nodes.begin(), sight.snapshot->nodes.end(), fits);
}

}  // namespace

// A pod that the extender has refused, and that it would let through by now, is asked for again.
void Checks::refused_pods_are_woken() {
  Replica* const leader = world_.leader();
  // Where requests get lost, and replicas, it may take longer; or where somebody else asks for the
  // pod, who may be taken for kube-scheduler.
  const auto& steps = world_.schedule().steps;
  const bool calm =
      world_.healed() || std::all_of(steps.begin(), steps.end(), [](const Step& step) {
        return !disturbs_replicas(step.act) && step.act != Act::HostileCalls;
      });
  if (leader == nullptr || leader->paused() || !calm) {
    return;
  }
  const auto sight = leader->engine().state().sight();
  const auto given = given_away(*sight.snapshot, world_.filter_calls());
  for (const auto& pod : sight.snapshot->pending_pods) {
    const auto calls = world_.filter_calls().find(pod->meta.uid);
    if (calls == world_.filter_calls().end()) {
      continue;
    }
    const bool refused =
        every(calls->second, [](const FilterCall& call) { return call.refused(); });
    const bool sleeps = refused && every(calls->second, [this](const FilterCall& call) {
                          return world_.now() - call.ended > kSleeps;
                        });
    if (lasts("sleeps", pod->meta.uid, refused && has_room(sight, *pod, given)) > kSleeps &&
        sleeps) {
      tell("refused-pods-are-woken", "pod " + pod->meta.name,
           "has room now and is not asked for again");
    }
  }
}

// Where nothing goes wrong, a node goes when there is room for its pods, and that is kept for those
// that take their place: they do not wait for another machine.
void Checks::moved_pods_have_room() {
  const auto& steps = world_.schedule().steps;
  const bool only_people_act = std::all_of(steps.begin(), steps.end(), [](const Step& step) {
    return step.act == Act::Deploy || step.act == Act::EditPool || step.act == Act::JumpClock;
  });
  if (!only_people_act) {
    return;
  }
  for (const auto& [name, pods] : world_.wanted_pods()) {
    if (auto& wanted = wanted_[name]; wanted.pods != pods) {
      wanted = {.pods = pods, .since = world_.now()};
    }
  }
  for (const auto& [uid, pod] : world_.recorder().pods()) {
    const auto wanted = wanted_.find(deployment_of(*pod.last));
    const auto created = pod.last->meta.creation_timestamp;
    if (pod.gone || pod.bound || wanted == wanted_.end() || !created) {
      continue;
    }
    const bool takes_a_place = *created > wanted->second.since + kCreated;
    if (takes_a_place && world_.now() - *created > kMoved) {
      tell("moved-pods-have-room", "pod " + pod.last->meta.name,
           "takes the place of one that was evicted, and waits for a node");
    }
  }
}

// The Eviction API keeps PodDisruptionBudgets; a deletion does not ask them. No NodePool here has a
// terminationGracePeriod, which alone would allow one.
void Checks::pods_are_evicted(const Write& write) {
  if (write.what.starts_with("DELETE ") && write.what.find("/pods/") != std::string::npos) {
    tell("pods-are-evicted", "replica " + write.replica,
         "sent " + write.what + " and asked no PodDisruptionBudget");
  }
}

// Nodes that were chosen since the last look.
void Checks::no_node_is_chosen_wrongly() {
  for (const auto& [uid, claim] : world_.recorder().claims()) {
    const auto* reason = model::find_condition(claim.last->conditions, model::kDisruptionReason);
    if (reason == nullptr || reason->status != model::ConditionStatus::True) {
      chosen_.erase(uid);
      continue;
    }
    if (!chosen_.insert(uid).second) {
      continue;
    }
    for (const auto& [pod_uid, pod] : world_.recorder().pods()) {
      if (pod.gone || pod.deleting || pod.last->spec.node_name != claim.last->node_name) {
        continue;
      }
      const auto& name = pod.last->meta.name;
      if (lasts("protected", pod_uid, is_protected(*pod.last)) > kKnown) {
        tell("no-protected-pod-is-disrupted", "claim " + claim.last->meta.name,
             "was chosen for removal, and its pod " + name + " must not be disrupted");
      }
      if (reason->reason == "Empty" && !is_daemon(*pod.last) && pod.bound &&
          world_.now() - *pod.bound > kKnown) {
        tell("empty-nodes-are-empty", "claim " + claim.last->meta.name,
             "was chosen as empty, and pod " + name + " is bound there");
      }
    }
  }
}

void Checks::note_protected_pods() {
  for (const auto& [uid, pod] : world_.recorder().pods()) {
    lasts("protected", uid, !pod.gone && is_protected(*pod.last));
  }
}

}  // namespace millwright::test
