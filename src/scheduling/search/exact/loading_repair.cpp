#include "scheduling/search/exact/loading_repair.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace millwright::scheduling {
namespace {

// Less is a rounding error.
constexpr double kLessExcess = 1e-13;
// How often, and by how much, what is beyond the room weighs more.
constexpr int kBreakouts = 6;
constexpr double kHeavier = 2;

// A pod of one lot moves to another bin, and perhaps one of another lot comes back for it.
struct Exchange {
  double saves = kLessExcess;
  std::size_t to = 0;
  std::size_t goes = 0;
  std::optional<std::size_t> comes;
};

// Puts a pod where it leaves least beyond the room. False when no machine admits it.
bool put_beyond_room(LoadedBins& bins, std::size_t lot) {
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t bin = 0; bin < bins.bins(); ++bin) {
    if (bins.admits(lot, bin)) {
      const double more =
          bins.excess(bin, bins.nothing(), bins.requests_of(lot)) - bins.excess(bin);
      if (!best || more < least) {
        best = bin;
        least = more;
      }
    }
  }
  if (best) {
    bins.put(lot, *best, 1);
  }
  return best.has_value();
}

bool put_all(LoadedBins& bins, std::size_t& work) {
  for (std::size_t lot = 0; lot < bins.lots(); ++lot) {
    std::size_t pods = bins.pods_of(lot);
    const auto counts = deal_greedily(bins, lot, work);
    for (std::size_t bin = 0; bin < bins.bins(); ++bin) {
      bins.put(lot, bin, static_cast<std::int64_t>(counts[bin]));
      pods -= counts[bin];
    }
    for (; pods > 0; --pods) {
      if (!put_beyond_room(bins, lot)) {
        return false;
      }
    }
  }
  return true;
}

// Exchanges pods between bins until none has more than its room. Where no exchange helps, what is
// beyond the room of the bins that are too full weighs more from then on, and it goes elsewhere
// (the breakout method, Morris).
class Repair {
 public:
  explicit Repair(LoadedBins& bins) : bins_(bins), weights_(bins.bins(), 1) {}

  bool run(std::size_t& work) {
    for (int breakouts = 0; work > 0;) {
      const std::vector<std::size_t> too_full = list_too_full();
      if (too_full.empty()) {
        return true;
      }
      if (std::any_of(too_full.begin(), too_full.end(),
                      [&](std::size_t bin) { return relieve(bin, work); })) {
        continue;
      }
      if (++breakouts > kBreakouts) {
        return false;
      }
      for (const std::size_t bin : too_full) {
        weights_[bin] *= kHeavier;
      }
    }
    return false;
  }

 private:
  // The fullest first.
  std::vector<std::size_t> list_too_full() const {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t bin = 0; bin < bins_.bins(); ++bin) {
      if (const double excess = bins_.excess(bin); excess > 0) {
        order.emplace_back(-excess, bin);
      }
    }
    std::sort(order.begin(), order.end());
    std::vector<std::size_t> result;
    std::transform(order.begin(), order.end(), std::back_inserter(result),
                   [](const auto& bin) { return bin.second; });
    return result;
  }

  // Makes the exchange that helps the bin most. False when none does.
  bool relieve(std::size_t from, std::size_t& work) {
    Exchange best;
    for (std::size_t to = 0; to < bins_.bins() && work > 0; ++to) {
      if (to != from) {
        improve(best, from, to, work);
      }
    }
    if (best.saves <= kLessExcess) {
      return false;
    }
    bins_.put(best.goes, from, -1);
    bins_.put(best.goes, best.to, 1);
    if (best.comes) {
      bins_.put(*best.comes, best.to, -1);
      bins_.put(*best.comes, from, 1);
    }
    return true;
  }

  // Looks for a better exchange between the two bins.
  void improve(Exchange& best, std::size_t from, std::size_t to, std::size_t& work) const {
    std::vector<std::size_t> back;
    for (std::size_t lot = 0; lot < bins_.lots(); ++lot) {
      if (bins_.count(lot, to) > 0 && bins_.admits(lot, from)) {
        back.push_back(lot);
      }
    }
    const double before = weights_[from] * bins_.excess(from) + weights_[to] * bins_.excess(to);
    const auto look = [&](std::size_t goes, std::optional<std::size_t> comes) {
      const Amounts& out = bins_.requests_of(goes);
      const Amounts& in = comes ? bins_.requests_of(*comes) : bins_.nothing();
      double saves = before - weights_[from] * bins_.excess(from, out, in);
      // The other bin has no less than nothing beyond its room.
      if (saves > best.saves) {
        saves -= weights_[to] * bins_.excess(to, in, out);
        if (saves > best.saves) {
          best = {saves, to, goes, comes};
        }
      }
    };
    for (std::size_t lot = 0; lot < bins_.lots(); ++lot) {
      if (bins_.count(lot, from) > 0 && bins_.admits(lot, to)) {
        work -= std::min(work, back.size() / kLooksPerWork + 1);
        look(lot, std::nullopt);
        for (const std::size_t other : back) {
          look(lot, other);
        }
      }
    }
  }

  LoadedBins& bins_;
  std::vector<double> weights_;  // by bin: of what it has beyond its room
};

}  // namespace

bool load(LoadedBins& bins, std::size_t& work) {
  return put_all(bins, work) && Repair(bins).run(work);
}

std::vector<std::size_t> deal_greedily(const LoadedBins& bins, std::size_t lot, std::size_t& work) {
  std::vector<std::size_t> room;
  std::vector<double> likeness;
  for (std::size_t bin = 0; bin < bins.bins(); ++bin) {
    room.push_back(bins.room_for(lot, bin));
    likeness.push_back(bins.likeness(lot, bin));
  }
  const double less = bins.self_likeness(lot);
  std::vector<std::size_t> counts(bins.bins(), 0);
  work -= std::min(work, bins.bins() * (bins.pods_of(lot) / kLooksPerWork + 1));
  for (std::size_t pod = 0; pod < bins.pods_of(lot); ++pod) {
    std::optional<std::size_t> best;
    for (std::size_t bin = 0; bin < bins.bins(); ++bin) {
      if (counts[bin] < room[bin] && (!best || likeness[bin] > likeness[*best])) {
        best = bin;
      }
    }
    if (!best) {
      break;
    }
    ++counts[*best];
    likeness[*best] -= less;
  }
  return counts;
}

}  // namespace millwright::scheduling
