#include "cloud/aws/launch/launcher.hpp"

#include "cloud/aws/catalog/type_labels.hpp"

#include <algorithm>
#include <set>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

// DescribeInstances lags behind CreateFleet by seconds.
constexpr base::Duration kShownBy = std::chrono::seconds(10);
constexpr base::Duration kDoubted = std::chrono::hours(1);
constexpr base::Duration kLookAgain = std::chrono::seconds(3);
constexpr std::string_view kMismatch = "IdempotentParameterMismatch";

Boot boot_of(const model::NodeClaim& claim, const NodeClassSpec& spec, const LaunchPlan& plan,
             const LaunchGroup& group, const ClusterFacts& cluster) {
  Boot boot;
  boot.cluster = cluster;
  boot.family = spec.family;
  boot.user_data = spec.user_data;
  boot.kubelet = spec.kubelet;
  boot.max_pods = group.max_pods;
  auto labels = claim.meta.labels;
  labels[std::string(model::kCapacityTypeLabel)] = plan.capacity_type;
  if (spec.family != Family::Custom) {
    labels[std::string(model::kDoNotSyncTaintsLabel)] = "true";
  }
  boot.labels = kubelet_labels(labels);
  boot.taints = claim.taints;
  boot.taints.insert(boot.taints.end(), claim.startup_taints.begin(), claim.startup_taints.end());
  boot.taints.push_back({.key = std::string(model::kUnregisteredTaint),
                         .value = {},
                         .effect = "NoExecute",
                         .time_added = {}});
  boot.raid0 = spec.raid0;
  return boot;
}

std::set<std::string> subnets_of(const LaunchPlan& plan) {
  std::set<std::string> result;
  for (const auto& group : plan.groups) {
    for (const auto& option : group.options) {
      result.insert(option.subnet);
    }
  }
  return result;
}

bool is_missing_template(std::string_view code) {
  return code.starts_with("InvalidLaunchTemplateName.NotFound") ||
         code.starts_with("InvalidLaunchTemplateId.NotFound");
}

bool misses_template(const FleetShare& share) {
  const auto& answer = *share.answer;
  if (!answer) {
    return is_missing_template(answer.error().code);
  }
  return answer->instances.empty() &&
         std::any_of(answer->errors.begin(), answer->errors.end(),
                     [](const auto& each) { return is_missing_template(each.code); });
}

Launched launched_of(const Ec2Instance& found) {
  return {found.id,
          found.type,
          found.zone,
          std::string(found.capacity_type()),
          found.image_id,
          found.reservation_id,
          found.placement_group,
          found.partition};
}

base::Error no_instance(const model::NodeClaim& claim) {
  return {ErrorKind::NotFound, "NodeClaim " + claim.meta.name + " has no instance", {}};
}

}  // namespace

Launcher::Launcher(Parts parts)
    : parts_(std::move(parts)),
      ec2_(parts_.api),
      templates_(parts_.api, parts_.cluster_name, parts_.log),
      fleets_(
          parts_.api, parts_.metrics,
          [this](const LaunchPlan& plan, const FleetAnswer& answer) { note_errors(answer, plan); }),
      inherited_(parts_.api.loop().now()) {}

base::Task<base::Result<std::vector<std::string>>> Launcher::ensure_templates(
    ClaimPtr claim, NodeClassPtr node_class, std::shared_ptr<const LaunchPlan> plan,
    ClusterFacts cluster) {
  const auto spec = read_spec(*node_class);
  const auto findings = read_status(*node_class);
  const auto tags = owned_tags(spec, parts_.cluster_name, claim->meta.label(model::kNodePoolLabel));
  std::vector<std::string> names;
  for (const auto& group : plan->groups) {
    const auto boot = boot_of(*claim, spec, *plan, group, cluster);
    auto request = launch_template_for(spec, findings, *plan, group, boot, tags);
    if (!request) {
      co_return base::with_context("EC2NodeClass " + spec.name, std::move(request).error());
    }
    MW_CO_TRY(name, co_await templates_.ensure(*std::move(request)));
    names.push_back(name);
  }
  co_return names;
}

base::Task<base::Result<FleetShare>> Launcher::order(ClaimPtr claim, NodeClassPtr node_class,
                                                     std::shared_ptr<const LaunchPlan> plan,
                                                     std::vector<std::string> templates) {
  const auto spec = read_spec(*node_class);
  const auto found = doubts_.find(claim->meta.uid);
  const bool was_in_doubt = found != doubts_.end();
  const auto merged_at = was_in_doubt ? found->second.merged_at : std::nullopt;
  const bool own_call = was_in_doubt && found->second.own_call;
  FleetOrder order;
  order.claim = claim;
  order.plan = std::move(plan);
  order.templates = std::move(templates);
  order.tags = owned_tags(spec, parts_.cluster_name, claim->meta.label(model::kNodePoolLabel));
  order.context = spec.context;
  order.alone = was_in_doubt || inherited_.contains(*claim);
  // In doubt until the answer arrives, even when nobody waits for it any more.
  const auto now = parts_.api.loop().now();
  doubts_[claim->meta.uid] = {now, order.alone ? merged_at : now, own_call || order.alone};
  auto share = co_await fleets_.create(std::move(order));
  if (!share) {
    co_return share;
  }
  const auto& answer = *share->answer;
  if (!answer && may_have_taken_effect(answer.error())) {
    const auto lost = parts_.api.loop().now();
    doubts_[claim->meta.uid] = {lost, share->merged ? lost : merged_at, own_call || !share->merged};
    co_return share;
  }
  const bool was_accepted_before = !answer && answer.error().code == kMismatch;
  if (answer || (!was_in_doubt && !was_accepted_before)) {
    doubts_.erase(claim->meta.uid);
  } else if (const auto doubt = doubts_.find(claim->meta.uid); doubt != doubts_.end()) {
    // Any other refusal says nothing of a call before.
    doubt->second.own_call = own_call || (was_accepted_before && !share->merged);
  }
  co_return share;
}

