// What must hold of every plan, whatever the problem: judged by rules written down here once more,
// without the planner's own machinery.
#include "random_problem.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

namespace millwright::scheduling::testing {
namespace {

// --- The rules ---------------------------------------------------------------------------------

bool tolerates(const model::PodSpec& spec, const std::vector<model::Taint>& taints) {
  return std::all_of(taints.begin(), taints.end(), [&](const model::Taint& taint) {
    return taint.effect == "PreferNoSchedule" ||
           std::any_of(spec.tolerations.begin(), spec.tolerations.end(),
                       [&](const auto& toleration) { return toleration.tolerates(taint); });
  });
}

// As kube-scheduler's NodeAffinity decides.
bool selects(const model::PodSpec& spec, const model::StringMap& labels, std::string_view name) {
  for (const auto& [key, value] : spec.node_selector) {
    const auto found = labels.find(key);
    if (found == labels.end() || found->second != value) {
      return false;
    }
  }
  const auto& terms = spec.affinity.required_node_terms;
  return terms.empty() || std::any_of(terms.begin(), terms.end(), [&](const auto& term) {
           return model::matches(term, labels, name);
         });
}

bool ports_clash(const std::vector<const model::Pod*>& pods) {
  std::set<int> taken;
  for (const auto* one : pods) {
    for (const auto& port : one->spec.containers.front().ports) {
      if (port.host_port != 0 && !taken.insert(port.host_port).second) {
        return true;
      }
    }
  }
  return false;
}

model::ResourceList total_of(const std::vector<const model::Pod*>& pods) {
  model::ResourceList total;
  for (const auto* one : pods) {
    model::add_to(total, effective_requests(*one));
  }
  return total;
}

// A node that the claim may become: labels of one type and one of its offerings.
struct Outcome {
  const InstanceType* type;
  const Offering* offering;
  model::StringMap labels;
};

std::vector<Outcome> outcomes_of(const PlannedClaim& claim, const InstanceTypes& types) {
  std::vector<Outcome> result;
  for (const auto& name : claim.instance_types) {
    const InstanceType* type = find_type(types, name);
    for (const auto& sold : type->offerings) {
      if (!sold.available ||
          !claim.requirements.compatible(sold.requirements, AllowUndefined::WellKnown)) {
        continue;
      }
      model::StringMap labels = claim.labels;
      labels[std::string(model::kInstanceTypeLabel)] = name;
      labels[kArch] = type->requirements.get(kArch).values().front();
      labels[std::string(model::kOsLabel)] = "linux";
      labels[kZoneText] = sold.zone();
      labels[std::string(model::kCapacityTypeLabel)] = sold.capacity_type();
      labels[std::string(model::kHostnameLabel)] = "brand-new";
      result.push_back({type, &sold, std::move(labels)});
    }
  }
  return result;
}

model::ResourceList daemons_on(const Problem& problem, const model::StringMap& labels,
                               const std::vector<model::Taint>& taints) {
  model::ResourceList total;
  for (const auto& set : problem.daemon_sets) {
    model::Pod daemon;
    daemon.spec = set->pod_template.spec;
    if (tolerates(daemon.spec, taints) && selects(daemon.spec, labels, "brand-new")) {
      model::add_to(total, effective_requests(daemon));
    }
  }
  return total;
}

const PoolOption& pool_named(const Problem& problem, const std::string& name) {
  return *std::find_if(problem.pools.begin(), problem.pools.end(),
                       [&](const auto& option) { return option.pool->meta.name == name; });
}

std::vector<model::Taint> taints_of(const model::NodePool& pool) {
  return pool.template_.taints.value_or(std::vector<model::Taint>{});
}

using PodsByTarget = std::map<std::string, std::vector<const model::Pod*>>;

PodsByTarget by_target(const Problem& problem, const Plan& plan) {
  PodsByTarget result;
  for (const auto& one : problem.pods) {
    if (const auto place = place_of(plan, one->meta.uid); !place.empty()) {
      result[place].push_back(one.get());
    }
  }
  return result;
}

void check_every_pod_once(const Problem& problem, const Plan& plan) {
  std::multiset<std::string> seen;
  for (const auto& placement : plan.placements) {
    seen.insert(placement.pod_uid);
  }
  for (const auto& refused : plan.refusals) {
    seen.insert(refused.pod_uid);
    RC_ASSERT(!refused.reason.empty());
  }
  RC_ASSERT(seen.size() == problem.pods.size());
  std::size_t on_claims = 0;
  for (const auto& one : problem.pods) {
    RC_ASSERT(seen.count(one->meta.uid) == 1u);
  }
  for (const auto& claim : plan.claims) {
    on_claims += claim.pod_uids.size();
    for (const auto& uid : claim.pod_uids) {
      RC_ASSERT(claim_of(plan, uid) == &claim);
    }
  }
  RC_ASSERT(on_claims <= plan.placements.size());
}

void check_nodes(const Problem& problem, const PodsByTarget& placed) {
  for (const auto& record : problem.nodes) {
    const auto found = placed.find(record->name());
    if (found == placed.end()) {
      continue;
    }
    auto all = found->second;
    for (const auto* one : found->second) {
      RC_ASSERT(tolerates(one->spec, record->taints()));
      RC_ASSERT(selects(one->spec, record->labels(), record->name()));
    }
    for (const auto& bound : record->pods) {
      all.push_back(bound.get());
    }
    RC_ASSERT(!ports_clash(all));
    model::ResourceList total = total_of(all);
    for (const auto& kept : problem.kept) {
      if (kept.pod_uid.empty() && kept.target == record->name()) {
        model::add_to(total, kept.requests);
      }
    }
    model::add_to(total, daemons_on(problem, record->labels(), record->taints()));
    RC_ASSERT(model::fits(total, record->allocatable()));
  }
}

void check_claim(const Problem& problem, const PlannedClaim& claim,
                 const std::vector<const model::Pod*>& pods) {
  const PoolOption& option = pool_named(problem, claim.node_pool);
  const auto taints = taints_of(*option.pool);
  RC_ASSERT(!pods.empty());
  RC_ASSERT(!ports_clash(pods));
  const auto outcomes = outcomes_of(claim, option.types);
  RC_ASSERT(!outcomes.empty());
  double least = outcomes.front().offering->price;
  std::set<std::string> buyable;
  for (const auto& outcome : outcomes) {
    least = std::min(least, outcome.offering->price);
    buyable.insert(outcome.type->name);
    model::ResourceList total = total_of(pods);
    model::add_to(total, daemons_on(problem, outcome.labels, taints));
    RC_ASSERT(model::fits(total, outcome.type->allocatable()));
    for (const auto* one : pods) {
      RC_ASSERT(tolerates(one->spec, taints));
      RC_ASSERT(selects(one->spec, outcome.labels, "brand-new"));
    }
    RC_ASSERT(
        Requirements::from_labels(outcome.labels)
            .compatible(Requirements(option.pool->template_.requirements), AllowUndefined::None));
  }
  RC_ASSERT(claim.price == least);
  RC_ASSERT(buyable.size() == claim.instance_types.size());
}

// Usage of a pool if every claim became its largest option.
model::ResourceList usage(const Problem& problem, const Plan& plan, const PoolOption& option) {
  model::ResourceList used;
  for (const auto& record : problem.counted_nodes) {
    const bool leaves = record->claim != nullptr && record->claim->meta.is_deleting();
    if (!leaves && record->node_pool() == option.pool->meta.name) {
      model::add_to(used, record->capacity());
      model::add_to(used, resources({{"nodes", "1"}}));
    }
  }
  for (const auto& claim : plan.claims) {
    if (claim.node_pool == option.pool->meta.name) {
      model::ResourceList largest;
      for (const auto& name : claim.instance_types) {
        model::max_into(largest, find_type(option.types, name)->capacity);
      }
      model::add_to(used, largest);
      model::add_to(used, resources({{"nodes", "1"}}));
    }
  }
  return used;
}

void check_limits(const Problem& problem, const Plan& plan) {
  for (const auto& option : problem.pools) {
    const bool bought = std::any_of(plan.claims.begin(), plan.claims.end(), [&](const auto& claim) {
      return claim.node_pool == option.pool->meta.name;
    });
    if (!option.pool->limits || !bought) {
      continue;
    }
    const auto used = usage(problem, plan, option);
    for (const auto& [name, limit] : *option.pool->limits) {
      RC_ASSERT(model::get(used, name) <= limit);
    }
  }
}

// A refused pod could not have had a node of its own: no pool, type and offering would do.
void check_refusals(const Problem& problem, const Plan& plan) {
  for (const auto& refused : plan.refusals) {
    const auto found = std::find_if(problem.pods.begin(), problem.pods.end(),
                                    [&](const auto& p) { return p->meta.uid == refused.pod_uid; });
    for (const auto& option : problem.pools) {
      const auto taints = taints_of(*option.pool);
      if (!tolerates((*found)->spec, taints)) {
        continue;
      }
      const auto used = usage(problem, plan, option);
      for (const auto& type : *option.types) {
        for (const auto& sold : type.offerings) {
          for (const char* team : {"", "a", "b"}) {
            model::StringMap labels = option.pool->template_.labels.value_or(model::StringMap{});
            if (*team != '\0' && !labels.contains("team")) {
              labels["team"] = team;
            }
            labels[kArch] = type.requirements.get(kArch).values().front();
            labels[kZoneText] = sold.zone();
            labels[std::string(model::kCapacityTypeLabel)] = sold.capacity_type();
            const auto& wanted = option.pool->template_.requirements;
            const bool of_pool =
                std::all_of(wanted.begin(), wanted.end(),
                            [&](const auto& item) { return model::matches(item, labels); }) &&
                (labels.contains("team") ==
                 (option.pool->template_.labels.has_value() ||
                  std::any_of(wanted.begin(), wanted.end(),
                              [](const auto& item) { return item.key == "team"; })));
            model::ResourceList total = total_of({found->get()});
            model::add_to(total, daemons_on(problem, labels, taints));
            bool within = true;
            for (const auto& [name, limit] : option.pool->limits.value_or(model::ResourceList{})) {
              const auto more = name == "nodes" ? quantity("1") : model::get(type.capacity, name);
              within = within && model::get(used, name) + more <= limit;
            }
            RC_ASSERT(!(sold.available && of_pool && within &&
                        selects((*found)->spec, labels, "brand-new") &&
                        model::fits(total, type.allocatable())));
          }
        }
      }
    }
  }
}

void check_places(const Problem& problem, const Plan& plan) {
  const auto placed = by_target(problem, plan);
  check_every_pod_once(problem, plan);
  check_nodes(problem, placed);
  for (std::size_t i = 0; i < plan.claims.size(); ++i) {
    check_claim(problem, plan.claims[i], placed.at("claim " + std::to_string(i)));
  }
  check_limits(problem, plan);
}

std::string text_of(const Problem& problem, const Plan& plan) {
  std::string text;
  for (const auto& claim : plan.claims) {
    text += claim.node_pool + " " + claim.requirements.to_string() + " " +
            model::to_string(claim.requests) + "\n";
  }
  for (const auto& one : problem.pods) {
    text += one->meta.uid + " " + place_of(plan, one->meta.uid) + "\n";
  }
  for (const auto& refused : plan.refusals) {
    text += refused.pod_uid + " " + refused.reason + " " + refused.remedy + "\n";
  }
  return text;
}

TEST(Properties, EveryPlanIsLegal) {
  EXPECT_TRUE(rc::check([] {
    const Problem problem = random_problem();
    const Plan plan = solve(problem);
    check_places(problem, plan);
    check_refusals(problem, plan);
  }));
}

TEST(Properties, EconomyCostsNeitherMoneyNorPods) {
  EXPECT_TRUE(rc::check([] {
    Problem problem = random_problem();
    const Plan best = solve(problem);
    problem.options.economise = false;
    const Plan plain = solve(problem);
    RC_ASSERT(best.refusals.size() <= plain.refusals.size());
    if (best.refusals.size() == plain.refusals.size()) {
      const auto price = [](const Plan& plan) {
        return std::accumulate(plan.claims.begin(), plan.claims.end(), 0.0,
                               [](double sum, const auto& claim) { return sum + claim.price; });
      };
      RC_ASSERT(price(best) <= price(plain) + 1e-9);
    }
  }));
}

// Whatever the allowance, each plan keeps the rules, and plans for what is left come to an end.
TEST(Properties, PlansThatEndEarlyGoOnWithTheNext) {
  EXPECT_TRUE(rc::check([] {
    Problem problem = random_problem();
    problem.options.allowance = *rc::gen::inRange<std::uint64_t>(0, 20'000);
    for (bool again = true; again;) {
      const Plan plan = solve(problem);
      check_places(problem, plan);
      std::set<std::string> postponed;
      for (const auto& refused : plan.refusals) {
        if (refused.postponed) {
          postponed.insert(refused.pod_uid);
        }
      }
      again = !postponed.empty();
      RC_ASSERT(!again || !plan.placements.empty());
      std::erase_if(problem.pods,
                    [&](const auto& pod) { return !postponed.contains(pod->meta.uid); });
    }
  }));
}

TEST(Properties, TheOrderOfTheInputDoesNotMatter) {
  EXPECT_TRUE(rc::check([] {
    const Problem problem = random_problem();
    Problem shuffled = problem;
    std::reverse(shuffled.pods.begin(), shuffled.pods.end());
    std::reverse(shuffled.pools.begin(), shuffled.pools.end());
    std::reverse(shuffled.nodes.begin(), shuffled.nodes.end());
    std::reverse(shuffled.daemon_sets.begin(), shuffled.daemon_sets.end());
    RC_ASSERT(text_of(problem, solve(problem)) == text_of(problem, solve(shuffled)));
  }));
}

}  // namespace
}  // namespace millwright::scheduling::testing
