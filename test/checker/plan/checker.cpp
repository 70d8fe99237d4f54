#include "checker/plan/checker.hpp"

#include "checker/plan/device_filters.hpp"
#include "checker/plan/kube_filters.hpp"
#include "checker/plan/machines.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

namespace millwright::checker {
namespace {

using scheduling::Placement;
using scheduling::Plan;
using scheduling::PlannedClaim;
using scheduling::PoolOption;
using scheduling::Problem;

class Checker {
 public:
  Checker(const Problem& problem, const Plan& plan, CheckOptions options)
      : problem_(problem),
        plan_(plan),
        options_(options),
        filters_(problem.cluster.get()),
        random_(options.seed) {
    for (const auto& pod : problem.pods) {
      pods_[pod->meta.uid] = pod.get();
    }
    steps_ = plan.placements;
    std::stable_sort(steps_.begin(), steps_.end(),
                     [](const auto& a, const auto& b) { return a.step < b.step; });
  }

  std::vector<std::string> run() {
    every_pod_once();
    for (std::size_t i = 0; i < plan_.claims.size(); ++i) {
      check_claim(i);
    }
    check_limits();
    check_reservations();
    if (found_.empty()) {
      check_devices();
    }
    if (found_.empty()) {
      for (int draw = 0; draw < options_.draws; ++draw) {
        bind_all(draw);
      }
    }
    return std::move(found_);
  }

  std::vector<std::string> missed() {
    const auto wants_many = [](const PoolOption& option) {
      const auto& items = option.pool->template_.requirements;
      return std::any_of(items.begin(), items.end(),
                         [](const auto& item) { return item.min_values.has_value(); });
    };
    if (std::any_of(problem_.pools.begin(), problem_.pools.end(), wants_many)) {
      return {};
    }
    for (std::size_t i = 0; i < plan_.claims.size(); ++i) {
      check_claim(i);
    }
    std::vector<Machine> all = bind_all(0);
    found_.clear();
    for (const auto& refusal : plan_.refusals) {
      const model::Pod& pod = *pods_.at(refusal.pod_uid);
      const auto& spread = pod.spec.topology_spread;
      if (!pod.spec.resource_claims.empty() ||
          std::any_of(spread.begin(), spread.end(), [](const auto& item) {
            return item.when_unsatisfiable != "ScheduleAnyway";
          })) {
        continue;
      }
      look_for_node(pod, all);
      look_for_new_node(pod, all);
    }
    return std::move(found_);
  }

 private:
  void look_for_node(const model::Pod& pod, const std::vector<Machine>& all) {
    for (std::size_t i = 0; i < problem_.nodes.size(); ++i) {
      if (filters_.alone(pod, all[i]).empty() && filters_.among_others(pod, all[i], all).empty()) {
        say(pod.meta.uid + " fits on " + all[i].name);
        return;
      }
    }
  }

  void look_for_new_node(const model::Pod& pod, std::vector<Machine>& all) {
    for (const auto& option : problem_.pools) {
      if (option.pool->limits || option.pool->replicas) {
        continue;
      }
      const PlannedClaim any = anything_of(option);
      for (auto& outcome : outcomes_of(problem_, option, any, "new")) {
        if (outcome.offering->capacity_type() == "reserved" ||
            !filters_.alone(pod, outcome.machine).empty()) {
          continue;
        }
        all.push_back(outcome.machine);
        const bool fits = filters_.among_others(pod, all.back(), all).empty();
        all.pop_back();
        if (fits) {
          say(pod.meta.uid + " fits on a new node of " + option.pool->meta.name + ": " +
              outcome.type->name + " in " + std::string(outcome.offering->zone()));
          return;
        }
      }
    }
  }

  void say(std::string text) { found_.push_back(std::move(text)); }
  static std::string claim_name(std::size_t index) { return "claim " + std::to_string(index); }
  const PoolOption* pool_of(const PlannedClaim& claim) const {
    const auto found =
        std::find_if(problem_.pools.begin(), problem_.pools.end(),
                     [&](const auto& option) { return option.pool->meta.name == claim.node_pool; });
    return found == problem_.pools.end() ? nullptr : &*found;
  }

