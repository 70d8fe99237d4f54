#include "scheduling/search/exact/loaded_bins.hpp"

#include <algorithm>
#include <utility>

namespace millwright::scheduling {

LoadedBins::LoadedBins(const FillSearch::Market& market)
    : market_(market), nothing_(market.lots.demand().size(), 0) {
  const auto& lots = market.lots.lots();
  for (LotId lot; lot < lots.end_id(); ++lot) {
    if (lots[lot].left > 0) {
      lots_.push_back(lot);
    }
  }
  std::stable_sort(lots_.begin(), lots_.end(),
                   [&](LotId a, LotId b) { return market.values[a] > market.values[b]; });
  for (std::size_t c = 0; c < nothing_.size(); ++c) {
    double sum = 0;
    for (std::size_t lot = 0; lot < lots_.size(); ++lot) {
      sum += static_cast<double>(requests_of(lot)[c]) * static_cast<double>(pods_of(lot));
    }
    weights_.push_back(sum > 0 ? 1 / sum : 0);
  }
}

void LoadedBins::begin(const std::vector<std::size_t>& machines) {
  bins_.clear();
  for (const std::size_t at : machines) {
    const SoldMachine& machine = market_.machines[at];
    Bin& bin = bins_.emplace_back();
    bin.machine = at;
    bin.left = *machine.room;
    bin.counts.assign(lots_.size(), 0);
    for (const LotId lot : lots_) {
      bin.users.push_back(std::binary_search(machine.users.begin(), machine.users.end(), lot));
    }
  }
}

bool LoadedBins::admits(std::size_t lot, std::size_t bin) const {
  return bins_[bin].users[lot] && bins_[bin].counts[lot] < market_.most[lots_[lot]];
}

std::size_t LoadedBins::room_for(std::size_t lot, std::size_t bin) const {
  if (!admits(lot, bin)) {
    return 0;
  }
  const Amounts& requests = requests_of(lot);
  auto room = static_cast<std::int64_t>(market_.most[lots_[lot]] - bins_[bin].counts[lot]);
  for (std::size_t c = 0; c < requests.size(); ++c) {
    if (requests[c] > 0) {
      room = std::min(room, std::max<std::int64_t>(bins_[bin].left[c], 0) / requests[c]);
    }
  }
  return static_cast<std::size_t>(room);
}

double LoadedBins::likeness(std::size_t lot, std::size_t bin) const {
  double sum = 0;
  for (std::size_t c = 0; c < weights_.size(); ++c) {
    sum += static_cast<double>(requests_of(lot)[c]) * weights_[c] *
           static_cast<double>(bins_[bin].left[c]) * weights_[c];
  }
  return sum;
}

double LoadedBins::self_likeness(std::size_t lot) const {
  double sum = 0;
  for (std::size_t c = 0; c < weights_.size(); ++c) {
    const double part = static_cast<double>(requests_of(lot)[c]) * weights_[c];
    sum += part * part;
  }
  return sum;
}

double LoadedBins::excess(std::size_t bin, const Amounts& out, const Amounts& in) const {
  double sum = 0;
  for (std::size_t c = 0; c < weights_.size(); ++c) {
    const std::int64_t left = bins_[bin].left[c] + out[c] - in[c];
    sum += left < 0 ? static_cast<double>(-left) * weights_[c] : 0;
  }
  return sum;
}

void LoadedBins::put(std::size_t lot, std::size_t bin, std::int64_t count) {
  Bin& to = bins_[bin];
  to.counts[lot] = static_cast<std::uint32_t>(to.counts[lot] + count);
  const Amounts& requests = requests_of(lot);
  for (std::size_t c = 0; c < requests.size(); ++c) {
    to.left[c] -= count * requests[c];
  }
}

std::vector<Fill> LoadedBins::fills() const {
  std::vector<Fill> result;
  for (const Bin& bin : bins_) {
    const SoldMachine& machine = market_.machines[bin.machine];
    Fill fill{machine.row, machine.price, {}};
    for (std::size_t lot = 0; lot < lots_.size(); ++lot) {
      if (bin.counts[lot] > 0) {
        fill.pods.emplace_back(lots_[lot], bin.counts[lot]);
      }
    }
    std::sort(fill.pods.begin(), fill.pods.end());
    if (!fill.pods.empty()) {
      result.push_back(std::move(fill));
    }
  }
  return result;
}

}  // namespace millwright::scheduling
