#include "cluster/ledger/attempts.hpp"

#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <limits>

namespace millwright::cluster {
namespace {

bool has_volume_claims(const model::Pod& pod) {
  const auto& volumes = pod.spec.volumes;
  return std::any_of(volumes.begin(), volumes.end(), [](const model::PodVolume& volume) {
    return volume.ephemeral || !volume.claim_name.empty();
  });
}

}  // namespace

bool Pass::may_land_on(std::uint64_t node_hash) const {
  return everywhere || std::binary_search(node_hashes.begin(), node_hashes.end(), node_hash);
}

bool Pass::is_before(const model::Pod& pod) const {
  return model::is_lower_version(pod_version, pod.meta.resource_version);
}

void Crowd::add(const Pass& pass, const std::vector<std::uint32_t>& nodes) {
  ++passes_;
  everywhere_ += pass.everywhere ? 1 : 0;
  for (const std::uint32_t node : nodes) {
    if (node >= on_node_.size()) {
      on_node_.resize(node + 1);
    }
    ++on_node_[node];
  }
}

void Crowd::remove(const Pass& pass, const std::vector<std::uint32_t>& nodes) {
  --passes_;
  everywhere_ -= pass.everywhere ? 1 : 0;
  for (const std::uint32_t node : nodes) {
    --on_node_[node];
  }
}

void Attempts::begin(std::string_view pod_uid, base::TimePoint now, bool seen) {
  Pass pass{.pod_uid = std::string(pod_uid),
            .at = now,
            .until = now + Ledger::kPassLifetime,
            .everywhere = true,
            .unanswered = true};
  if (!seen) {
    pass.unseen = Pass::Unseen{.pod = {}, .until = pass.until};
  }
  put(std::move(pass));
}

void Attempts::put(Pass pass) {
  forget_old(pass.at);
  if (pass.unseen && has_seen(pass.pod_uid)) {
    return;
  }
  give_way(pass.pod_uid, pass.at);
  if (pass.unseen && unseen_.size() >= Ledger::kMostUnseen) {
    end(std::string(unseen_.begin()->second));
  }
  if (by_pod_.size() >= 8 * Ledger::kDetailedPasses) {
    end(std::string(by_end_.begin()->second));
  }
  if (!pass.node_hashes.empty() && !has_room_for(pass)) {
    pass.everywhere = true;
    pass.node_hashes = {};
  }
  const auto kept = std::make_shared<const Pass>(std::move(pass));
  by_end_.emplace(kept->until, kept->pod_uid);
  by_pod_.emplace(kept->pod_uid, kept);
  if (kept->unseen) {
    unseen_.emplace(kept->at, kept->pod_uid);
  }
  add_to_index(kept);
}

bool Attempts::has_room_for(const Pass& pass) {
  const std::size_t more = pass.node_hashes.size();
  if (by_pod_.size() >= Ledger::kDetailedPasses || named_ + more > Ledger::kNamedNodes) {
    return false;
  }
  if (numbers_.size() + more > Ledger::kDifferentNodes && numbers_.size() > 2 * named_) {
    number_anew();  // most numbers are of nodes that no pass names any more
  }
  const std::size_t numbers = numbers_.size() + more;
  // Its group's crowd and that of its requests may both grow to their full length.
  return numbers <= Ledger::kDifferentNodes && counters_ + 2 * numbers <= Ledger::kNodeCounters;
}

void Attempts::end(std::string_view pod_uid) {
  const auto known = by_pod_.find(pod_uid);
  if (known != by_pod_.end()) {
    remove(known);
  }
}

void Attempts::remove(ByPod::iterator known) {
  remove_from_index(known->second);
  by_end_.erase({known->second->until, known->first});
  unseen_.erase({known->second->at, known->first});
  by_pod_.erase(known);
}

// An attempt that was answered may be another kube-scheduler's, and a binding may be on its way.
// One that was not is what this one began with.
void Attempts::give_way(std::string_view pod_uid, base::TimePoint now) {
  const auto known = by_pod_.find(pod_uid);
  if (known != by_pod_.end()) {
    if (!known->second->unanswered) {
      earlier_.keep(known->second, now);
    }
    remove(known);
  }
}

void Attempts::end_all(std::string_view pod_uid) {
  end(pod_uid);
  earlier_.drop(pod_uid);
}

void Attempts::settle(std::string_view pod_uid) {
  settled_ += by_pod_.contains(pod_uid) ? 1 : 0;
  end_all(pod_uid);
}

// A report that comes sooner may be that of an earlier attempt.
void Attempts::fail(std::string_view pod_uid) {
  const PassPtr pass = of(pod_uid);
  if (pass != nullptr && pass->at + Ledger::kPassLifetime <= newest_) {
    end(pod_uid);
  }
}

void Attempts::forget_old(base::TimePoint now) {
  newest_ = std::max(newest_, now);
  earlier_.forget_old(now);
  while (!by_end_.empty() && by_end_.begin()->first <= now) {
    end(std::string(by_end_.begin()->second));
  }
}

bool Attempts::has_seen(std::string_view pod_uid) const {
  const PassPtr pass = of(pod_uid);
  return pass != nullptr && !pass->unseen;
}

void Attempts::compare_unseen(const Ledger::FindPod& find) {
  const auto unseen = unseen_;
  for (const auto& [at, uid] : unseen) {
    const PassPtr pass = of(uid);
    if (pass == nullptr) {
      continue;  // put() found it over
    }
    const auto& said = pass->unseen;
    const model::Pod* const pod = said ? find(said->pod, uid) : nullptr;
    if (!said || pod == nullptr || !pod->spec.scheduling_gates.empty()) {
      continue;
    }
    if (model::is_terminal(*pod) || !pod->spec.node_name.empty()) {
      settle(uid);
      continue;
    }
    Pass seen = *pass;
    seen.group = scheduling::group_of(*pod);
    seen.requests = scheduling::effective_requests(*pod);
    seen.until = has_volume_claims(*pod) ? said->until : pass->until;
    seen.unseen.reset();
    seen.unanswered = false;  // its answer will be that of an unseen pod, which counts no more
    end(uid);
    put(std::move(seen));
  }
}

PassPtr Attempts::of(std::string_view pod_uid) const {
  const auto known = by_pod_.find(pod_uid);
  return known == by_pod_.end() ? nullptr : known->second;
}

std::vector<PassPtr> Attempts::alive(base::TimePoint now) const {
  std::vector<PassPtr> passes;
  for (const auto& [uid, pass] : by_pod_) {
    if (now < pass->until) {
      passes.push_back(pass);
    }
  }
  return passes;
}

std::vector<std::string> Attempts::in_doubt(std::uint64_t node_hash, base::TimePoint now) const {
  std::vector<std::string> uids;
  for (const auto& [uid, pass] : by_pod_) {
    if (now < pass->until && pass->may_land_on(node_hash)) {
      uids.push_back(uid);
    }
  }
  earlier_.add_in_doubt(node_hash, now, uids);
  std::sort(uids.begin(), uids.end());
  uids.erase(std::unique(uids.begin(), uids.end()), uids.end());
  return uids;
}

bool Attempts::any_in_doubt(std::uint64_t node_hash, base::TimePoint now) const {
  return std::any_of(by_pod_.begin(), by_pod_.end(),
                     [&](const auto& each) {
                       return now < each.second->until && each.second->may_land_on(node_hash);
                     }) ||
         earlier_.any_in_doubt(node_hash, now);
}

void Attempts::add_to_index(const PassPtr& pass) {
  if (numbers_.size() > most_numbers_) {
    number_anew();  // this pass included
    return;
  }
  const auto& nodes = numbers_of(*pass);
  OfGroup& of_group = by_group_[pass->group.text()];
  of_group.passes.insert(pass);
  add_to_crowd(of_group.crowd, *pass, nodes);
  add_to_crowd(by_requests_[pass->requests], *pass, nodes);
  named_ += nodes.size();
}

void Attempts::add_to_crowd(Crowd& crowd, const Pass& pass,
                            const std::vector<std::uint32_t>& nodes) {
  counters_ -= crowd.counters();
  crowd.add(pass, nodes);
  counters_ += crowd.counters();
}

void Attempts::remove_from_index(const PassPtr& pass) {
  const auto& nodes = numbers_of(*pass);
  const auto group = by_group_.find(pass->group.text());
  auto& passes = group->second.passes;
  passes.erase(pass);
  group->second.crowd.remove(*pass, nodes);
  named_ -= nodes.size();
  if (passes.empty()) {
    counters_ -= group->second.crowd.counters();
    by_group_.erase(group);
  }
  const auto alike = by_requests_.find(pass->requests);
  alike->second.remove(*pass, nodes);
  if (alike->second.empty()) {
    counters_ -= alike->second.counters();
    by_requests_.erase(alike);
  }
}

const std::vector<std::uint32_t>& Attempts::numbers_of(const Pass& pass) {
  scratch_.clear();
  for (const std::uint64_t hash : pass.node_hashes) {
    scratch_.push_back(numbers_.put(hash, static_cast<std::uint32_t>(numbers_.size())));
  }
  return scratch_;
}

// Nodes come and go, and numbers are never given back one by one.
void Attempts::number_anew() {
  numbers_ = {};
  by_group_.clear();
  by_requests_.clear();
  named_ = counters_ = 0;
  most_numbers_ = std::numeric_limits<std::size_t>::max();
  for (const auto& [uid, pass] : by_pod_) {
    add_to_index(pass);
  }
  most_numbers_ = 2 * numbers_.size() + 1024;
}

std::uint64_t Traffic::settled() const {
  return attempts_->settled();
}

PassPtr Traffic::of_pod(std::string_view uid) const {
  return attempts_->of(uid);
}

const std::set<PassPtr>& Traffic::of_group(const scheduling::GroupId& group) const {
  static const std::set<PassPtr> kNone;
  const auto known = attempts_->by_group().find(group.text());
  return known == attempts_->by_group().end() ? kNone : known->second.passes;
}

std::vector<scheduling::GroupId> Traffic::groups_of_owner(std::string_view owner_uid) const {
  std::vector<scheduling::GroupId> groups;
  const std::string prefix = std::string(owner_uid) + "/";
  const auto& all = attempts_->by_group();
  for (auto each = all.lower_bound(prefix); each != all.end() && each->first.starts_with(prefix);
       ++each) {
    groups.emplace_back(each->first);
  }
  return groups;
}

std::uint32_t Traffic::number_of(std::uint64_t node_hash) const {
  return attempts_->number_of(node_hash);
}

const Crowd* Traffic::crowd_of(const scheduling::GroupId& group) const {
  const auto known = attempts_->by_group().find(group.text());
  return known == attempts_->by_group().end() ? nullptr : &known->second.crowd;
}

const std::map<model::ResourceList, Crowd>& Traffic::crowds() const {
  return attempts_->by_requests();
}

}  // namespace millwright::cluster
