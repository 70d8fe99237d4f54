#include "disruption/methods/prices/price_bounds.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::disruption {
namespace {

bool fits_nowhere(const Survey& survey, const model::ResourceList& requests) {
  const auto& most_free = survey.destinations().most_free();
  return std::any_of(requests.begin(), requests.end(), [&](const auto& item) {
    return item.second > model::get(most_free, item.first);
  });
}

// Requests of the pods that no node has room for.
std::vector<model::ResourceList> homeless_pods(const Survey& survey, Candidates candidates) {
  std::vector<model::ResourceList> homeless;
  for (const auto* candidate : candidates) {
    for (const auto* pods : {&candidate->pods(), &candidate->virtual_pods}) {
      for (const auto& pod : *pods) {
        auto requests = scheduling::effective_requests(*pod);
        if (fits_nowhere(survey, requests)) {
          homeless.push_back(std::move(requests));
        }
      }
    }
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

bool any_homeless(const Survey& survey, const Candidate& candidate) {
  return fits_nowhere(survey, candidate.facts->most_requested);
}

bool is_hopeless(const Survey& survey, Candidates candidates, double cost, bool only_one) {
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
  return only_one || least_price(types, homeless, total) > cost * (1 - kWorthMore);
}

}  // namespace millwright::disruption
