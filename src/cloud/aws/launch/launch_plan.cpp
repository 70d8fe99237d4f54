#include "cloud/aws/launch/launch_plan.hpp"

#include "cloud/aws/catalog/reservation_counts.hpp"
#include "cloud/aws/catalog/type_labels.hpp"
#include "cloud/common/text/digest.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace millwright::cloud::aws {
namespace {

using scheduling::AllowUndefined;
using scheduling::InstanceType;
using scheduling::Offering;
using scheduling::Requirements;

struct Candidate {
  const InstanceType* type = nullptr;
  std::vector<const Offering*> offerings;  // available and compatible, of one capacity type
  double cheapest() const {
    double best = offerings.front()->price;
    for (const auto* offering : offerings) {
      best = std::min(best, offering->price);
    }
    return best;
  }
};

bool has_value(const InstanceType& type, std::string_view key) {
  const auto* found = type.requirements.find(key);
  return found != nullptr && !found->is_complement() && !found->values().empty();
}

// Bare metal and accelerators cost much and boot slowly: only claims that ask for them get them.
bool is_exotic(const InstanceType& type) {
  const auto* size = type.requirements.find("karpenter.k8s.aws/instance-size");
  const bool metal = size != nullptr && !size->values().empty() &&
                     size->values().front().find("metal") != std::string::npos;
  return metal || has_value(type, "karpenter.k8s.aws/instance-gpu-count") ||
         has_value(type, "karpenter.k8s.aws/instance-accelerator-count");
}

std::string label_of(const Offering& offering, std::string_view key) {
  const auto* found = offering.requirements.find(key);
  return found == nullptr || found->is_complement() || found->values().empty()
             ? std::string()
             : found->values().front();
}

// The offerings of one partition; where EC2 chooses the partition, each offering once.
void keep_partition(std::vector<const Offering*>& offerings, const LaunchPlan& plan) {
  if (plan.partition > 0) {
    const auto wanted = std::to_string(plan.partition);
    std::erase_if(offerings,
                  [&](const auto* each) { return label_of(*each, kPartitionLabel) != wanted; });
  }
  if (!plan.leaves_partition) {
    return;
  }
  std::set<std::pair<std::string, std::string>> seen;
  std::erase_if(offerings, [&](const auto* each) {
    const auto reservation = label_of(*each, kReservationIdLabel);
    return !seen.emplace(std::string(each->zone()), reservation).second;
  });
}

std::vector<Candidate> candidates_for(const model::NodeClaim& claim, const Requirements& wanted,
                                      const LaunchContext& context, const LaunchPlan& plan) {
  std::vector<Candidate> result;
  for (const auto& type : context.types) {
    if (!wanted.compatible(type.requirements, AllowUndefined::WellKnown) ||
        !model::fits(claim.requests, type.allocatable())) {
      continue;
    }
    Candidate candidate{&type, {}};
    for (const auto& offering : type.offerings) {
      if (offering.available && offering.capacity_type() == plan.capacity_type &&
          wanted.compatible(offering.requirements, AllowUndefined::WellKnown)) {
        candidate.offerings.push_back(&offering);
      }
    }
    keep_partition(candidate.offerings, plan);
    if (!candidate.offerings.empty()) {
      result.push_back(std::move(candidate));
    }
  }
  return result;
}

bool keeps_min_values(const Requirements& wanted) {
  return wanted.has_min_values();
}

void drop_exotic(std::vector<Candidate>& candidates) {
  const auto exotic = [](const Candidate& each) { return is_exotic(*each.type); };
  if (!std::all_of(candidates.begin(), candidates.end(), exotic)) {
    std::erase_if(candidates, exotic);
  }
}

// A spot machine that costs more than the cheapest on-demand one is no bargain.
void drop_dear_spot(std::vector<Candidate>& spot, const std::vector<Candidate>& on_demand) {
  if (on_demand.empty()) {
    return;
  }
  double limit = on_demand.front().cheapest();
  for (const auto& each : on_demand) {
    limit = std::min(limit, each.cheapest());
  }
  const auto dear = [limit](const Candidate& each) { return each.cheapest() > limit; };
  if (!std::all_of(spot.begin(), spot.end(), dear)) {
    std::erase_if(spot, dear);
  }
}

// EC2's limits for one call: one kind of reservation, one reservation for each type and zone (we
// take the one with most room), and a capacity block by itself.
void narrow_reserved(std::vector<Candidate>& reserved, LaunchPlan& plan) {
  if (reserved.empty()) {
    return;
  }
  const auto first = std::min_element(
      reserved.begin(), reserved.end(),
      [](const Candidate& a, const Candidate& b) { return a.cheapest() < b.cheapest(); });
  const auto* leading = first->offerings.front();
  plan.reservation_kind = label_of(*leading, kReservationTypeLabel);
  const auto interruptible = label_of(*leading, kReservationInterruptibleLabel);
  plan.interruptible = interruptible == "true";
  const auto is_other = [&](const Offering* each) {
    return label_of(*each, kReservationTypeLabel) != plan.reservation_kind ||
           label_of(*each, kReservationInterruptibleLabel) != interruptible;
  };
  if (plan.reservation_kind == "capacity-block") {
    reserved = {Candidate{first->type, {leading}}};
    return;
  }
  for (auto& candidate : reserved) {
    auto& offerings = candidate.offerings;
    std::erase_if(offerings, is_other);
    std::stable_sort(offerings.begin(), offerings.end(), [](const auto* a, const auto* b) {
      return a->zone() != b->zone() ? a->zone() < b->zone()
                                    : a->reservation_capacity > b->reservation_capacity;
    });
    const auto same_zone = [](const auto* a, const auto* b) { return a->zone() == b->zone(); };
    offerings.erase(std::unique(offerings.begin(), offerings.end(), same_zone), offerings.end());
  }
  std::erase_if(reserved, [](const Candidate& each) { return each.offerings.empty(); });
}

// A zone's subnet with the most free addresses; empty when the class has none there.
std::string subnet_in(std::string_view zone, const LaunchContext& context) {
  const ResolvedSubnet* best = nullptr;
  for (const auto& subnet : context.findings.subnets) {
    if (subnet.zone == zone &&
        (best == nullptr || context.free_addresses(subnet.id) > context.free_addresses(best->id))) {
      best = &subnet;
    }
  }
  return best == nullptr ? std::string() : best->id;
}

std::vector<LaunchGroup> group(const std::vector<Candidate>& candidates,
                               const model::NodeClaim& claim, const LaunchContext& context) {
  constexpr std::string_view kEfa = "vpc.amazonaws.com/efa";
  const bool wants_efa = model::get(claim.requests, kEfa).milli() > 0;
  std::map<std::tuple<std::string, std::int64_t, std::int64_t, std::string>, LaunchGroup> groups;
  std::map<std::string, std::string, std::less<>> subnets;
  for (const auto& candidate : candidates) {
    const auto& type = *candidate.type;
    const auto* image = image_for(context.findings.images, type.requirements);
    if (image == nullptr) {
      continue;
    }
    const auto pods = model::get(type.capacity, model::kPods).units();
    const auto efa = wants_efa ? model::get(type.capacity, kEfa).units() : 0;
    for (const auto* offering : candidate.offerings) {
      const bool is_reserved = offering->capacity_type() == model::kReserved;
      const auto reservation = is_reserved ? label_of(*offering, kReservationIdLabel) : "";
      auto& into = groups[{image->id, pods, efa, reservation}];
      into.image_id = image->id;
      into.max_pods = pods;
      into.efa_interfaces = efa;
      into.reservation_id = reservation;
      const std::string zone(offering->zone());
      const auto known = subnets.find(zone);
      const auto subnet =
          known != subnets.end() ? known->second : subnets[zone] = subnet_in(zone, context);
      if (!subnet.empty()) {
        into.options.push_back({type.name, zone, subnet, offering->price});
      }
    }
  }
  std::vector<LaunchGroup> result;
  for (auto& [key, each] : groups) {
    std::sort(each.options.begin(), each.options.end(), [](const auto& a, const auto& b) {
      return std::tie(a.price, a.type, a.zone) < std::tie(b.price, b.type, b.zone);
    });
    if (!each.options.empty()) {
      result.push_back(std::move(each));
    }
  }
  return result;
}

bool sells_in(const LaunchContext& context, const Requirements& wanted, int partition) {
  const auto value = std::to_string(partition);
  return std::any_of(context.types.begin(), context.types.end(), [&](const InstanceType& type) {
    return wanted.compatible(type.requirements, AllowUndefined::WellKnown) &&
           std::any_of(type.offerings.begin(), type.offerings.end(), [&](const Offering& each) {
             return each.available && label_of(each, kPartitionLabel) == value &&
                    wanted.compatible(each.requirements, AllowUndefined::WellKnown);
           });
  });
}

// Sets the class's placement group. EC2 spreads over its partitions by itself. When the claim rules
// some out we choose one of the others, by the claim's UID, so that claims spread over them.
void choose_placement(LaunchPlan& plan, const model::NodeClaim& claim, const Requirements& wanted,
                      const LaunchContext& context) {
  if (context.placement == nullptr) {
    return;
  }
  plan.placement_group = context.placement->id;
  const auto admitted = wanted.get(kPartitionLabel);
  std::vector<int> allowed;
  for (int partition = 1; partition <= context.placement->partitions; ++partition) {
    if (admitted.has(std::to_string(partition))) {
      allowed.push_back(partition);
    }
  }
  if (static_cast<int>(allowed.size()) == context.placement->partitions) {
    plan.leaves_partition = !allowed.empty();
    return;
  }
  if (allowed.empty()) {
    return;  // there is no offering of such a partition either
  }
  const auto digest = sha256(claim.meta.uid);
  std::rotate(allowed.begin(),
              allowed.begin() + static_cast<unsigned char>(digest.front()) % allowed.size(),
              allowed.end());
  const auto open = std::find_if(allowed.begin(), allowed.end(), [&](int partition) {
    return sells_in(context, wanted, partition);
  });
  plan.partition = open == allowed.end() ? allowed.front() : *open;
}

}  // namespace

