#include "controllers/provisioning/open_demand.hpp"

#include <algorithm>
#include <set>

namespace millwright::controllers {
namespace {

// A pod that is bound is seen so by then, unless its volumes take longer. An attempt that began
// before the pod's last failure was reported may still end in a binding until then.
constexpr auto kBindingIsSeen = std::chrono::seconds(1);

// kube-scheduler reports that the attempt failed after all. Its condition is written only when it
// changes, so if the report reads as the one before, nothing tells.
bool has_failed(const cluster::Pass& pass, const model::Pod& pod, base::TimePoint now) {
  return model::is_reported_unschedulable(pod) && pod.status.nominated_node_name.empty() &&
         pass.is_before(pod) && now - pass.at >= kBindingIsSeen;
}

// The record of that name, of a node or of a claim without one.
const scheduling::NodeRecord* find_record(const scheduling::Snapshot& snapshot,
                                          std::string_view name) {
  const auto found =
      std::partition_point(snapshot.nodes.begin(), snapshot.nodes.end(),
                           [name](const auto& record) { return record->name() < name; });
  return found != snapshot.nodes.end() && (*found)->name() == name ? found->get() : nullptr;
}

}  // namespace

OpenDemand::OpenDemand(const Services& services, const scheduling::Snapshot& snapshot)
    : snapshot_(snapshot),
      ledger_(services.ledger.view()),
      now_(services.loop.now()),
      passes_(services.ledger.passes(now_)) {
  std::erase_if(passes_, [this](const auto& pass) {
    return now_ >= pass->at + cluster::Ledger::kPassLifetime ||
           (!pass->everywhere && pass->node_hashes.empty());
  });
  for (const auto& pass : passes_) {
    pass_of_.emplace(pass->pod_uid, pass.get());
    passes_of_[pass->group].push_back(pass.get());
  }
}

bool OpenDemand::is_being_bound(const model::Pod& pod) const {
  if (pass_of_.empty()) {
    return false;
  }
  const auto pass = pass_of_.find(pod.meta.uid);
  return pass != pass_of_.end() && !has_failed(*pass->second, pod, now_);
}

// Reserved on targets that will take the pods.
std::int32_t OpenDemand::kept(const scheduling::GroupId& group) const {
  std::int32_t count = 0;
  for (const auto& target : ledger_->targets_of(group)) {
    const auto* record = find_record(snapshot_, target);
    const bool is_closed = record != nullptr && (record->marked_for_deletion || record->fenced);
    const auto* reservation = ledger_->find(group, target);
    count += is_closed || reservation->of_buffer ? 0 : reservation->count;
  }
  return count;
}

// What passes change about it. A pod that the snapshot shows waiting is about to use what is
// reserved. Those that it does not show yet are the successors that it still waits for: what is
// reserved for them covers those, and one that goes elsewhere is a place, too. They are no more
// than the group still misses, however many pods somebody told of.
std::int32_t OpenDemand::on_the_way(const scheduling::GroupId& group) const {
  const auto passes = passes_of_.find(group);
  if (passes == passes_of_.end()) {
    return 0;
  }
  std::map<std::string_view, const model::Pod*> waiting;
  std::int32_t missing = 0;
  if (const auto* demand = scheduling::find_demand(snapshot_.demand, group)) {
    missing = demand->needed() - static_cast<std::int32_t>(demand->waiting.size());
    for (const auto& pod : demand->waiting) {
      waiting.emplace(pod->meta.uid, pod.get());
    }
  }
  std::vector<std::uint64_t> hashes;
  for (const auto& target : ledger_->targets_of(group)) {
    hashes.push_back(cluster::Ledger::node_hash(target));
  }
  std::int32_t change = 0;
  std::int32_t elsewhere = 0;
  for (const auto* pass : passes->second) {
    const bool to_its_own = std::any_of(hashes.begin(), hashes.end(), [pass](std::uint64_t hash) {
      return pass->may_land_on(hash);
    });
    const auto pod = waiting.find(pass->pod_uid);
    if (pod == waiting.end()) {
      elsewhere += to_its_own ? 0 : 1;
    } else if (to_its_own && !has_failed(*pass, *pod->second, now_)) {
      --change;
    }
  }
  return change + std::min(elsewhere, missing);
}

std::int32_t OpenDemand::covered(const scheduling::GroupId& group) const {
  const auto [known, first] = covered_.try_emplace(group, 0);
  if (first) {
    known->second = std::max(kept(group) + on_the_way(group), 0);
  }
  return known->second;
}

std::int32_t OpenDemand::open(const scheduling::GroupDemand& demand) const {
  const auto bound_soon = std::count_if(demand.waiting.begin(), demand.waiting.end(),
                                        [this](const auto& pod) { return is_being_bound(*pod); });
  return std::max(0,
                  demand.needed() - static_cast<std::int32_t>(bound_soon) - covered(demand.group));
}

}  // namespace millwright::controllers
