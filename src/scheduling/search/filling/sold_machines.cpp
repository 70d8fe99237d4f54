#include "scheduling/search/filling/sold_machines.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace millwright::scheduling {
namespace {

// Drops what costs as much as another that has as much room, or more.
void drop_dominated(std::vector<SoldMachine>& machines) {
  std::stable_sort(machines.begin(), machines.end(),
                   [](const SoldMachine& a, const SoldMachine& b) { return a.price < b.price; });
  std::vector<SoldMachine> kept;
  for (SoldMachine& machine : machines) {
    if (std::none_of(kept.begin(), kept.end(),
                     [&](const SoldMachine& other) { return fits(*machine.room, *other.room); })) {
      kept.push_back(std::move(machine));
    }
  }
  machines = std::move(kept);
}

}  // namespace

std::vector<SoldMachine> machines_for(const PodLots& lots, const PoolTemplate& pool,
                                      const ClaimShapes& shapes) {
  std::set<ShapeId> wanted;
  for (const Lot& lot : lots.lots()) {
    if (lot.shape != ShapeId::none()) {
      wanted.insert(lot.shape);
    }
  }
  // By the shapes that admit them: offerings in another zone are one machine to those who do not
  // mind.
  std::map<std::vector<ShapeId>, std::vector<SoldMachine>> by_shapes;
  const auto& kinds = pool.table->kinds();
  for (std::uint32_t kind = 0; kind < kinds.size(); ++kind) {
    if (kinds[kind].reserved) {
      continue;
    }
    std::vector<ShapeId> buyers;
    for (const ShapeId shape : wanted) {
      const auto& open = shapes[shape].kinds;
      if (std::find(open.begin(), open.end(), kind) != open.end()) {
        buyers.push_back(shape);
      }
    }
    (kinds[kind].rows & pool.room.usable()).for_each([&](std::size_t row) {
      std::vector<ShapeId> admitted;
      std::copy_if(buyers.begin(), buyers.end(), std::back_inserter(admitted),
                   [&](ShapeId shape) { return shapes[shape].admitted.contains(row); });
      if (!admitted.empty()) {
        by_shapes[admitted].push_back({row, kinds[kind].price[row], &pool.room.room(row), {}});
      }
    });
  }
  std::vector<SoldMachine> result;
  for (auto& [admitted, machines] : by_shapes) {
    drop_dominated(machines);
    for (SoldMachine& machine : machines) {
      for (LotId lot; lot < lots.lots().end_id(); ++lot) {
        if (std::binary_search(admitted.begin(), admitted.end(), lots.lots()[lot].shape) &&
            fits(*lots.lots()[lot].requests, *machine.room)) {
          machine.users.push_back(lot);
        }
      }
      if (!machine.users.empty()) {
        result.push_back(std::move(machine));
      }
    }
  }
  return result;
}

}  // namespace millwright::scheduling
