#include "cloud/aws/launch/ownership.hpp"

#include "cloud/aws/launch/launch_request.hpp"
#include "cloud/common/text/digest.hpp"
#include "millwright/model/labels.hpp"

#include <algorithm>
#include <tuple>

namespace millwright::cloud::aws {
namespace {

using scheduling::AllowUndefined;
using scheduling::Requirements;

constexpr std::string_view kProviderPrefix = "aws:///";
constexpr std::size_t kShapeLength = 20;
constexpr std::size_t kClaimLength = 4;
constexpr std::size_t kLongestTag = 256;  // that EC2 takes
// A launch is recorded within seconds. A NodeClaim whose launch is not recorded is deleted by then.
constexpr base::Duration kKept = std::chrono::hours(1);

// How far the clocks of EC2 and the API server may differ.
constexpr base::Duration kClocksDiffer = std::chrono::minutes(2);
// Both tell times in whole seconds.
constexpr base::Duration kSameTime = std::chrono::seconds(1);

// Instances of a fleet for several claims are named after theirs once their Node has joined.
bool is_for_others(const Ec2Instance& instance, const model::NodeClaim& claim) {
  const auto name = instance.tag(kClaimTag);
  return (!name.empty() && name != claim.meta.name) ||
         !may_list(instance.tag(kLaunchedForTag), claim.meta.uid);
}

std::string short_hash(std::string_view uid) {
  return to_hex(sha256(uid)).substr(0, kClaimLength);
}

// How much longer than the claim the instance has been there. Much: it was launched for another
// claim, which is gone, because somebody removed that by force.
base::Duration seniority(const Ec2Instance& instance, const model::NodeClaim& claim) {
  return instance.launched_at && claim.meta.creation_timestamp
             ? *claim.meta.creation_timestamp - *instance.launched_at
             : base::Duration::zero();
}

// Whether the instance is in the type's placement group and in the offering's partition. What EC2
// does not show counts as equal.
bool is_placed_as(const Ec2Instance& instance, const scheduling::InstanceType& type,
                  const scheduling::Offering& offering) {
  const auto* group = type.requirements.find(kPlacementGroupLabel);
  const auto* partition = offering.requirements.find(kPartitionLabel);
  return (group == nullptr || instance.placement_group.empty() ||
          group->has(instance.placement_group)) &&
         (partition == nullptr || instance.partition == 0 ||
          partition->has(std::to_string(instance.partition)));
}

// The instance's price if it were the claim's; nullopt when it does not meet the claim.
std::optional<double> price_for(const model::NodeClaim& claim, const Requirements& wanted,
                                const Ec2Instance& instance,
                                const std::vector<scheduling::InstanceType>& types) {
  const auto type = std::find_if(types.begin(), types.end(),
                                 [&](const auto& each) { return each.name == instance.type; });
  if (type == types.end() || !wanted.compatible(type->requirements, AllowUndefined::WellKnown) ||
      !model::fits(claim.requests, type->allocatable())) {
    return std::nullopt;
  }
  const auto capacity_type = instance.capacity_type();
  for (const auto& offering : type->offerings) {
    if (offering.zone() == instance.zone && offering.capacity_type() == capacity_type &&
        is_placed_as(instance, *type, offering) &&
        wanted.compatible(offering.requirements, AllowUndefined::WellKnown)) {
      return offering.price;
    }
  }
  return std::nullopt;
}

// EC2 refuses a whole call because of one text that is no id.
bool is_instance_id(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
  return text.size() > 2 && text.starts_with("i-") &&
         text.find_first_not_of(kDigits, 2) == std::string_view::npos;
}

}  // namespace

std::string provider_id_of(std::string_view zone, std::string_view id) {
  return std::string(kProviderPrefix).append(zone).append("/").append(id);
}

std::string instance_id_of(std::string_view provider_id) {
  const auto slash = provider_id.rfind('/');
  const bool ours = provider_id.starts_with(kProviderPrefix) && slash >= kProviderPrefix.size();
  const auto id = ours ? provider_id.substr(slash + 1) : std::string_view();
  return is_instance_id(id) ? std::string(id) : std::string();
}

std::string boot_shape(const model::NodeClaim& claim) {
  std::string text = claim.node_class_ref.name;
  const auto say = [&text](std::string_view kind, std::string_view what) {
    text.append("\n").append(kind).append(" ").append(what);
  };
  for (const auto& [key, value] : claim.meta.labels) {
    // Other labels describe the instance: the claim gets them after its launch.
    if (key == model::kNodePoolLabel || !model::is_well_known_label(key)) {
      say("label", key + "=" + value);
    }
  }
  for (const auto& taint : claim.taints) {
    say("taint", taint.to_string());
  }
  for (const auto& taint : claim.startup_taints) {
    say("startup", taint.to_string());
  }
  return to_hex(sha256(text)).substr(0, kShapeLength);
}

std::string list_of_claims(const std::vector<std::string>& uids) {
  std::string list;
  if (uids.size() * kClaimLength <= kLongestTag) {
    for (const auto& uid : uids) {
      list += short_hash(uid);
    }
  }
  return list;
}

bool may_list(std::string_view list, std::string_view uid) {
  if (list.empty()) {
    return true;
  }
  const std::string wanted = short_hash(uid);
  for (std::size_t at = 0; at < list.size(); at += kClaimLength) {
    if (list.substr(at, kClaimLength) == wanted) {
      return true;
    }
  }
  return false;
}

void Ownership::deal(const Launched& launched, const model::NodeClaim& claim, base::TimePoint now) {
  if (const auto before = dealt_.find(claim.meta.uid); before != dealt_.end()) {
    whose_.erase(before->second.launched.instance_id);
  }
  dealt_[claim.meta.uid] = {launched, claim.meta.name, now};
  whose_[launched.instance_id] = claim.meta.uid;
}

void Ownership::forget(std::string_view instance) {
  if (const auto found = whose_.find(instance); found != whose_.end()) {
    dealt_.erase(found->second);
    whose_.erase(found);
  }
}

void Ownership::sweep(base::TimePoint now) {
  std::erase_if(dealt_, [now](const auto& item) { return now - item.second.when > kKept; });
  forget_unclaimed();
}

void Ownership::begin_term() {
  std::erase_if(dealt_, [this](const auto& item) {
    const Launched& launched = item.second.launched;
    return is_recorded(item.first) ||
           is_recorded(provider_id_of(launched.zone, launched.instance_id));
  });
  forget_unclaimed();
}

void Ownership::forget_unclaimed() {
  std::erase_if(whose_, [this](const auto& item) { return !dealt_.contains(item.second); });
}

std::string Ownership::claim_of(std::string_view instance) const {
  const auto found = whose_.find(instance);
  return found == whose_.end() ? std::string() : dealt_.find(found->second)->second.claim;
}

bool Ownership::is_anothers(std::string_view instance, std::string_view claim_uid) const {
  const auto found = whose_.find(instance);
  return found != whose_.end() && found->second != claim_uid;
}

const Launched* Ownership::dealt_to(std::string_view claim_uid) const {
  const auto found = dealt_.find(claim_uid);
  return found == dealt_.end() ? nullptr : &found->second.launched;
}

bool Ownership::is_free(const Ec2Instance& instance) const {
  return !whose_.contains(instance.id) && !is_recorded(provider_id_of(instance.zone, instance.id));
}

const Ec2Instance* Ownership::choose_for(const model::NodeClaim& claim,
                                         const std::vector<Ec2Instance>& instances,
                                         const std::vector<scheduling::InstanceType>& types) const {
  const Requirements wanted(claim.requirements);
  const Ec2Instance* best = nullptr;
  std::tuple<bool, bool, double, std::string_view> best_rank;
  for (const auto& instance : instances) {
    const base::Duration older_by = seniority(instance, claim);
    if (instance.is_terminating() || !is_free(instance) || is_for_others(instance, claim) ||
        older_by > kClocksDiffer) {
      continue;
    }
    if (const auto price = price_for(claim, wanted, instance, types)) {
      // Those that may be anybody's come last.
      const std::tuple rank(instance.tag(kLaunchedForTag).empty(), older_by > kSameTime, *price,
                            std::string_view(instance.id));
      if (best == nullptr || rank < best_rank) {
        best = &instance;
        best_rank = rank;
      }
    }
  }
  return best;
}

}  // namespace millwright::cloud::aws
