#include "scheduling/fill_choice.hpp"

#include <algorithm>
#include <utility>

namespace millwright::scheduling {
namespace {

constexpr int kMaxRounds = 200;
// What the rounds that patience allows for must save together, or there are no others.
constexpr double kWorthAnother = 0.0005;
// Fills added before prices are worked out anew.
constexpr std::size_t kPerRound = 24;
// A fill must be worth this much more than its price.
constexpr double kWorthAdding = 1 + 1e-4;
// Fills worth less than this part of their price are forgotten.
constexpr double kWorthKeeping = 0.9;

}  // namespace

bool FillChoice::run(std::set<Fill>& known, int patience, std::size_t& work) {
  if (!list_lots()) {
    return false;
  }
  FillProgram program(demand_, alone_);
  std::set<Fill> cut_down;
  for (const Fill& fill : known) {
    if (auto now = cut(fill)) {
      cut_down.insert(*std::move(now));
    }
  }
  for (const Fill& fill : cut_down) {
    add(program, fill);
  }
  BestFills finder(lots_, machines_, most_);
  double before = 0;
  for (int round = 0; patience > 0 && round < kMaxRounds && work > 0; ++round) {
    program.solve(work);
    if (round % patience == 0) {
      if (round > 0 && program.price() > before * (1 - kWorthAnother)) {
        break;
      }
      before = program.price();
    }
    if (look_for_fills(program, finder, work) == 0) {
      break;
    }
  }
  program.solve(work);
  shares_ = program.shares();
  price_ = program.price();
  forget(program, known);
  return true;
}

bool FillChoice::list_lots() {
  const auto& lots = lots_.lots();
  row_of_.assign(lots.size(), 0);
  values_.assign(lots.size(), 0);
  most_.assign(lots.size(), 0);
  for (std::uint32_t i = 0; i < lots.size(); ++i) {
    const Lot& lot = lots[i];
    // Pods of one item keep each other off.
    const auto items = std::count_if(lot.items.begin(), lot.items.end(), [&](std::uint32_t item) {
      return !lots_.items()[item].pods.empty();
    });
    most_[i] = lot.exclusive ? static_cast<std::size_t>(items) : lot.left;
    if (lot.left == 0) {
      continue;
    }
    const SoldMachine* cheapest = cheapest_for(i);
    if (cheapest == nullptr) {
      return false;
    }
    row_of_[i] = static_cast<std::uint32_t>(rows_.size());
    rows_.push_back(i);
    demand_.push_back(lot.left);
    alone_.push_back(cheapest->price);
    fills_.push_back({cheapest->row, cheapest->price, {{i, 1}}});
  }
  return true;
}

const SoldMachine* FillChoice::cheapest_for(std::uint32_t lot) const {
  const SoldMachine* cheapest = nullptr;
  for (const SoldMachine& machine : machines_) {
    if ((cheapest == nullptr || machine.price < cheapest->price) &&
        std::binary_search(machine.users.begin(), machine.users.end(), lot)) {
      cheapest = &machine;
    }
  }
  return cheapest;
}

void FillChoice::add(FillProgram& program, Fill fill) {
  FillPods pods = fill.pods;
  for (auto& [lot, count] : pods) {
    lot = row_of_[lot];
  }
  program.add(fill.price, std::move(pods));
  fills_.push_back(std::move(fill));
}

std::optional<Fill> FillChoice::cut(const Fill& fill) const {
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

std::size_t FillChoice::look_for_fills(FillProgram& program, BestFills& finder, std::size_t& work) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    values_[rows_[i]] = program.value(i);
  }
  std::size_t added = 0;
  for (std::size_t i = 0; i < machines_.size() && added < kPerRound && work > 0; ++i) {
    next_ = (next_ + 1) % machines_.size();
    const SoldMachine& machine = machines_[next_];
    auto pods = finder.find(next_, values_, machine.price * kWorthAdding, work);
    if (!pods.empty()) {
      add(program, {machine.row, machine.price, std::move(pods)});
      ++added;
    }
  }
  return added;
}

void FillChoice::forget(const FillProgram& program, std::set<Fill>& known) const {
  known.clear();
  for (const Fill& fill : fills_) {
    double worth = 0;
    for (const auto& [lot, count] : fill.pods) {
      worth += program.value(row_of_[lot]) * count;
    }
    if (worth >= kWorthKeeping * fill.price) {
      known.insert(fill);
    }
  }
}

}  // namespace millwright::scheduling
