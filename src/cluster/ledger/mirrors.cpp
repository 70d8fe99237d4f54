#include "cluster/ledger/mirrors.hpp"

#include <utility>
#include <vector>

namespace millwright::cluster {
namespace {

std::size_t fingerprint(const std::string& text) {
  return text.empty() ? 0 : std::hash<std::string>{}(text);
}

std::string source_name(std::string_view kind, std::string_view name) {
  return std::string(kind).append("/").append(name);
}

}  // namespace

void Mirrors::read(const model::Node& node) {
  const std::string& name = node.meta.name;
  read(source_name("Node", name), node.meta, {.target = {}, .fence_node = name});
}

void Mirrors::read(const model::NodeClaim& claim, const std::string& node_name) {
  read(source_name("NodeClaim", claim.meta.name), claim.meta,
       {.target = node_name.empty() ? claim.meta.name : node_name, .fence_node = node_name});
}

void Mirrors::read(const std::string& source, const model::ObjectMeta& meta, const Place& place) {
  const std::string& reservations = meta.annotation(model::kReservationsAnnotation);
  const std::string& fence = meta.annotation(model::kFenceAnnotation);
  const auto known = seen_.find(source);
  if (reservations.empty() && fence.empty() && known == seen_.end()) {
    return;
  }
  const Seen before = known == seen_.end() ? Seen{} : known->second;
  const Seen now{fingerprint(reservations), fingerprint(fence), place.fence_node};
  if (!place.target.empty() && now.reservations != before.reservations) {
    read_reservations(source, reservations, place.target);
  }
  const bool fence_moved = now.fence != 0 && now.fenced_node != before.fenced_node;
  if (!place.fence_node.empty() && (now.fence != before.fence || fence_moved)) {
    read_fence(source, fence, place.fence_node);
  }
  seen_.insert_or_assign(source, now);
}

void Mirrors::read_reservations(const std::string& source, const std::string& text,
                                const std::string& target) {
  std::vector<scheduling::Reservation> reservations;
  if (!text.empty()) {
    auto decoded = decode_reservations(text, target);
    if (!decoded) {
      report(source, model::kReservationsAnnotation, decoded.error());
      return;
    }
    reservations = *std::move(decoded);
    std::erase_if(reservations, [now = now_()](const auto& each) { return each.until <= now; });
    for (scheduling::Reservation& reservation : reservations) {
      reservation.inherited = !synced_;
    }
  }
  ledger_.adopt_reservations(target, std::move(reservations));
}

void Mirrors::read_fence(const std::string& source, const std::string& text,
                         const std::string& node) {
  std::optional<Fence> fence;
  if (!text.empty()) {
    auto decoded = decode_fence(text, node);
    if (!decoded) {
      report(source, model::kFenceAnnotation, decoded.error());
      return;
    }
    fence = *std::move(decoded);
  }
  ledger_.adopt_fence(source, node, std::move(fence));
}

void Mirrors::report(const std::string& source, std::string_view annotation,
                     const base::Error& error) {
  problem_(source + ": ignoring annotation " + std::string(annotation) + ": " + error.message +
           "; delete the annotation to silence this");
}

void Mirrors::forget(std::string_view kind, std::string_view name) {
  const auto known = seen_.find(source_name(kind, name));
  if (known != seen_.end()) {
    seen_.erase(known);
  }
}

}  // namespace millwright::cluster
