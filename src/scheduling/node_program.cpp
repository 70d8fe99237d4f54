#include "scheduling/node_program.hpp"

#include <algorithm>
#include <utility>

namespace millwright::scheduling {
namespace {

// Lots and nodes: the program takes the square of that.
constexpr std::size_t kMaxRows = 320;
constexpr int kMaxRounds = 100;
// See fill_choice.cpp.
constexpr int kPatience = 4;
constexpr double kWorthAnother = 0.0005;
constexpr std::size_t kPerRound = 24;
constexpr double kWorthAdding = 1 + 1e-4;
constexpr double kLeastPrice = 1e-6;

}  // namespace

NodeProgram::NodeProgram(const PodLots& lots, std::span<const SoldMachine> market,
                         std::span<const SoldMachine> nodes)
    : lots_(lots), market_(market), nodes_(nodes) {
  for (const Lot& lot : lots.lots()) {
    most_.push_back(lot.left);
  }
  // Any price is right; about what the room is worth keeps all fills of one order of magnitude.
  for (const SoldMachine& node : nodes) {
    double worth_of_room = kLeastPrice;
    for (const std::uint32_t lot : node.users) {
      worth_of_room =
          std::max(worth_of_room, worth(*node.room, lots.prices(lots.lots()[lot].shape)));
    }
    node_prices_.push_back(worth_of_room);
  }
}

std::optional<double> NodeProgram::price_alone(std::uint32_t lot) const {
  std::optional<double> least;
  for (const SoldMachine& machine : market_) {
    if ((!least || machine.price < *least) &&
        std::binary_search(machine.users.begin(), machine.users.end(), lot)) {
      least = machine.price;
    }
  }
  return least;
}

void NodeProgram::add_on(FillProgram& program, std::size_t node, FillPods pods) {
  pods.emplace_back(static_cast<std::uint32_t>(most_.size() + node), 1);
  program.add(node_prices_[node], std::move(pods));
}

bool NodeProgram::run(std::size_t& work) {
  if (most_.size() + nodes_.size() > kMaxRows) {
    return false;
  }
  std::vector<std::size_t> demand = most_;
  std::vector<double> alone;
  for (std::uint32_t lot = 0; lot < most_.size(); ++lot) {
    const auto price = price_alone(lot);
    if (!price) {
      return false;
    }
    alone.push_back(*price);
  }
  demand.resize(most_.size() + nodes_.size(), 1);
  alone.insert(alone.end(), node_prices_.begin(), node_prices_.end());
  FillProgram program(demand, alone, nodes_.size());
  for (Fill& fill : known_) {
    program.add(fill.price, std::move(fill.pods));
  }
  for (auto& [node, pods] : known_on_) {
    add_on(program, node, std::move(pods));
  }
  BestFills on_market(lots_, market_, most_);
  BestFills on_nodes(lots_, nodes_, most_);
  double before = 0;
  for (int round = 0; round < kMaxRounds && work > 0; ++round) {
    program.solve(work);
    if (round % kPatience == 0) {
      if (round > 0 && program.price() > before * (1 - kWorthAnother)) {
        break;
      }
      before = program.price();
    }
    if (look_for_fills(program, on_market, on_nodes, work) == 0) {
      break;
    }
  }
  program.solve(work);
  note_wanted(program);
  return true;
}

std::size_t NodeProgram::look_for_fills(FillProgram& program, BestFills& on_market,
                                        BestFills& on_nodes, std::size_t& work) {
  values_.clear();
  for (std::size_t lot = 0; lot < most_.size(); ++lot) {
    values_.push_back(program.value(lot));
  }
  std::size_t added = 0;
  for (std::size_t node = 0; node < nodes_.size() && work > 0; ++node) {
    const double paid = node_prices_[node] - program.value(most_.size() + node);
    auto pods = on_nodes.find(node, values_, std::max(paid * kWorthAdding, kLeastPrice), work);
    if (!pods.empty()) {
      add_on(program, node, std::move(pods));
      ++added;
    }
  }
  for (std::size_t i = 0, bought = 0; i < market_.size() && bought < kPerRound && work > 0; ++i) {
    next_ = (next_ + 1) % market_.size();
    auto pods = on_market.find(next_, values_, market_[next_].price * kWorthAdding, work);
    if (!pods.empty()) {
      program.add(market_[next_].price, std::move(pods));
      ++added;
      ++bought;
    }
  }
  return added;
}

void NodeProgram::note_wanted(const FillProgram& program) {
  values_.clear();
  for (std::size_t lot = 0; lot < most_.size(); ++lot) {
    values_.push_back(program.value(lot));
  }
  wanted_.assign(nodes_.size(), {});
  const std::vector<double> shares = program.shares();
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const FillPods& pods = program.columns()[i].pods;
    if (pods.back().first < most_.size()) {
      continue;
    }
    Wanted& wanted = wanted_[pods.back().first - most_.size()];
    if (shares[i] > wanted.share) {
      wanted = {{pods.begin(), pods.end() - 1}, shares[i]};
    }
  }
}

}  // namespace millwright::scheduling
