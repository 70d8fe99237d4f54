#include "controllers/provisioning/open_demand.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

// Targets that will not take the pods any more.
std::set<std::string_view> closed_targets(const scheduling::Snapshot& snapshot) {
  std::set<std::string_view> names;
  for (const auto& record : snapshot.nodes) {
    if (record->marked_for_deletion || record->fenced) {
      names.insert(record->name());
      names.insert(record->claim_name());
    }
  }
  return names;
}

}  // namespace

OpenDemand::OpenDemand(const Services& services, const scheduling::Snapshot& snapshot) {
  const auto view = services.ledger.view();
  const auto closed = closed_targets(snapshot);
  for (const auto& [target, list] : view->by_target) {
    if (closed.contains(target)) {
      continue;
    }
    for (const auto& reservation : list) {
      if (!reservation.of_buffer) {
        covered_[reservation.group] += reservation.count;
      }
    }
  }
  struct OnItsWay {
    const cluster::Pass* pass;
    bool to_its_own = false;
  };
  std::map<std::string_view, OnItsWay> on_their_way;
  const base::TimePoint now = services.loop.now();
  const auto passes = services.ledger.passes(now);
  for (const auto& pass : passes) {
    const bool fresh = now < pass->at + cluster::Ledger::kPassLifetime;
    if (!fresh || (!pass->everywhere && pass->node_hashes.empty())) {
      continue;
    }
    being_bound_.insert(pass->pod_uid);
    const auto& targets = view->targets_of(pass->group);
    const bool to_its_own = std::any_of(targets.begin(), targets.end(), [&](const auto& target) {
      return pass->may_land_on(cluster::Ledger::node_hash(target));
    });
    on_their_way.emplace(pass->pod_uid, OnItsWay{pass.get(), to_its_own});
  }
  for (const auto& demand : snapshot.demand) {
    for (const auto& pod : demand.waiting) {
      if (const auto found = on_their_way.find(pod->meta.uid); found != on_their_way.end()) {
        covered_[demand.group] -= found->second.to_its_own ? 1 : 0;
        on_their_way.erase(found);
      }
    }
  }
  // The snapshot does not show these yet. They are the successors that it still waits for: what is
  // reserved for them covers those, and one that goes elsewhere is a place, too.
  for (const auto& [uid, pod] : on_their_way) {
    covered_[pod.pass->group] += pod.to_its_own ? 0 : 1;
  }
}

std::int32_t OpenDemand::covered(const scheduling::GroupId& group) const {
  const auto found = covered_.find(group);
  return found == covered_.end() ? 0 : std::max(found->second, 0);
}

std::int32_t OpenDemand::open(const scheduling::GroupDemand& demand) const {
  const auto bound_soon = std::count_if(demand.waiting.begin(), demand.waiting.end(),
                                        [this](const auto& pod) { return is_being_bound(*pod); });
  return std::max(0,
                  demand.needed() - static_cast<std::int32_t>(bound_soon) - covered(demand.group));
}

}  // namespace millwright::controllers