base::Result<LaunchPlan> plan_launch(const model::NodeClaim& claim, const LaunchContext& context) {
  const Requirements wanted(claim.requirements);
  LaunchPlan plan;
  choose_placement(plan, claim, wanted, context);
  const auto candidates = [&](std::string_view capacity_type) {
    plan.capacity_type = capacity_type;
    return candidates_for(claim, wanted, context, plan);
  };
  auto spot = candidates(model::kSpot);
  auto on_demand = candidates(model::kOnDemand);
  auto reserved = candidates(model::kReserved);
  plan.capacity_type = spot.empty() ? model::kOnDemand : model::kSpot;
  auto& cheaper = spot.empty() ? on_demand : spot;
  if (!reserved.empty()) {
    plan.capacity_type = model::kReserved;
    narrow_reserved(reserved, plan);
  }
  auto& chosen = reserved.empty() ? cheaper : reserved;
  if (!keeps_min_values(wanted)) {
    drop_exotic(on_demand);
    drop_exotic(spot);
    drop_dear_spot(spot, on_demand);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const Candidate& a, const Candidate& b) {
    return a.cheapest() < b.cheapest();
  });
  chosen.resize(std::min(chosen.size(), kMaxLaunchTypes));
  const auto tenancy = wanted.find(kTenancyLabel);
  plan.dedicated = tenancy != nullptr && tenancy->has("dedicated") && !tenancy->has("default");
  plan.groups = group(chosen, claim, context);
  if (plan.groups.empty()) {
    return base::fail(base::ErrorKind::NoCapacity,
                      "NodeClaim " + claim.meta.name +
                          ": no instance type with a price, an image and room for " +
                          model::to_string(claim.requests) + " is available for its requirements " +
                          wanted.to_string());
  }
  return plan;
}

}  // namespace millwright::cloud::aws