base::Result<LaunchPlan> Launcher::plan(const model::NodeClaim& claim,
                                        const model::NodeClass& node_class) {
  const auto types = parts_.catalog.types(node_class, parts_.api.loop().now());
  const auto findings = read_status(node_class);
  const auto selector = read_spec(node_class).placement;
  const auto* placement = parts_.catalog.placements().find(selector);
  if (selector.is_given() && placement == nullptr) {
    return base::fail(ErrorKind::Unavailable,
                      "EC2NodeClass " + node_class.meta.name +
                          ": what spec.placementGroupSelector selects is not known yet; its "
                          "condition PlacementGroupReady says why if that lasts");
  }
  LaunchContext context{.types = *types, .findings = findings, .free_addresses = {}};
  context.free_addresses = [this](std::string_view subnet) {
    return parts_.resolver.free_addresses(subnet) - asked_addresses_.in(subnet);
  };
  context.placement = placement;
  MW_TRY(plan, plan_launch(claim, context));
  plan.spares_reservations = parts_.reserved_capacity;
  return plan;
}

base::Task<base::Result<Launched>> Launcher::launch(ClaimPtr claim, NodeClassPtr node_class,
                                                    ClusterFacts cluster) {
  MW_CO_TRY(planned, plan(*claim, *node_class));
  const auto shared_plan = std::make_shared<const LaunchPlan>(std::move(planned));
  // Until the answer, which says what was taken. EC2 chooses the zone: so one of each.
  const auto held = asked_addresses_.hold(subnets_of(*shared_plan));
  co_return co_await launch_planned(claim, node_class, shared_plan, std::move(cluster));
}

base::Task<base::Result<Launched>> Launcher::launch_planned(ClaimPtr claim, NodeClassPtr node_class,
                                                            std::shared_ptr<const LaunchPlan> plan,
                                                            ClusterFacts cluster) {
  for (int tried = 0;; ++tried) {
    MW_CO_TRY(templates, co_await ensure_templates(claim, node_class, plan, cluster));
    MW_CO_TRY(share, co_await order(claim, node_class, plan, templates));
    if (misses_template(share) && tried == 0) {
      for (const auto& name : templates) {
        templates_.forget(name);
      }
      continue;
    }
    const auto& answer = *share.answer;
    if (!answer && answer.error().code == kMismatch) {
      // An earlier call with another plan used the token: it was accepted and its answer lost.
      const auto until = parts_.api.loop().now() + kShownBy;
      auto found = co_await look_for(claim, node_class, until, Unnamed::NotOurs);
      if (!found) {
        co_return base::fail(ErrorKind::Unavailable,
                             "NodeClaim " + claim->meta.name +
                                 ": an earlier launch was accepted but its instance is not "
                                 "visible yet; asking again");
      }
      doubts_.erase(claim->meta.uid);
      co_return launched_of(*found);
    }
    if (!answer) {
      const base::Error& error = answer.error();
      co_return base::with_context("NodeClaim " + claim->meta.name, error);
    }
    if (!share.instance) {
      co_return tl::unexpected(explain(*claim, *answer));
    }
    if (ownership_.is_anothers(share.instance->id, claim->meta.uid)) {
      // EC2 showed the instance before it answered, and a claim in doubt took it for its own. Then
      // that claim's instance, which is like this one, is still to be found.
      const auto now = parts_.api.loop().now();
      doubts_[claim->meta.uid] = {now, now};
      co_return base::fail(ErrorKind::Unavailable,
                           "NodeClaim " + claim->meta.name + ": its instance " +
                               share.instance->id +
                               " was taken for another claim's; looking for that one's");
    }
    co_return take(*claim, *plan, *share.instance);
  }
}

