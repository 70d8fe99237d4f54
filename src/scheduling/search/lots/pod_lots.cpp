#include "scheduling/search/lots/pod_lots.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace millwright::scheduling {

bool PodLots::take(const ClaimDraft& claim) {
  if (claim.reserved || claim.keeps_together || claim.min_values_relaxed) {
    return false;
  }
  std::vector<Applicant> moving;
  moving.reserve(claim.pods.size());
  for (std::size_t i = 0; i < claim.pods.size(); ++i) {
    Applicant applicant = member_of(claim, i, pods_);
    if (applicant.constraint.has_topology() && !drafts_.domains().freeze(claim, applicant)) {
      return false;
    }
    moving.push_back(applicant);
  }
  pool_ = claim.pool;
  left_ += moving.size();
  for (std::size_t i = moving.size(); i-- > 0;) {
    const Applicant& applicant = moving[i];
    const Narrowing* domains = applicant.narrowed.chosen;
    const auto [found, added] =
        known_.try_emplace({static_cast<std::uint32_t>(&applicant.pod_class - pods_.classes.data()),
                            claim.rungs[i], domains == nullptr ? 0 : domains->id,
                            applicant.constraint.counted.empty() ? ShapeId::none() : claim.shape},
                           static_cast<std::uint32_t>(items_.size()));
    if (added) {
      items_.push_back({applicant, claim.shape, {}, {}});
      note_exclusive(items_.back());
    }
    items_[found->second].pods.push_back(claim.pods[i]);
  }
  return true;
}

void PodLots::note_exclusive(LotItem& item) const {
  for (const TopologyGroupId id : item.applicant.rung.on_host) {
    if (topology_.groups()[id].kind != TopologyKind::Affinity &&
        item.applicant.constraint.counts_for(id)) {
      item.apart.push_back(id);
    }
  }
}

void PodLots::remove_last(Lot& lot, LotItem& item) {
  item.pods.pop_back();
  departures_.emplace_back(static_cast<std::size_t>(&lot - &lots_.front()));
  --lot.left;
  --left_;
  value_left_ -= lot.value;
  for (const TopologyGroupId group : item.apart) {
    --apart_[group];
  }
}

PodLots PodLots::part(std::size_t index, std::size_t parts) const {
  PodLots result = *this;
  for (LotId lot; lot < result.lots_.end_id(); ++lot) {
    if (lot.index() % parts == index) {
      continue;
    }
    for (const std::uint32_t item : result.lots_[lot].items) {
      while (!result.items_[item].pods.empty()) {
        result.remove_last(result.lots_[lot], result.items_[item]);
      }
    }
  }
  return result;
}

std::int32_t PodLots::most_per_node(TopologyGroupId id) const {
  const TopologyGroup& group = topology_.groups()[id];
  return group.kind == TopologyKind::Spread ? std::max(group.max_skew, 1) : 1;
}

bool PodLots::is_kept_off(const Lot& lot, const HostTally& tally) const {
  return std::any_of(lot.apart.begin(), lot.apart.end(), [&](TopologyGroupId group) {
    return tally.selected(group) >= most_per_node(group);
  });
}

double PodLots::least() const {
  double price = 0;
  for (const Lot& lot : lots_) {
    price += lot.least * static_cast<double>(lot.left);
  }
  return price;
}

std::size_t PodLots::most_together(const Lot& lot) const {
  std::size_t most = lot.left;
  for (const TopologyGroupId group : lot.apart) {
    most = std::min(most, static_cast<std::size_t>(most_per_node(group)));
  }
  if (!lot.apart.empty()) {
    return most;
  }
  // Pods of one item keep each other off.
  return lot.exclusive ? static_cast<std::size_t>(std::count_if(
                             lot.items.begin(), lot.items.end(),
                             [&](std::uint32_t item) { return !items_[item].pods.empty(); }))
                       : lot.left;
}

std::size_t PodLots::claims_needed(std::size_t parts) const {
  const auto needed = [this](const std::map<TopologyGroupId, std::size_t>& apart) {
    std::size_t most = 0;
    for (const auto& [group, pods] : apart) {
      const auto per_node = static_cast<std::size_t>(most_per_node(group));
      most = std::max(most, (pods + per_node - 1) / per_node);
    }
    return most;
  };
  if (parts == 1 || apart_.empty()) {
    return needed(apart_);
  }
  std::vector<std::map<TopologyGroupId, std::size_t>> apart(parts);
  for (LotId lot; lot < lots_.end_id(); ++lot) {
    for (const std::uint32_t i : lots_[lot].items) {
      for (const TopologyGroupId group : items_[i].apart) {
        apart[lot.index() % parts][group] += items_[i].pods.size();
      }
    }
  }
  return std::accumulate(apart.begin(), apart.end(), std::size_t{0},
                         [&](std::size_t sum, const auto& part) { return sum + needed(part); });
}

