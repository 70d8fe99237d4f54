#include "disruption/candidates/eviction_price.hpp"

#include "disruption/candidates/candidate.hpp"
#include "millwright/scheduling/solve.hpp"

#include <algorithm>

namespace millwright::disruption {
namespace {

// A thousand ordinary pods cost ten cents.
constexpr double kTrouble = 0.0001;

// The largest part of any resource of the node that the pod has for itself.
double share_of(const model::Pod& pod, const model::ResourceList& allocatable) {
  double share = 0;
  for (const auto& [name, quantity] : scheduling::effective_requests(pod)) {
    const double whole = model::get(allocatable, name).as_double();
    if (whole > 0) {
      share = std::max(share, quantity.as_double() / whole);
    }
  }
  return std::min(share, 1.0);
}

}  // namespace

bool is_of_job(const model::Pod& pod) {
  const auto* controller = pod.meta.controller();
  return controller != nullptr && controller->kind == "Job";
}

double ordinary_trouble(const model::Pod& pod) {
  return kTrouble * std::max(0.0, eviction_cost(pod));
}

EvictionPrice& EvictionPrice::operator+=(const EvictionPrice& other) {
  trouble += other.trouble;
  lost_work += other.lost_work;
  return *this;
}

EvictionPrice eviction_price(const model::Pod& pod, const EvictionContext& context) {
  EvictionPrice price{.trouble = ordinary_trouble(pod)};
  if (context.evictions_left) {
    // The last eviction that a budget allows is worth more than one of many.
    price.trouble *= 1 + 1.0 / std::max(1, *context.evictions_left);
  }
  const auto& started = pod.status.start_time;
  if (!started || *started > context.now) {
    return price;
  }
  const base::Duration age = context.now - *started;
  if (age < kYoung) {
    price.trouble *= 2;
  }
  if (is_of_job(pod)) {
    const std::chrono::duration<double, std::ratio<3600>> hours = age;
    price.lost_work = hours.count() * context.node_price * share_of(pod, context.allocatable);
  }
  return price;
}

}  // namespace millwright::disruption
