#include "cluster/ledger/mirrors.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace millwright::cluster {
namespace {

std::size_t fingerprint(const std::string& text) {
  return text.empty() ? 0 : std::hash<std::string>{}(text);
}

}  // namespace

void Mirrors::read(const model::NodeClaim& claim, const std::string& node_name) {
  const std::string& name = claim.meta.name;
  const std::string& reservations = claim.meta.annotation(model::kReservationsAnnotation);
  const std::string& fence = claim.meta.annotation(model::kFenceAnnotation);
  const auto known = seen_.find(name);
  if (reservations.empty() && fence.empty() && known == seen_.end()) {
    return;
  }
  const Seen before = known == seen_.end() ? Seen{} : known->second;
  const Seen now{fingerprint(reservations), fingerprint(fence), node_name};
  if (now.reservations != before.reservations) {
    read_reservations(name, reservations, node_name.empty() ? name : node_name);
  }
  const bool fence_moved = now.fence != 0 && now.fenced_node != before.fenced_node;
  if (!node_name.empty() && (now.fence != before.fence || fence_moved)) {
    read_fence(name, fence, node_name);
  }
  seen_.insert_or_assign(name, now);
}

void Mirrors::read_reservations(const std::string& claim, const std::string& text,
                                const std::string& target) {
  std::vector<scheduling::Reservation> reservations;
  if (!text.empty()) {
    auto decoded = decode_reservations(text, target);
    if (!decoded) {
      report(claim, model::kReservationsAnnotation, decoded.error());
      return;
    }
    reservations = *std::move(decoded);
    const base::TimePoint now = facts_.now();
    std::erase_if(reservations, [now](const auto& each) { return each.until <= now; });
    for (scheduling::Reservation& reservation : reservations) {
      reservation.inherited = !facts_.synced;
      // Whoever may write NodeClaims keeps no room for ever.
      if (facts_.longest_reservation) {
        reservation.until = std::min(reservation.until, now + *facts_.longest_reservation);
      }
    }
  }
  ledger_.adopt_reservations(target, std::move(reservations));
}

void Mirrors::read_fence(const std::string& claim, const std::string& text,
                         const std::string& node) {
  std::optional<Fence> fence;
  if (!text.empty()) {
    auto decoded = decode_fence(text, node);
    if (!decoded) {
      report(claim, model::kFenceAnnotation, decoded.error());
      return;
    }
    fence = *std::move(decoded);
    // One from the future would hide every later one of the node.
    fence->since = std::min(fence->since, facts_.now());
  }
  ledger_.adopt_fence(claim, node, std::move(fence));
}

void Mirrors::report(const std::string& claim, std::string_view annotation,
                     const base::Error& error) {
  facts_.problem("NodeClaim/" + claim + ": ignoring annotation " + std::string(annotation) + ": " +
                 error.message + "; delete the annotation to silence this");
}

void Mirrors::forget(std::string_view claim) {
  const auto known = seen_.find(claim);
  if (known != seen_.end()) {
    seen_.erase(known);
  }
}

}  // namespace millwright::cluster
