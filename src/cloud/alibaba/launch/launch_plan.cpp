#include "cloud/alibaba/launch/launch_plan.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace millwright::cloud::alibaba {
namespace {

using scheduling::AllowUndefined;
using scheduling::InstanceType;
using scheduling::Requirements;

struct Choice {
  const InstanceType* type = nullptr;
  const scheduling::Offering* offering = nullptr;
};

bool is_allowed(const Requirements& wanted, const scheduling::Offering& offering) {
  return offering.available && wanted.compatible(offering.requirements, AllowUndefined::WellKnown);
}

// Cheapest first; ties by type and zone, so that the same question has the same answer.
std::vector<Choice> choices_for(const model::NodeClaim& claim, const Requirements& wanted,
                                const std::vector<InstanceType>& types,
                                std::string_view capacity_type) {
  std::vector<Choice> result;
  for (const auto& type : types) {
    if (!wanted.compatible(type.requirements, AllowUndefined::WellKnown) ||
        !model::fits(claim.requests, type.allocatable())) {
      continue;
    }
    for (const auto& offering : type.offerings) {
      if (offering.capacity_type() == capacity_type && is_allowed(wanted, offering)) {
        result.push_back({&type, &offering});
      }
    }
  }
  const auto order = [](const Choice& each) {
    return std::tuple(each.offering->price, std::string_view(each.type->name),
                      each.offering->zone());
  };
  std::sort(result.begin(), result.end(),
            [&order](const Choice& a, const Choice& b) { return order(a) < order(b); });
  return result;
}

// Of each zone the vSwitch with most free addresses.
std::map<std::string, std::string, std::less<>> vswitches_by_zone(const LaunchContext& context) {
  std::map<std::string, std::string, std::less<>> result;
  for (const auto& each : context.findings.vswitches) {
    const auto [place, is_new] = result.emplace(each.zone, each.id);
    if (!is_new && context.free_addresses(each.id) > context.free_addresses(place->second)) {
      place->second = each.id;
    }
  }
  return result;
}

// The zone, among those of the choices, whose vSwitch has most free addresses.
std::string roomiest_zone(const std::vector<Choice>& choices, const LaunchContext& context,
                          const std::map<std::string, std::string, std::less<>>& vswitches) {
  std::string best;
  std::int64_t most = -1;
  for (const auto& choice : choices) {
    const auto found = vswitches.find(choice.offering->zone());
    if (found == vswitches.end()) {
      continue;
    }
    const auto room = context.free_addresses(found->second);
    if (room > most || (room == most && found->first < best)) {
      most = room;
      best = found->first;
    }
  }
  return best;
}

std::string arch_of(const InstanceType& type) {
  const auto* found = type.requirements.find(model::kArchLabel);
  return found == nullptr || found->values().empty() ? std::string() : found->values().front();
}

}  // namespace

base::Result<LaunchPlan> plan_launch(const model::NodeClaim& claim, const LaunchContext& context) {
  const Requirements wanted(claim.requirements);
  const auto vswitches = vswitches_by_zone(context);
  for (const auto capacity_type : {model::kSpot, model::kOnDemand}) {
    auto choices = choices_for(claim, wanted, context.types, capacity_type);
    if (context.spec.balanced) {
      const auto zone = roomiest_zone(choices, context, vswitches);
      std::erase_if(choices, [&zone](const Choice& each) { return each.offering->zone() != zone; });
    }
    LaunchPlan plan;
    plan.capacity_type = capacity_type;
    for (const auto& choice : choices) {
      const auto vswitch = vswitches.find(choice.offering->zone());
      const auto* image = image_for(context.findings.images, choice.type->requirements);
      if (vswitch == vswitches.end() || image == nullptr ||
          plan.candidates.size() == kMostCandidates) {
        continue;
      }
      if (plan.candidates.empty()) {
        plan.image_id = image->id;
        plan.arch = arch_of(*choice.type);
      }
      if (image->id == plan.image_id) {
        plan.candidates.push_back({.type = choice.type->name,
                                   .zone = std::string(choice.offering->zone()),
                                   .vswitch = vswitch->second,
                                   .price = choice.offering->price});
      }
    }
    if (!plan.candidates.empty()) {
      return plan;
    }
  }
  return base::fail(
      base::ErrorKind::NoCapacity,
      "no available offering of Alibaba Cloud meets its requirements; other types, zones "
      "or capacity types in the NodePool would help");
}

}  // namespace millwright::cloud::alibaba
