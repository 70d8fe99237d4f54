#include "scheduling/search/exact/loading_tree.hpp"

#include "scheduling/search/exact/loading_repair.hpp"

#include <algorithm>

namespace millwright::scheduling {

LoadingTree::LoadingTree(LoadedBins& bins)
    : bins_(bins), demand_(bins.lots() + 1, bins.nothing()), wanted_(bins.lots()) {
  for (std::size_t lot = bins.lots(); lot-- > 0;) {
    demand_[lot] = demand_[lot + 1];
    for (std::size_t pod = 0; pod < bins.pods_of(lot); ++pod) {
      add_to(demand_[lot], bins.requests_of(lot));
    }
  }
}

LoadingTree::Answer LoadingTree::run(std::size_t& work) {
  if (place(0, work)) {
    return Answer::Fits;
  }
  return work > 0 ? Answer::DoesNotFit : Answer::NotKnown;
}

bool LoadingTree::place(std::size_t lot, std::size_t& work) {
  if (lot == bins_.lots()) {
    return true;
  }
  if (!has_room_from(lot)) {
    return false;
  }
  wanted_[lot] = deal_greedily(bins_, lot, work);
  return deal(lot, 0, bins_.pods_of(lot), work);
}

bool LoadingTree::deal(std::size_t lot, std::size_t bin, std::size_t pods, std::size_t& work) {
  if (bin == bins_.bins()) {
    return pods == 0 && place(lot + 1, work);
  }
  work -= std::min(work, bins_.bins());
  std::size_t later = 0;
  for (std::size_t other = bin + 1; other < bins_.bins(); ++other) {
    later += bins_.room_for(lot, other);
  }
  const std::size_t most = most_for(lot, bin, pods);
  const std::size_t least = pods > later ? pods - later : 0;
  if (least > most) {
    return false;
  }
  const auto wanted = std::clamp(wanted_[lot][bin], least, most);
  const auto try_count = [&](std::size_t count) {
    bins_.put(lot, bin, static_cast<std::int64_t>(count));
    if (deal(lot, bin + 1, pods - count, work)) {
      return true;
    }
    bins_.put(lot, bin, -static_cast<std::int64_t>(count));
    return false;
  };
  // What is wanted first, then more and more unlike it.
  for (std::size_t off = 0; off <= most - least && work > 0; ++off) {
    if ((wanted + off <= most && try_count(wanted + off)) ||
        (off > 0 && wanted >= least + off && try_count(wanted - off))) {
      return true;
    }
  }
  return false;
}

std::size_t LoadingTree::most_for(std::size_t lot, std::size_t bin, std::size_t pods) {
  std::size_t most = std::min(pods, bins_.room_for(lot, bin));
  if (bin > 0) {
    const std::int64_t before = bins_.count(lot, bin - 1);
    bins_.put(lot, bin - 1, -before);
    if (bins_.alike(bin, bin - 1)) {
      most = std::min(most, static_cast<std::size_t>(before));
    }
    bins_.put(lot, bin - 1, before);
  }
  return most;
}

bool LoadingTree::has_room_from(std::size_t lot) const {
  Amounts room = bins_.nothing();
  for (std::size_t bin = 0; bin < bins_.bins(); ++bin) {
    add_to(room, bins_.left_in(bin));
  }
  return fits(demand_[lot], room);
}

}  // namespace millwright::scheduling
