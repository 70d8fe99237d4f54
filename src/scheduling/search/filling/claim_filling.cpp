#include "scheduling/search/filling/claim_filling.hpp"

#include <algorithm>
#include <utility>

namespace millwright::scheduling {
namespace {

constexpr double kSamePrice = 1 + 1e-9;
// Items of one lot that are tried on a claim.
constexpr std::size_t kMaxTriedItems = 32;

}  // namespace

std::optional<Bin> ClaimFilling::begin(PodLots& lots, LotId index, CheapestRow machine) const {
  Lot& lot = lots.lots()[index];
  const auto item = std::find_if(lot.items.begin(), lot.items.end(),
                                 [&](std::uint32_t i) { return !lots.items()[i].pods.empty(); });
  LotItem& first = lots.items()[*item];
  auto claim = search_.drafts.builder().start(search_.pool, first.applicant, first.pods.back());
  if (!claim || !search_.drafts.domains().counts_alike({.pool = search_.pool, .shape = first.from},
                                                       *claim, first.applicant.constraint)) {
    return std::nullopt;
  }
  Bin bin{.claim = *std::move(claim),
          .machine = machine,
          .left = search_.pool_template().room.room(machine.row)};
  bin.lots.reserve(bin.claim.pods.capacity());
  bin.lots.push_back(index);
  subtract_from(bin.left, *lot.requests);
  note_spreading(bin, first.applicant);
  lots.remove_last(lot, first);
  return bin;
}

Bin ClaimFilling::resume(ClaimDraft claim, CheapestRow cheapest) const {
  Bin bin{.claim = std::move(claim),
          .machine = cheapest,
          .left = search_.pool_template().room.room(cheapest.row)};
  subtract_from(bin.left, bin.claim.requests);
  for (std::size_t i = 0; i < bin.claim.pods.size(); ++i) {
    note_spreading(bin, member_of(bin.claim, i, search_.pods));
  }
  return bin;
}

ShapeId ClaimFilling::joined_shape(ShapeId shape, const PodLots& lots, LotId index,
                                   CheapestRow machine) const {
  const Lot& lot = lots.lots()[index];
  if (lot.shape == ShapeId::none()) {
    return ShapeId::none();
  }
  const LotItem& example = lots.items()[lot.items.front()];
  const ShapeId next = search_.drafts.builder().joined_shape(shape, example.applicant);
  if (next == ShapeId::none()) {
    return next;
  }
  const ClaimShape& joined = search_.drafts.shapes()[next];
  const bool same_machine = joined.offered.contains(machine.row) &&
                            joined.price[machine.row] <= machine.price * kSamePrice;
  return same_machine ? next : ShapeId::none();
}

bool ClaimFilling::add(PodLots& lots, LotId index, Bin& bin) const {
  if (joined_shape(bin.claim.shape, lots, index, bin.machine) == ShapeId::none()) {
    return false;
  }
  Lot& lot = lots.lots()[index];
  std::size_t tries = 0;
  for (const std::uint32_t i : lot.items) {
    LotItem& item = lots.items()[i];
    if (item.pods.empty() || !hosts_admit(bin, item.applicant)) {
      continue;
    }
    if (++tries > kMaxTriedItems) {
      return false;
    }
    if (counts_as_before(item, bin) &&
        search_.drafts.builder().join(bin.claim, item.applicant, item.pods.back())) {
      subtract_from(bin.left, *lot.requests);
      note_spreading(bin, item.applicant);
      lots.remove_last(lot, item);
      bin.lots.push_back(index);
      return true;
    }
  }
  return false;
}

bool ClaimFilling::build(PodLots& lots, const Fill& fill, std::vector<ClaimDraft>& result) const {
  std::optional<Bin> bin;
  for (const auto& [lot, count] : fill.pods) {
    for (std::uint32_t i = 0; i < count && lots.lots()[lot].left > 0; ++i) {
      if (bin) {
        if (!add(lots, lot, *bin)) {
          break;
        }
      } else {
        bin = begin(lots, lot, {fill.row, fill.price});
        if (!bin) {
          return false;
        }
      }
    }
  }
  if (bin) {
    result.push_back(std::move(bin->claim));
  }
  return true;
}

bool ClaimFilling::counts_as_before(const LotItem& item, const Bin& bin) const {
  const Constraint& constraint = item.applicant.constraint;
  if (constraint.counted.empty()) {
    return true;
  }
  const ShapeId shape = search_.drafts.builder().joined_shape(bin.claim.shape, item.applicant);
  return shape != ShapeId::none() &&
         search_.drafts.domains().counts_alike({.pool = search_.pool, .shape = item.from},
                                               {.pool = search_.pool, .shape = shape}, constraint);
}

bool ClaimFilling::hosts_admit(const Bin& bin, const Applicant& applicant) const {
  return std::all_of(applicant.constraint.counted.begin(), applicant.constraint.counted.end(),
                     [&](TopologyGroupId id) {
                       return std::find(bin.spreading.begin(), bin.spreading.end(), id) ==
                                  bin.spreading.end() ||
                              bin.claim.tally.selected(id) < search_.topology.groups()[id].max_skew;
                     }) &&
         search_.drafts.builder().admits_host(bin.claim, applicant);
}

void ClaimFilling::note_spreading(Bin& bin, const Applicant& applicant) const {
  for (const TopologyGroupId id : applicant.rung.on_host) {
    if (search_.topology.groups()[id].kind == TopologyKind::Spread) {
      bin.spreading.push_back(id);
    }
  }
}

}  // namespace millwright::scheduling
