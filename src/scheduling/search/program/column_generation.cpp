#include "scheduling/search/program/column_generation.hpp"

#include <algorithm>
#include <utility>

namespace millwright::scheduling {
namespace {

constexpr int kMaxRounds = 200;
// What `patience` rounds must save together, as a part of the price.
constexpr double kWorthAnother = 0.0005;
// Columns for machines that are added before the master problem is solved again.
constexpr std::size_t kColumnsPerRound = 24;
// A fill must be worth this much more than its price to become a column.
constexpr double kWorthAdding = 1 + 1e-4;
// Fills worth less than this part of their price are not kept for another time.
constexpr double kWorthKeeping = 0.9;
constexpr double kLeastNodePrice = 1e-6;

}  // namespace

ColumnGeneration::ColumnGeneration(const PodLots& lots, std::span<const SoldMachine> machines,
                                   std::span<const SoldMachine> nodes)
    : lots_(lots), machines_(machines), nodes_(nodes) {
  feasible_ = list_lots();
  list_nodes();
}

bool ColumnGeneration::list_lots() {
  const auto& lots = lots_.lots();
  row_of_.assign(lots.size(), 0);
  dual_prices_.assign(lots.size(), 0);
  most_.assign(lots.size(), 0);
  for (LotId id; id < lots.end_id(); ++id) {
    const Lot& lot = lots[id];
    most_[id] = lots_.most_together(lot);
    if (lot.left == 0) {
      continue;
    }
    const SoldMachine* cheapest = cheapest_for(id);
    if (cheapest == nullptr) {
      return false;
    }
    row_of_[id] = static_cast<std::uint32_t>(rows_.size());
    rows_.push_back(id);
    demand_.push_back(static_cast<double>(lot.left));
    alone_.push_back(cheapest->price);
    fills_.push_back({cheapest->row, cheapest->price, {{id, 1}}});
  }
  return true;
}

void ColumnGeneration::list_nodes() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    // Any price is right. What the room is worth keeps all columns of one order of magnitude.
    double price = kLeastNodePrice;
    for (const LotId lot : nodes_[i].users) {
      price = std::max(price, worth(*nodes_[i].room, lots_.prices(lots_.lots()[lot].shape)));
    }
    demand_.push_back(1);
    alone_.push_back(price);
    fills_.push_back({.price = price, .node = i});
  }
}

const SoldMachine* ColumnGeneration::cheapest_for(LotId lot) const {
  const SoldMachine* cheapest = nullptr;
  for (const SoldMachine& machine : machines_) {
    if ((cheapest == nullptr || machine.price < cheapest->price) &&
        std::binary_search(machine.users.begin(), machine.users.end(), lot)) {
      cheapest = &machine;
    }
  }
  return cheapest;
}

void ColumnGeneration::begin_with_known(const std::set<Fill>& known) {
  std::set<Fill> cut_down;
  for (const Fill& fill : known) {
    if (auto now = cut(fill)) {
      cut_down.insert(*std::move(now));
    }
  }
  start_.insert(start_.end(), cut_down.begin(), cut_down.end());
}

std::optional<Fill> ColumnGeneration::cut(const Fill& fill) const {
  Fill result = fill;
  bool smaller = false;
  Amounts requests(lots_.demand().size(), 0);
  for (auto& [lot, count] : result.pods) {
    const auto there = static_cast<std::uint32_t>(std::min<std::size_t>(count, most_[lot]));
    smaller = smaller || there < count;
    count = there;
    for (std::uint32_t i = 0; i < count; ++i) {
      add_to(requests, *lots_.lots()[lot].requests);
    }
  }
  std::erase_if(result.pods, [](const auto& pods) { return pods.second == 0; });
  if (result.pods.empty()) {
    return std::nullopt;
  }
  for (const SoldMachine& machine : machines_) {
    if (smaller && machine.price < result.price && fits(requests, *machine.room) &&
        std::all_of(result.pods.begin(), result.pods.end(), [&](const auto& pods) {
          return std::binary_search(machine.users.begin(), machine.users.end(), pods.first);
        })) {
      result.row = machine.row;
      result.price = machine.price;
    }
  }
  return result;
}

void ColumnGeneration::add(Simplex& master, Fill fill) {
  std::vector<Simplex::Entry> entries;
  for (const auto& [lot, count] : fill.pods) {
    entries.push_back({row_of_[lot], static_cast<double>(count)});
  }
  if (fill.node) {
    fill.price = alone_[row_of_node(*fill.node)];
    entries.push_back({static_cast<std::uint32_t>(row_of_node(*fill.node)), 1});
  }
  master.add(fill.price, entries);
  fills_.push_back(std::move(fill));
}

bool ColumnGeneration::run(int patience, std::size_t& work) {
  if (!feasible_) {
    return false;
  }
  Simplex master({demand_, alone_, nodes_.size()});
  for (Fill& fill : start_) {
    add(master, std::move(fill));
  }
  start_.clear();
  FillPricing on_nodes(lots_, nodes_, most_);
  FillPricing on_machines(lots_, machines_, most_);
  double before = 0;
  for (int round = 0; patience > 0 && round < kMaxRounds && work > 0; ++round) {
    master.solve(work);
    if (round % patience == 0) {
      if (round > 0 && master.objective() > before * (1 - kWorthAnother)) {
        break;
      }
      before = master.objective();
    }
    read_dual_prices(master);
    const std::size_t added = price_nodes(master, on_nodes, work);
    if (added + price_machines(master, on_machines, work) == 0) {
      break;
    }
  }
  master.solve(work);
  read_dual_prices(master);
  amounts_ = master.amounts();
  price_ = master.objective();
  return true;
}

void ColumnGeneration::read_dual_prices(const Simplex& master) {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    dual_prices_[rows_[row]] = master.dual_price(row);
  }
}

std::size_t ColumnGeneration::price_nodes(Simplex& master, FillPricing& pricing,
                                          std::size_t& work) {
  std::size_t added = 0;
  for (std::size_t node = 0; node < nodes_.size() && work > 0; ++node) {
    const double paid = alone_[row_of_node(node)] - master.dual_price(row_of_node(node));
    auto pods =
        pricing.find(node, dual_prices_, std::max(paid * kWorthAdding, kLeastNodePrice), work);
    if (!pods.empty()) {
      add(master, {.pods = std::move(pods), .node = node});
      ++added;
    }
  }
  return added;
}

std::size_t ColumnGeneration::price_machines(Simplex& master, FillPricing& pricing,
                                             std::size_t& work) {
  std::size_t added = 0;
  for (std::size_t i = 0; i < machines_.size() && added < kColumnsPerRound && work > 0; ++i) {
    next_ = (next_ + 1) % machines_.size();
    const SoldMachine& machine = machines_[next_];
    auto pods = pricing.find(next_, dual_prices_, machine.price * kWorthAdding, work);
    if (!pods.empty()) {
      add(master, {machine.row, machine.price, std::move(pods)});
      ++added;
    }
  }
  return added;
}

std::set<Fill> ColumnGeneration::worth_keeping() const {
  std::set<Fill> result;
  for (const Fill& fill : fills_) {
    double worth = 0;
    for (const auto& [lot, count] : fill.pods) {
      worth += dual_prices_[lot] * count;
    }
    if (worth >= kWorthKeeping * fill.price) {
      result.insert(fill);
    }
  }
  return result;
}

}  // namespace millwright::scheduling