  void every_pod_once() {
    std::map<std::string, int> seen;
    std::map<std::string, std::string> target;
    for (const auto& placement : plan_.placements) {
      ++seen[placement.pod_uid];
      const auto* index = std::get_if<std::size_t>(&placement.target);
      target[placement.pod_uid] =
          index != nullptr ? claim_name(*index) : std::get<std::string>(placement.target);
      if (index != nullptr && *index >= plan_.claims.size()) {
        say(placement.pod_uid + " goes to a claim that is not in the plan");
      }
    }
    for (const auto& refusal : plan_.refusals) {
      ++seen[refusal.pod_uid];
      if (refusal.reason.empty()) {
        say(refusal.pod_uid + " is refused without a reason");
      }
    }
    for (const auto& [uid, pod] : pods_) {
      if (seen[uid] != 1) {
        say(uid + " is decided " + std::to_string(seen[uid]) + " times");
      }
    }
    if (seen.size() != pods_.size()) {
      say("the plan decides pods that nobody asked about");
    }
    for (std::size_t i = 0; i < plan_.claims.size(); ++i) {
      const auto& uids = plan_.claims[i].pod_uids;
      if (uids.empty()) {
        say(claim_name(i) + " is for nobody");
      }
      for (const auto& uid : uids) {
        if (target[uid] != claim_name(i)) {
          say(claim_name(i) + " lists " + uid + ", which goes to " + target[uid]);
        }
      }
    }
  }

  // Whatever the cloud makes of it, the claim is a node of its pool and holds its pods.
  void check_claim(std::size_t index) {
    const PlannedClaim& claim = plan_.claims[index];
    const std::string name = claim_name(index);
    const PoolOption* option = pool_of(claim);
    if (option == nullptr) {
      say(name + " is of no pool of the problem");
      return;
    }
    if (option->pool->meta.is_deleting() || option->pool->replicas) {
      say(name + " is of a pool that must not grow");
    }
    auto& outcomes = outcomes_.emplace_back(outcomes_of(problem_, *option, claim, name));
    std::set<std::string> buyable;
    double least = INFINITY;
    for (const auto& outcome : outcomes) {
      buyable.insert(outcome.type->name);
      least = std::min(least, outcome.offering->price);
      check_outcome(claim, *option, outcome);
    }
    const std::set<std::string> listed(claim.instance_types.begin(), claim.instance_types.end());
    if (buyable != listed || listed.size() != claim.instance_types.size()) {
      say(name + " lists instance types that it cannot become");
    }
    if (listed.size() > problem_.options.max_instance_types) {
      say(name + " lists too many instance types");
    }
    if (!outcomes.empty() && claim.price != least) {
      say(name + " has the price " + std::to_string(claim.price) + ", not " +
          std::to_string(least));
    }
    check_min_values(claim, *option, name, listed);
    check_requests(claim, name);
  }

  void check_outcome(const PlannedClaim& claim, const PoolOption& option,
                     const ClaimOutcome& outcome) {
    const std::string what = outcome.machine.name + " as " + outcome.type->name + " in " +
                             std::string(outcome.offering->zone());
    for (const auto& item : option.pool->template_.requirements) {
      if (!model::matches(item, outcome.machine.labels)) {
        say(what + " does not meet its pool's requirement on " + item.key);
      }
    }
    Machine machine = outcome.machine;
    for (const auto& uid : claim.pod_uids) {
      if (const auto reason = filters_.alone(*pods_.at(uid), machine); !reason.empty()) {
        say(uid + " on " + what + ": " + reason);
      }
      machine.pods.push_back(pods_.at(uid));
    }
  }