void PodLots::revalue(const ById<LotId, double>& paid) {
  double before = 0;
  double after = 0;
  for (LotId id; id < lots_.end_id(); ++id) {
    Lot& lot = lots_[id];
    const auto count = static_cast<double>(lot.left);
    before += lot.value * count;
    lot.value *= std::sqrt(paid[id] > 0 ? paid[id] / count : 1);
    after += lot.value * count;
  }
  for (Lot& lot : lots_) {
    lot.value *= before / std::max(after, 1e-300);
  }
}

void PodLots::sort(const ById<PoolId, PoolTemplate>& pools, Apart apart) {
  demand_.assign(pods_.columns.size(), 0);
  // Zero for pods that keep apart from nobody, then numbered as they come up.
  std::map<std::vector<TopologyGroupId>, std::size_t> by_group = {{{}, 0}};
  std::map<std::tuple<Amounts, ShapeId, std::size_t>, Lot> by_kind;
  for (std::uint32_t i = 0; i < items_.size(); ++i) {
    const LotItem& item = items_[i];
    const Amounts& requests = item.applicant.pod_class.requests;
    const ShapeId shape =
        drafts_.builder().joined_shape(drafts_.shapes().empty_claim(pool_), item.applicant);
    const std::size_t kind = apart == Apart::InOneLot
                                 ? (item.apart.empty() ? 0 : 1)
                                 : by_group.try_emplace(item.apart, by_group.size()).first->second;
    Lot& lot = by_kind[{requests, shape, kind}];
    lot.exclusive = !item.apart.empty();
    if (lot.items.empty()) {
      lot.apart = item.apart;
    } else {
      std::erase_if(lot.apart, [&](TopologyGroupId group) {
        return std::find(item.apart.begin(), item.apart.end(), group) == item.apart.end();
      });
    }
    for (const TopologyGroupId group : item.apart) {
      apart_[group] += item.pods.size();
    }
    lot.requests = &requests;
    lot.shape = shape;
    lot.left += item.pods.size();
    lot.items.push_back(i);
    for (std::size_t pod = 0; pod < item.pods.size(); ++pod) {
      add_to(demand_, requests);
    }
  }
  const PoolTemplate& pool = pools[pool_];
  std::map<ShapeId, std::vector<double>> by_market;
  for (auto& [kind, lot] : by_kind) {
    auto [prices, added] = prices_.try_emplace(lot.shape);
    if (added && lot.shape != ShapeId::none()) {
      const ClaimShape& shape = drafts_.shapes()[lot.shape];
      auto [market, is_new] = by_market.try_emplace(shape.market);
      if (is_new) {
        std::vector<Machine> machines;
        (shape.offered & pool.room.usable()).for_each([&](std::size_t row) {
          machines.push_back({&pool.room.room(row), shape.price[row]});
        });
        market->second = resource_prices(machines, demand_);
      }
      prices->second = market->second;
    }
    prices->second.resize(demand_.size(), 0);
    lot.least = worth(*lot.requests, prices->second);
    lot.value = lot.least;
    value_left_ += lot.value * static_cast<double>(lot.left);
    lots_.push_back(std::move(lot));
  }
  std::stable_sort(lots_.begin(), lots_.end(),
                   [](const Lot& a, const Lot& b) { return a.least > b.least; });
  for (LotId lot; lot < lots_.end_id(); ++lot) {
    by_rung_.emplace_back(items_[lots_[lot].items.front()].applicant.rung.id, lot);
  }
  std::sort(by_rung_.begin(), by_rung_.end());
  for (LotId lot; lot < lots_.end_id(); ++lot) {
    if (!lots_[lot].apart.empty()) {
      kept_apart_.push_back(lot);
    }
  }
  known_.clear();
}

std::vector<LotId> PodLots::meeting(ShapeId shape) const {
  std::vector<LotId> result;
  for (const std::uint32_t rung : drafts_.shapes().meeting(shape)) {
    for (auto at = std::lower_bound(by_rung_.begin(), by_rung_.end(), std::pair{rung, LotId()});
         at != by_rung_.end() && at->first == rung; ++at) {
      result.push_back(at->second);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace millwright::scheduling
