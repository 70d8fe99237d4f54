#include "bounded_problem.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace millwright::scheduling::bench {

BoundedProblem::BoundedProblem(const Problem& problem) {
  find_classes(problem);
  add_offers(problem);
  add_nodes(problem);
}

void BoundedProblem::find_classes(const Problem& problem) {
  std::set<std::string> names;
  for (const auto& pod : problem.pods) {
    for (const auto& [name, amount] : effective_requests(*pod)) {
      names.insert(name);
    }
  }
  resources.assign(names.begin(), names.end());
  std::map<std::pair<std::string, Sizes>, std::size_t> known;
  for (const auto& pod : problem.pods) {
    const Requirements requirements = strict_pod_requirements(pod->spec);
    const Sizes requests = sizes_of(effective_requests(*pod));
    const auto [found, added] =
        known.try_emplace({requirements.to_string(), requests}, classes.size());
    if (added) {
      classes.push_back({requirements, requests, 0});
    }
    ++classes[found->second].pods;
    class_of[pod->meta.uid] = found->second;
  }
}

void BoundedProblem::add_offers(const Problem& problem) {
  std::map<std::pair<Users, Sizes>, double> cheapest;
  for (const auto& option : problem.pools) {
    node_overhead[option.pool->meta.name] = option.node_overhead;
    for (const InstanceType& type : *option.types) {
      model::ResourceList room = type.allocatable();
      for (const auto& set : problem.daemon_sets) {
        model::Pod daemon;
        daemon.spec = set->pod_template.spec;
        model::subtract_from(room, effective_requests(daemon));
      }
      const Sizes sizes = sizes_of(room);
      for (const Offering& offering : type.offerings) {
        Requirements machine{option.pool->template_.requirements};
        machine.add(type.requirements);
        machine.add(offering.requirements);
        Users users = offering.available ? users_of(machine, sizes) : Users();
        if (users.empty()) {
          continue;
        }
        const double price = offering.price + option.node_overhead;
        const auto [found, added] = cheapest.try_emplace({users, sizes}, price);
        found->second = std::min(found->second, price);
      }
    }
  }
  for (const auto& [key, price] : cheapest) {
    offers.push_back({key.second, key.first, price, {}});
  }
  drop_outdone();
}

void BoundedProblem::drop_outdone() {
  std::stable_sort(
      offers.begin(), offers.end(),
      [](const BoundedMachine& a, const BoundedMachine& b) { return a.price < b.price; });
  std::vector<BoundedMachine> kept;
  for (BoundedMachine& offer : offers) {
    const bool outdone = std::any_of(kept.begin(), kept.end(), [&](const BoundedMachine& other) {
      return std::equal(offer.room.begin(), offer.room.end(), other.room.begin(),
                        [](std::int64_t a, std::int64_t b) { return a <= b; }) &&
             std::includes(other.users.begin(), other.users.end(), offer.users.begin(),
                           offer.users.end());
    });
    if (!outdone) {
      kept.push_back(std::move(offer));
    }
  }
  offers = std::move(kept);
}

void BoundedProblem::add_nodes(const Problem& problem) {
  for (const auto& record : problem.nodes) {
    model::ResourceList room = record->allocatable();
    model::subtract_from(room, record->pod_requests);
    const Sizes sizes = sizes_of(room);
    Users users = users_of(Requirements::from_labels(record->labels()), sizes);
    if (!users.empty()) {
      nodes.push_back({sizes, std::move(users), 0, record->name()});
    }
  }
}

Sizes BoundedProblem::sizes_of(const model::ResourceList& list) const {
  Sizes result;
  for (const auto& name : resources) {
    result.push_back(model::get(list, name).milli());
  }
  return result;
}

Users BoundedProblem::users_of(const Requirements& machine, const Sizes& room) const {
  Users result;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const Sizes& requests = classes[i].requests;
    const bool fits = std::equal(requests.begin(), requests.end(), room.begin(),
                                 [](std::int64_t a, std::int64_t b) { return a <= b && b >= 0; });
    if (fits && machine.compatible(classes[i].requirements, AllowUndefined::WellKnown)) {
      result.push_back(i);
    }
  }
  return result;
}

}  // namespace millwright::scheduling::bench
