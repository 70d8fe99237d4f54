#include "disruption/methods/price_bounds.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

namespace millwright::disruption {
namespace {

// Requests of the pods that no node has room for.
std::vector<model::ResourceList> homeless_pods(const Survey& survey, Candidates candidates) {
  std::vector<model::ResourceList> homeless;
  const auto look_at = [&](const scheduling::PodPtr& pod) {
    auto requests = scheduling::effective_requests(*pod);
    const bool fits_somewhere =
        std::all_of(requests.begin(), requests.end(), [&](const auto& item) {
          return item.second <= model::get(survey.destinations().most_free(), item.first);
        });
    if (!fits_somewhere) {
      homeless.push_back(std::move(requests));
    }
  };
  for (const auto* candidate : candidates) {
    std::for_each(candidate->pods.begin(), candidate->pods.end(), look_at);
    std::for_each(candidate->virtual_pods.begin(), candidate->virtual_pods.end(), look_at);
  }
  return homeless;
}

// Types that a replacement may be of: cheaper than all candidates together, and than each candidate
// of that very type, which could as well stay.
std::vector<const TypeForSale*> useful_types(const Survey& survey, Candidates candidates,
                                             double cost) {
  std::map<std::string_view, double> present;
  if (candidates.size() > 1) {
    for (const auto* candidate : candidates) {
      const auto [found, is_new] = present.try_emplace(candidate->instance_type, candidate->price);
      found->second = std::min(found->second, candidate->price);
    }
  }
  std::vector<const TypeForSale*> useful;
  for (const auto& type : survey.destinations().for_sale()) {
    const auto there = present.find(type.name);
    if (type.price < cost && (there == present.end() || type.price < there->second)) {
      useful.push_back(&type);
    }
  }
  return useful;
}

// No set of these types costs less per hour and has room for all: each resource is bought at the
// best price that any type has for it, as if it could be bought alone.
double least_price(const std::vector<const TypeForSale*>& types,
                   const std::vector<model::ResourceList>& pods, const model::ResourceList& total) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  for (const auto& requests : pods) {
    if (std::none_of(types.begin(), types.end(),
                     [&](const auto* type) { return model::fits(requests, type->room); })) {
      return kNone;
    }
  }
  double least = 0;
  for (const auto& [name, quantity] : total) {
    double unit = kNone;
    for (const auto* type : types) {
      const double room = model::get(type->room, name).as_double();
      unit = room > 0 ? std::min(unit, type->price / room) : unit;
    }
    if (!quantity.is_zero()) {
      least = std::max(least, quantity.as_double() * unit);
    }
  }
  return least;
}

}  // namespace

bool is_hopeless(const Survey& survey, Candidates candidates, double cost) {
  const auto homeless = homeless_pods(survey, candidates);
  if (homeless.empty()) {
    return false;
  }
  model::ResourceList total;
  for (const auto& requests : homeless) {
    model::add_to(total, requests);
  }
  const auto types = useful_types(survey, candidates, cost);
  if (std::any_of(types.begin(), types.end(),
                  [&](const auto* type) { return model::fits(total, type->room); })) {
    return false;
  }
  return candidates.size() > kMostForSeveral ||
         least_price(types, homeless, total) > cost * (1 - kWorthSeveral);
}

}  // namespace millwright::disruption
