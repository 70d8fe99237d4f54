#include "millwright/cluster/ledger.hpp"

#include "cluster/attempts.hpp"
#include "cluster/promises.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace millwright::cluster {

HoldList::HoldList(std::vector<scheduling::Hold> holds) {
  Summary summary;
  if (!holds.empty()) {
    summary.lowest_priority = holds.front().priority;
    summary.earliest_deadline = holds.front().deadline;
  }
  for (const scheduling::Hold& hold : holds) {
    model::add_to(summary.requests, hold.requests);
    summary.lowest_priority = std::min(summary.lowest_priority, hold.priority);
    summary.earliest_deadline = std::min(summary.earliest_deadline, hold.deadline);
    summary.awaits_heir = summary.awaits_heir || hold.kind != scheduling::HoldKind::Pod;
  }
  block_ = std::make_shared<const Block>(Block{std::move(holds), std::move(summary)});
}

const std::shared_ptr<const HoldList::Block>& HoldList::none() {
  static const auto kNone = std::make_shared<const Block>();
  return kNone;
}

const std::vector<scheduling::Hold>& HoldList::items() const {
  return block_->holds;
}

const HoldList::Summary& HoldList::summary() const {
  return block_->summary;
}

std::shared_ptr<const std::vector<scheduling::Hold>> HoldList::share() const {
  return {block_, &block_->holds};
}

const scheduling::Hold* HoldList::find(scheduling::HoldKind kind, std::string_view pod_uid) const {
  const auto found = std::partition_point(begin(), end(), [&](const scheduling::Hold& hold) {
    return hold.kind < kind || (hold.kind == kind && hold.pod_uid < pod_uid);
  });
  return found != end() && found->kind == kind && found->pod_uid == pod_uid ? &*found : nullptr;
}

const scheduling::Hold* LedgerView::find(scheduling::HoldKind kind,
                                         std::string_view pod_uid) const {
  const auto target = targets(kind).find(pod_uid);
  if (target == targets(kind).end()) {
    return nullptr;
  }
  const auto holds = holds_by_target.find(target->second);
  return holds == holds_by_target.end() ? nullptr : holds->second.find(kind, pod_uid);
}

bool Pass::may_land_on(std::uint64_t node_hash) const {
  return everywhere || std::binary_search(node_hashes.begin(), node_hashes.end(), node_hash);
}

Ledger::Ledger()
    : promises_(std::make_unique<Promises>()), attempts_(std::make_unique<Attempts>()) {}
Ledger::~Ledger() = default;

void Ledger::hold(scheduling::Hold hold) {
  const std::scoped_lock lock(promises_mutex_);
  promises_->decide_hold(std::move(hold));
}

void Ledger::hold_all(std::vector<scheduling::Hold> holds) {
  const std::scoped_lock lock(promises_mutex_);
  for (scheduling::Hold& hold : holds) {
    promises_->decide_hold(std::move(hold));
  }
}

void Ledger::release(const scheduling::HoldId& id) {
  const std::scoped_lock lock(promises_mutex_);
  promises_->end_hold(id, base::TimePoint::max());
}

void Ledger::release_target(std::string_view target) {
  const std::scoped_lock lock(promises_mutex_);
  for (const scheduling::Hold& hold : promises_->holds_of(target)) {
    promises_->end_hold(hold.id(), base::TimePoint::max());
  }
}

void Ledger::rename_target(std::string_view claim, std::string_view node) {
  if (claim == node) {
    return;
  }
  const std::scoped_lock lock(promises_mutex_);
  for (scheduling::Hold hold : promises_->holds_of(claim)) {
    hold.target = node;
    promises_->put(std::move(hold));
  }
}

void Ledger::set_deadline(std::string_view target, base::TimePoint deadline) {
  const std::scoped_lock lock(promises_mutex_);
  promises_->set_deadline(target, deadline);
}

void Ledger::lapse(std::string_view target) {
  set_deadline(target, base::TimePoint::min());
}

