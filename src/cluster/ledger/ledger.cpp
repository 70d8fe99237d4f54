#include "millwright/cluster/ledger.hpp"

#include "cluster/ledger/attempts.hpp"
#include "cluster/ledger/book.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

namespace millwright::cluster {

ReservationList::ReservationList(std::vector<scheduling::Reservation> reservations) {
  Summary summary;
  if (!reservations.empty()) {
    summary.lowest_priority = reservations.front().priority;
    summary.earliest_end = reservations.front().until;
  }
  for (const scheduling::Reservation& reservation : reservations) {
    model::add_to(summary.requests, model::multiplied(reservation.requests, reservation.count));
    summary.lowest_priority = std::min(summary.lowest_priority, reservation.priority);
    summary.earliest_end = std::min(summary.earliest_end, reservation.until);
    summary.any_whole_owner = summary.any_whole_owner || reservation.group.is_whole_owner();
  }
  block_ = std::make_shared<const Block>(Block{std::move(reservations), std::move(summary)});
}

const std::shared_ptr<const ReservationList::Block>& ReservationList::none() {
  static const auto kNone = std::make_shared<const Block>();
  return kNone;
}

const std::vector<scheduling::Reservation>& ReservationList::items() const {
  return block_->reservations;
}

const ReservationList::Summary& ReservationList::summary() const {
  return block_->summary;
}

std::shared_ptr<const std::vector<scheduling::Reservation>> ReservationList::share() const {
  return {block_, &block_->reservations};
}

const scheduling::Reservation* ReservationList::find(const scheduling::GroupId& group) const {
  const auto found = std::partition_point(
      begin(), end(),
      [&](const scheduling::Reservation& reservation) { return reservation.group < group; });
  return found != end() && found->group == group ? &*found : nullptr;
}

const scheduling::Reservation* LedgerView::find(const scheduling::GroupId& group,
                                                std::string_view target) const {
  const auto list = by_target.find(target);
  return list == by_target.end() ? nullptr : list->second.find(group);
}

const std::vector<std::string>& LedgerView::targets_of(const scheduling::GroupId& group) const {
  static const std::vector<std::string> kNone;
  const auto found = targets_by_group.find(group.text());
  return found == targets_by_group.end() ? kNone : found->second;
}

std::int32_t LedgerView::reserved(const scheduling::GroupId& group) const {
  const auto& targets = targets_of(group);
  return std::accumulate(targets.begin(), targets.end(), 0,
                         [&](std::int32_t sum, const std::string& target) {
                           return sum + find(group, target)->count;
                         });
}

Ledger::Ledger() : book_(std::make_unique<Book>()), attempts_(std::make_unique<Attempts>()) {}
Ledger::~Ledger() = default;

void Ledger::reserve(scheduling::Reservation reservation) {
  const std::scoped_lock lock(book_mutex_);
  book_->add(std::move(reservation));
}

void Ledger::reserve_all(std::vector<scheduling::Reservation> reservations) {
  const std::scoped_lock lock(book_mutex_);
  for (scheduling::Reservation& reservation : reservations) {
    book_->add(std::move(reservation));
  }
}

void Ledger::set_reservation(scheduling::Reservation reservation) {
  const std::scoped_lock lock(book_mutex_);
  book_->set(std::move(reservation));
}

void Ledger::lower(const scheduling::GroupId& group, std::string_view target, std::int32_t by) {
  const std::scoped_lock lock(book_mutex_);
  book_->lower(group, target, by);
}

void Ledger::release_target(std::string_view target) {
  const std::scoped_lock lock(book_mutex_);
  book_->release(target);
}

void Ledger::rename_target(std::string_view from, std::string_view to) {
  const std::scoped_lock lock(book_mutex_);
  book_->rename(from, to);
}

void Ledger::set_end(std::string_view target, base::TimePoint end) {
  const std::scoped_lock lock(book_mutex_);
  book_->set_end(target, end);
}

std::vector<scheduling::Reservation> Ledger::expire(base::TimePoint now) {
  {
    const std::scoped_lock lock(attempts_mutex_);
    attempts_->forget_old(now);
  }
  const std::scoped_lock lock(book_mutex_);
  std::vector<scheduling::Reservation> expired;
  for (const auto& [target, list] : book_->view.by_target) {
    std::copy_if(list.begin(), list.end(), std::back_inserter(expired),
                 [now](const auto& reservation) { return reservation.until <= now; });
  }
  for (const scheduling::Reservation& reservation : expired) {
    book_->lower(reservation.group, reservation.target, reservation.count);
  }
  return expired;
}

void Ledger::fence(Fence fence) {
  const std::scoped_lock lock(book_mutex_);
  book_->decide_fence(std::move(fence));
}

void Ledger::unfence(std::string_view node) {
  const std::scoped_lock lock(book_mutex_);
  book_->end_fence(node);
}

void Ledger::adopt_reservations(std::string_view target,
                                std::vector<scheduling::Reservation> reservations) {
  const std::scoped_lock lock(book_mutex_);
  book_->adopt(target, std::move(reservations));
}

void Ledger::forget_target(std::string_view target) {
  const std::scoped_lock lock(book_mutex_);
  book_->forget(target);
}

void Ledger::adopt_fence(std::string_view claim, std::string_view node,
                         std::optional<Fence> fence) {
  const std::scoped_lock lock(book_mutex_);
  book_->adopt_fence(claim, node, std::move(fence));
}

void Ledger::settle(std::span<const Arrival> arrivals) {
  {
    const std::scoped_lock lock(attempts_mutex_);
    for (const Arrival& arrival : arrivals) {
      attempts_->settle(arrival.pod_uid);
    }
  }
  const std::scoped_lock lock(book_mutex_);
  for (const Arrival& arrival : arrivals) {
    if (!arrival.node.empty()) {
      book_->use_one(arrival.group, arrival.node);
    }
  }
}

LedgerViewPtr Ledger::view() const {
  const std::scoped_lock lock(book_mutex_);
  if (published_ == nullptr || published_->generation != book_->view.generation) {
    published_ = std::make_shared<const LedgerView>(book_->view);
  }
  return published_;
}

void Ledger::attempt(std::string_view pod_uid, base::TimePoint now, bool seen) {
  const std::scoped_lock lock(attempts_mutex_);
  attempts_->begin(pod_uid, now, seen);
}

void Ledger::attempted(Pass pass) {
  if (pass.node_hashes.empty()) {
    const std::scoped_lock lock(attempts_mutex_);
    if (!pass.unseen || !attempts_->has_seen(pass.pod_uid)) {
      attempts_->give_way(pass.pod_uid, pass.at);
    }
    return;
  }
  auto& nodes = pass.node_hashes;
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const std::scoped_lock lock(attempts_mutex_);
  attempts_->put(std::move(pass));
}

void Ledger::compare_unseen(const FindPod& find) {
  const std::scoped_lock lock(attempts_mutex_);
  attempts_->compare_unseen(find);
}

void Ledger::end_attempt(std::string_view pod_uid) {
  const std::scoped_lock lock(attempts_mutex_);
  attempts_->end_all(pod_uid);
}

void Ledger::attempt_failed(std::string_view pod_uid) {
  const std::scoped_lock lock(attempts_mutex_);
  attempts_->fail(pod_uid);
}

bool Ledger::any_in_doubt(std::string_view node, base::TimePoint now) const {
  const std::scoped_lock lock(attempts_mutex_);
  return attempts_->any_in_doubt(node_hash(node), now);
}

std::vector<std::string> Ledger::in_doubt(std::string_view node, base::TimePoint now) const {
  const std::scoped_lock lock(attempts_mutex_);
  return attempts_->in_doubt(node_hash(node), now);
}

void Ledger::expect_unseen(base::TimePoint until) {
  const std::scoped_lock lock(attempts_mutex_);
  unseen_until_ = std::max(unseen_until_, until);
}

bool Ledger::may_be_unseen(base::TimePoint now) const {
  const std::scoped_lock lock(attempts_mutex_);
  return now < unseen_until_;
}

PassPtr Ledger::pass_of(std::string_view pod_uid) const {
  const std::scoped_lock lock(attempts_mutex_);
  return attempts_->of(pod_uid);
}

std::vector<PassPtr> Ledger::passes(base::TimePoint now) const {
  const std::scoped_lock lock(attempts_mutex_);
  return attempts_->alive(now);
}

std::uint64_t Ledger::settled() const {
  const std::scoped_lock lock(attempts_mutex_);
  return attempts_->settled();
}

Traffic Ledger::traffic(base::TimePoint now) const {
  std::unique_lock lock(attempts_mutex_);
  attempts_->forget_old(now);
  return {*attempts_, std::move(lock)};
}

std::uint64_t Ledger::node_hash(std::string_view node) {
  return std::hash<std::string_view>{}(node);
}

}  // namespace millwright::cluster
