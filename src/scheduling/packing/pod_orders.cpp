#include "scheduling/packing/pod_orders.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

namespace millwright::scheduling {
namespace {

struct Shape {
  double cpu = 0;
  double memory = 0;
  bool special = false;  // wants something else too, which matters more than proportions

  // Grows with memory per CPU; in [0, 1], so that neither may be zero.
  double share() const { return memory / std::max(cpu + memory, 1e-300); }
};

// Amounts in units that make both axes comparable: the average pod has one of each.
class Proportions {
 public:
  explicit Proportions(const PodClasses& pods) : pods_(pods) {
    cpu_ = pods.columns.find(model::kCpu);
    memory_ = pods.columns.find(model::kMemory);
    for (const PlannedPod& pod : pods.pods) {
      const Amounts& requests = pods.classes[pod.pod_class].requests;
      total_cpu_ += cpu_ ? static_cast<double>(requests[*cpu_]) : 0;
      total_memory_ += memory_ ? static_cast<double>(requests[*memory_]) : 0;
    }
  }
  bool meaningful() const { return total_cpu_ > 0 && total_memory_ > 0; }
  Shape of(const Amounts& amounts) const {
    Shape shape{static_cast<double>(amounts[*cpu_]) / total_cpu_,
                static_cast<double>(amounts[*memory_]) / total_memory_};
    for (std::size_t c = 0; c < amounts.size(); ++c) {
      const bool ordinary = c == *cpu_ || c == *memory_ || pods_.columns.name(c) == model::kPods ||
                            pods_.columns.name(c) == model::kEphemeralStorage || is_volumes(c);
      shape.special = shape.special || (!ordinary && amounts[c] != 0);
    }
    return shape;
  }

 private:
  bool is_volumes(std::size_t column) const {
    return std::any_of(pods_.volume_columns.begin(), pods_.volume_columns.end(),
                       [&](const VolumeColumn& each) { return each.column == column; });
  }

  const PodClasses& pods_;
  std::optional<std::size_t> cpu_;
  std::optional<std::size_t> memory_;
  double total_cpu_ = 0;
  double total_memory_ = 0;
};

// Proportions of machines next to that of all pods together, and that one itself (0.5).
std::vector<double> targets(const Proportions& proportions, std::span<const PoolTemplate> pools) {
  std::set<double> below;
  std::set<double> above;
  for (const PoolTemplate& pool : pools) {
    pool.rows.for_each([&](std::size_t row) {
      const double share = proportions.of(pool.room.room(row)).share();
      (share < 0.5 ? below : above).insert(share);
    });
  }
  std::vector<double> result = {0.5};
  if (!below.empty()) {
    result.push_back(*below.rbegin());
  }
  if (!above.empty()) {
    result.push_back(*above.begin());
  }
  return result;
}

// Takes from either end of the pods sorted by proportion, whichever brings the sum closer to the
// target.
std::vector<PodId> steered(const std::vector<PodId>& special, const std::vector<PodId>& by_share,
                           const ById<PodId, Shape>& shapes, double target) {
  std::vector<PodId> order = special;
  order.reserve(special.size() + by_share.size());
  double cpu = 0;
  double memory = 0;
  std::size_t low = 0;
  std::size_t high = by_share.size();
  while (low < high) {
    const bool wants_memory = memory < target * (cpu + memory);
    const PodId next = wants_memory ? by_share[--high] : by_share[low++];
    cpu += shapes[next].cpu;
    memory += shapes[next].memory;
    order.push_back(next);
  }
  return order;
}

}  // namespace

std::vector<PodId> karpenters_order(const PodClasses& pods) {
  std::vector<PodId> order(pods.pods.size());
  std::iota(order.begin(), order.end(), PodId());
  return order;
}

std::vector<std::vector<PodId>> other_orders(const PodClasses& pods,
                                             std::span<const PoolTemplate> pools) {
  std::vector<std::vector<PodId>> orders;
  const Proportions proportions(pods);
  if (pods.classes.size() < 2 || !proportions.meaningful()) {
    return orders;
  }
  std::vector<Shape> by_class;
  for (const PodClass& pod_class : pods.classes) {
    by_class.push_back(proportions.of(pod_class.requests));
  }
  ById<PodId, Shape> shapes;
  std::vector<PodId> special;
  std::vector<PodId> by_share;
  for (PodId pod; pod < pods.pods.end_id(); ++pod) {
    shapes.push_back(by_class[pods.pods[pod].pod_class]);
    (shapes.back().special ? special : by_share).push_back(pod);
  }
  std::stable_sort(by_share.begin(), by_share.end(),
                   [&](PodId a, PodId b) { return shapes[a].share() < shapes[b].share(); });
  for (const double target : targets(proportions, pools)) {
    orders.push_back(steered(special, by_share, shapes, target));
  }
  return orders;
}

}  // namespace millwright::scheduling