std::vector<scheduling::Hold> Ledger::expire(base::TimePoint now) {
  const std::scoped_lock lock(promises_mutex_);
  std::vector<scheduling::Hold> expired;
  for (const auto& [target, holds] : promises_->view.holds_by_target) {
    std::copy_if(holds.begin(), holds.end(), std::back_inserter(expired),
                 [now](const scheduling::Hold& hold) { return hold.deadline <= now; });
  }
  for (const scheduling::Hold& hold : expired) {
    promises_->end_hold(hold.id(), hold.deadline);
  }
  return expired;
}

void Ledger::fence(Fence fence) {
  const std::scoped_lock lock(promises_mutex_);
  promises_->decide_fence(std::move(fence));
}

void Ledger::unfence(std::string_view node) {
  const std::scoped_lock lock(promises_mutex_);
  promises_->end_fence(node);
}

void Ledger::adopt_holds(std::string_view source, std::string_view target,
                         std::vector<scheduling::Hold> holds) {
  const std::scoped_lock lock(promises_mutex_);
  promises_->adopt_holds(source, target, std::move(holds));
}

void Ledger::adopt_fence(std::string_view source, std::string_view node,
                         std::optional<Fence> fence) {
  const std::scoped_lock lock(promises_mutex_);
  promises_->adopt_fence(source, node, std::move(fence));
}

Ledger::Generations Ledger::drop_pods(std::span<const std::string> pod_uids) {
  {
    const std::scoped_lock lock(attempts_mutex_);
    for (const std::string& uid : pod_uids) {
      attempts_->end(uid);
    }
  }
  const std::scoped_lock lock(promises_mutex_);
  const std::uint64_t before = promises_->view.generation;
  for (const std::string& uid : pod_uids) {
    promises_->end_hold({scheduling::HoldKind::Pod, uid}, base::TimePoint::max());
  }
  return {before, promises_->view.generation};
}

LedgerViewPtr Ledger::view() const {
  const std::scoped_lock lock(promises_mutex_);
  if (published_ == nullptr || published_->generation != promises_->view.generation) {
    published_ = std::make_shared<const LedgerView>(promises_->view);
  }
  return published_;
}

void Ledger::passed(std::string_view pod_uid, std::string_view node, base::TimePoint now) {
  const std::uint64_t hash = node_hash(node);
  const std::scoped_lock lock(attempts_mutex_);
  attempts_->add_node(pod_uid, hash, now);
}

void Ledger::attempt(std::string_view pod_uid, base::TimePoint now) {
  const std::scoped_lock lock(attempts_mutex_);
  attempts_->begin(pod_uid, now);
}

void Ledger::attempted(std::string_view pod_uid, const model::ResourceList& requests,
                       std::span<const std::string_view> nodes, base::TimePoint now) {
  std::vector<std::uint64_t> hashes;
  hashes.reserve(nodes.size());
  std::transform(nodes.begin(), nodes.end(), std::back_inserter(hashes), node_hash);
  attempted(pod_uid, requests, std::move(hashes), now);
}

void Ledger::attempted(std::string_view pod_uid, const model::ResourceList& requests,
                       std::vector<std::uint64_t> node_hashes, base::TimePoint now) {
  if (node_hashes.empty()) {
    end_attempt(pod_uid);
    return;
  }
  std::sort(node_hashes.begin(), node_hashes.end());
  const std::scoped_lock lock(attempts_mutex_);
  attempts_->put(Pass{.pod_uid = std::string(pod_uid),
                      .at = now,
                      .requests = requests,
                      .node_hashes = std::move(node_hashes)});
}

void Ledger::end_attempt(std::string_view pod_uid) {
  const std::scoped_lock lock(attempts_mutex_);
  attempts_->end(pod_uid);
}

std::vector<std::string> Ledger::in_doubt(std::string_view node, base::TimePoint now) const {
  const std::uint64_t hash = node_hash(node);
  std::vector<std::string> uids;
  for (const PassPtr& pass : passes(now)) {
    if (pass->may_land_on(hash)) {
      uids.push_back(pass->pod_uid);
    }
  }
  return uids;
}

std::vector<PassPtr> Ledger::passes(base::TimePoint now) const {
  const std::scoped_lock lock(attempts_mutex_);
  return attempts_->alive(now);
}

std::uint64_t Ledger::node_hash(std::string_view node) {
  return std::hash<std::string_view>{}(node);
}

}  // namespace millwright::cluster