  void check_min_values(const PlannedClaim& claim, const PoolOption& option,
                        const std::string& name, const std::set<std::string>& listed) {
    for (const auto& item : claim.requirements) {
      if (item.op() == model::Operator::In && item.min_values() &&
          item.values().size() < static_cast<std::size_t>(*item.min_values())) {
        say(name + " lists fewer values of " + item.key() + " than its minValues");
      }
    }
    const auto* capacity = claim.requirements.find("karpenter.sh/capacity-type");
    if (capacity != nullptr && capacity->op() == model::Operator::In &&
        capacity->values() == std::vector<std::string>{"reserved"}) {
      return;  // bought already: nothing is left to choose
    }
    const auto relaxed = claim.annotations.find("karpenter.sh/nodeclaim-min-values-relaxed");
    if (relaxed != claim.annotations.end() && relaxed->second == "true") {
      if (problem_.options.min_values == scheduling::MinValuesPolicy::Strict) {
        say(name + " relaxes minValues, which are strict");
      }
      return;
    }
    for (const auto& item : option.pool->template_.requirements) {
      std::set<std::string> values;
      for (const auto& type : *option.types) {
        const auto* has = listed.contains(type.name) ? type.requirements.find(item.key) : nullptr;
        if (has != nullptr && has->op() == model::Operator::In) {
          values.insert(has->values().begin(), has->values().end());
        }
      }
      if (item.min_values && values.size() < static_cast<std::size_t>(*item.min_values)) {
        say(name + " has " + std::to_string(values.size()) + " values of " + item.key);
      }
    }
  }

  void check_requests(const PlannedClaim& claim, const std::string& name) {
    model::ResourceList sum;
    for (const auto& uid : claim.pod_uids) {
      model::add_to(sum, KubeFilters::requests(*pods_.at(uid)));
    }
    for (const auto& [resource, quantity] : sum) {
      if (model::get(claim.requests, resource) < quantity) {
        say(name + " asks for less " + resource + " than its pods");
      }
    }
  }

  // Counting each claim as the largest that it may become.
  void check_limits() {
    for (const auto& option : problem_.pools) {
      if (!option.pool->limits) {
        continue;
      }
      model::ResourceList used;
      bool bought = false;
      const auto add_node = [&](const model::ResourceList& capacity) {
        model::add_to(used, capacity);
        model::add_to(used, {{"nodes", model::Quantity::from_milli(1000)}});
      };
      for (const auto& record : problem_.counted_nodes) {
        const bool leaves = record->claim != nullptr && record->claim->meta.is_deleting();
        if (!leaves && record->node_pool() == option.pool->meta.name) {
          add_node(record->capacity());
        }
      }
      for (const auto& claim : plan_.claims) {
        if (pool_of(claim) != &option) {
          continue;
        }
        bought = true;
        model::ResourceList largest;
        for (const auto& type : *option.types) {
          if (std::find(claim.instance_types.begin(), claim.instance_types.end(), type.name) !=
              claim.instance_types.end()) {
            model::max_into(largest, type.capacity);
          }
        }
        add_node(largest);
      }
      for (const auto& [resource, limit] : *option.pool->limits) {
        if (bought && limit < model::get(used, resource)) {
          say("NodePool " + option.pool->meta.name + " exceeds its limit of " + resource);
        }
      }
    }
  }

  void check_reservations() {
    std::map<std::string, int> taken;
    std::map<std::string, int> there;
    for (const auto& option : problem_.pools) {
      for (const auto& type : *option.types) {
        for (const auto& offering : type.offerings) {
          if (offering.capacity_type() == "reserved") {
            there[reservation_of(offering.requirements)] = offering.reservation_capacity;
          }
        }
      }
    }
    for (const auto& claim : plan_.claims) {
      const auto* capacity_type = claim.requirements.find("karpenter.sh/capacity-type");
      if (capacity_type != nullptr && capacity_type->has("reserved")) {
        ++taken[reservation_of(claim.requirements)];
      }
    }
    for (const auto& [id, count] : taken) {
      if (count > there[id]) {
        say("reservation " + id + " is promised " + std::to_string(count) + " times");
      }
    }
  }