Launched Launcher::take(const model::NodeClaim& claim, const LaunchPlan& plan,
                        const FleetInstance& made) {
  if (!made.subnet.empty()) {
    parts_.resolver.take_address(made.subnet);
  }
  Launched launched{made.id, made.type, made.zone, plan.capacity_type, {}};
  for (const auto& group : plan.groups) {
    for (const auto& option : group.options) {
      if (option.type == launched.type) {
        launched.image_id = group.image_id;
      }
    }
  }
  launched.placement_group = plan.placement_group;
  launched.partition = plan.partition;
  launched.awaits_partition = plan.leaves_partition;
  launched.reservation_id = reservation_of(plan, launched.type, launched.zone);
  if (!launched.reservation_id.empty()) {
    parts_.catalog.reservations().take(launched.reservation_id);
    parts_.catalog.touch();
  }
  ownership_.deal(launched, claim, parts_.api.loop().now());
  return launched;
}

// The controllers delete a claim minutes after its launch came into doubt: nobody asks again then.
void Launcher::sweep() {
  const auto now = parts_.api.loop().now();
  ownership_.sweep(now);
  fleets_.sweep();
  std::erase_if(doubts_, [now](const auto& item) { return now - item.second.since > kDoubted; });
}

base::Task<base::Result<Launched>> Launcher::adopt(ClaimPtr claim, NodeClassPtr node_class) {
  if (const auto* dealt = ownership_.dealt_to(claim->meta.uid)) {
    co_return *dealt;  // the claim's status could not be written yet
  }
  const auto doubt = doubts_.find(claim->meta.uid);
  const bool in_doubt = doubt != doubts_.end();
  if (!in_doubt && !inherited_.contains(*claim)) {
    co_return tl::unexpected(no_instance(*claim));
  }
  const bool is_inherited = inherited_.contains(*claim);
  base::TimePoint until = is_inherited ? inherited_.since() + kShownBy : doubt->second.since;
  auto unnamed = is_inherited ? Unnamed::MayBeOurs : Unnamed::NotOurs;
  if (const auto merged_at = in_doubt ? doubt->second.merged_at : std::nullopt) {
    // Another leader may have called for the claim alone since.
    const bool is_of_this_term = !is_inherited || *merged_at >= inherited_.since();
    unnamed = is_of_this_term ? Unnamed::Ours : unnamed;
    until = std::max(until, *merged_at + kShownBy);
  }
  if (in_doubt && doubt->second.own_call) {
    unnamed = Unnamed::NotOurs;
  }
  MW_CO_TRY(instance, co_await look_for(claim, node_class, until, unnamed));
  doubts_.erase(claim->meta.uid);
  co_return launched_of(instance);
}

base::Task<base::Result<Ec2Instance>> Launcher::look_for(ClaimPtr claim, NodeClassPtr node_class,
                                                         base::TimePoint until, Unnamed unnamed) {
  while (true) {
    const bool is_last = parts_.api.loop().now() >= until;
    auto found = co_await find_by_claim(claim);
    const bool may_choose = unnamed == Unnamed::Ours || (unnamed == Unnamed::MayBeOurs && is_last);
    if (!found && found.error().kind == ErrorKind::NotFound && may_choose) {
      found = co_await choose_unrecorded(claim, node_class);
    }
    if (found && !found->is_terminating()) {
      ownership_.deal(launched_of(*found), *claim, parts_.api.loop().now());
      co_return found;
    }
    if (!found && found.error().kind != ErrorKind::NotFound) {
      co_return found;
    }
    if (is_last) {
      co_return tl::unexpected(no_instance(*claim));
    }
    const auto left = std::max(until - parts_.api.loop().now(), base::Duration::zero());
    co_await base::sleep(parts_.api.loop(), std::min<base::Duration>(left, kLookAgain));
  }
}

base::Task<base::Result<Ec2Instance>> Launcher::choose_unrecorded(ClaimPtr claim,
                                                                  NodeClassPtr node_class) {
  const std::vector<Filter> filters{
      {"tag:" + std::string(kBootShapeTag), {boot_shape(*claim)}},
      {"tag:" + std::string(kClusterTag), {parts_.cluster_name}},
      {"instance-state-name", {living_states().begin(), living_states().end()}}};
  MW_CO_TRY(found, co_await ec2_.instances(filters));
  const auto types = parts_.catalog.types(*node_class, parts_.api.loop().now());
  const auto* chosen = ownership_.choose_for(*claim, found, *types);
  if (chosen == nullptr) {
    co_return tl::unexpected(no_instance(*claim));
  }
  // Before anything else can run, so that no other claim gets the same instance.
  ownership_.deal(launched_of(*chosen), *claim, parts_.api.loop().now());
  co_return *chosen;
}

base::Task<base::Result<Ec2Instance>> Launcher::find_by_claim(ClaimPtr claim) {
  const std::vector<Filter> filters{
      {"tag:" + std::string(kClaimUidTag), {claim->meta.uid}},
      {"tag:" + std::string(kClusterTag), {parts_.cluster_name}},
      {"instance-state-name", {living_states().begin(), living_states().end()}}};
  MW_CO_TRY(found, co_await ec2_.instances(filters));
  const auto alive = std::find_if(found.begin(), found.end(),
                                  [](const auto& each) { return !each.is_terminating(); });
  if (alive != found.end()) {
    co_return *alive;
  }
  if (!found.empty()) {
    co_return found.front();
  }
  co_return tl::unexpected(no_instance(*claim));
}

}  // namespace millwright::cloud::aws