  // Whatever a claim becomes, its pods each get devices of their own there; so they do on nodes.
  void check_devices() {
    if (!problem_.cluster) {
      return;
    }
    const DeviceFilters devices(problem_);
    std::map<std::string, Pods> by_node;
    for (const auto& placement : plan_.placements) {
      if (const auto* node = std::get_if<std::string>(&placement.target)) {
        by_node[*node].push_back(pods_.at(placement.pod_uid));
      }
    }
    for (const auto& record : problem_.nodes) {
      if (const auto why = devices.on_node(*record, by_node[record->name()]); !why.empty()) {
        say(record->name() + ": " + why);
      }
    }
    for (std::size_t i = 0; i < plan_.claims.size(); ++i) {
      Pods pods;
      for (const auto& uid : plan_.claims[i].pod_uids) {
        pods.push_back(pods_.at(uid));
      }
      for (const auto& outcome : outcomes_[i]) {
        const PoolOption& option = *pool_of(plan_.claims[i]);
        if (const auto why = devices.on_type(option, *outcome.type, pods); !why.empty()) {
          say(claim_name(i) + " as " + outcome.type->name + ": " + why);
        }
      }
    }
  }

  static std::string reservation_of(const scheduling::Requirements& requirements) {
    return requirements.get("provider.example.com/reservation-id").to_string();
  }

  // --- The cluster as it will be, one draw of the cloud's choices at a time ----------------------

  std::vector<Machine> machines(int draw) {
    std::vector<Machine> result;
    std::set<std::string> usable;
    for (const auto& record : problem_.nodes) {
      usable.insert(record->name());
      result.push_back(machine_of(problem_, *record, true));
    }
    if (problem_.cluster) {
      for (const auto& record : problem_.cluster->nodes) {
        if (!usable.contains(record->name())) {
          result.push_back(machine_of(problem_, *record, false));
        }
      }
    }
    for (const auto& outcomes : outcomes_) {
      const auto cheapest = std::min_element(
          outcomes.begin(), outcomes.end(),
          [](const auto& a, const auto& b) { return a.offering->price < b.offering->price; });
      result.push_back(draw == 0 ? cheapest->machine
                                 : outcomes[random_() % outcomes.size()].machine);
    }
    return result;
  }

  std::vector<Machine> bind_all(int draw) {
    std::vector<Machine> all = machines(draw);
    std::map<std::string, Machine*> by_name;
    for (auto& machine : all) {
      by_name.emplace(machine.name, &machine);
    }
    for (const auto& placement : steps_) {
      const auto* index = std::get_if<std::size_t>(&placement.target);
      const std::string target =
          index != nullptr ? claim_name(*index) : std::get<std::string>(placement.target);
      const model::Pod& pod = *pods_.at(placement.pod_uid);
      const auto found = by_name.find(target);
      if (found == by_name.end()) {
        say(placement.pod_uid + " goes to " + target + ", which is not there");
        continue;
      }
      std::string reason = filters_.alone(pod, *found->second);
      if (reason.empty()) {
        reason = filters_.among_others(pod, *found->second, all);
      }
      if (!reason.empty()) {
        say(placement.pod_uid + " on " + target + " (draw " + std::to_string(draw) +
            "): " + reason);
      }
      found->second->pods.push_back(&pod);
    }
    return all;
  }

  const Problem& problem_;
  const Plan& plan_;
  CheckOptions options_;
  KubeFilters filters_;
  std::mt19937 random_;
  std::map<std::string, const model::Pod*> pods_;
  std::vector<Placement> steps_;
  std::vector<std::vector<ClaimOutcome>> outcomes_;  // by claim
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> violations(const Problem& problem, const Plan& plan,
                                    CheckOptions options) {
  return Checker(problem, plan, options).run();
}

std::vector<std::string> missed(const Problem& problem, const Plan& plan) {
  return Checker(problem, plan, {}).missed();
}

}  // namespace millwright::checker
