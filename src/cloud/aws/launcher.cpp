#include "cloud/aws/launcher.hpp"

#include "cloud/aws/type_labels.hpp"

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

// A template is made again when it is needed after that.
constexpr base::Duration kTemplateUnused = std::chrono::minutes(10);
// DescribeInstances lags behind CreateFleet by seconds.
constexpr int kAdoptionTries = 4;
constexpr base::Duration kAdoptionPause = std::chrono::seconds(3);
constexpr std::size_t kShownErrors = 5;
constexpr std::string_view kMismatch = "IdempotentParameterMismatch";
constexpr std::string_view kNoSpotRole = "AuthFailure.ServiceLinkedRoleCreationNotPermitted";

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

bool is_missing_template(std::string_view code) {
  return code.starts_with("InvalidLaunchTemplateName.NotFound") ||
         code.starts_with("InvalidLaunchTemplateId.NotFound");
}

}  // namespace

base::Task<base::Result<std::string>> Launcher::ensure_template(TemplateRequest request) {
  const auto now = parts_.api.loop().now();
  if (const auto known = templates_.find(request.name); known != templates_.end()) {
    known->second = now;
    co_return request.name;
  }
  const auto [underway, first] = creating_.try_emplace(request.name);
  if (!first) {
    const base::Promise<base::Result<>> made(parts_.api.loop());
    underway->second.push_back(made);
    auto result = co_await made.get();
    if (!result) {
      co_return tl::unexpected(std::move(result).error());
    }
    co_return request.name;
  }
  auto created = co_await ec2_.create_launch_template(request.form);
  base::Result<> result;
  // The name is the content's hash: one that exists is the same.
  if (created || created.error().kind == ErrorKind::Exists) {
    templates_[request.name] = now;
  } else {
    result = base::with_context("launch template " + request.name, std::move(created).error());
  }
  auto waiting = creating_.extract(request.name);
  for (const auto& other : waiting.mapped()) {
    other.set(result);
  }
  if (!result) {
    co_return tl::unexpected(std::move(result).error());
  }
  co_return request.name;
}

base::Task<base::Result<std::vector<std::string>>> Launcher::ensure_templates(
    ClaimPtr claim, NodeClassPtr node_class, std::shared_ptr<const LaunchPlan> plan,
    ClusterFacts cluster) {
  const auto spec = read_spec(*node_class);
  const auto findings = read_status(*node_class);
  const auto tags = owned_tags(spec, parts_.cluster_name, claim->meta.label(model::kNodePoolLabel));
  std::vector<std::string> names;
  for (const auto& group : plan->groups) {
    const auto boot = boot_of(*claim, spec, *plan, group, cluster);
    auto made = launch_template_for(spec, findings, *plan, group, boot, tags);
    if (!made) {
      co_return base::with_context("EC2NodeClass " + spec.name, std::move(made).error());
    }
    auto ensured = co_await ensure_template(*std::move(made));
    MW_CO_TRY(name, std::move(ensured));
    names.push_back(name);
  }
  co_return names;
}

base::Task<ApiResult<FleetAnswer>> Launcher::call_fleet(ClaimPtr claim, NodeClassPtr node_class,
                                                        std::shared_ptr<const LaunchPlan> plan,
                                                        std::vector<std::string> templates) {
  const auto spec = read_spec(*node_class);
  auto tags = owned_tags(spec, parts_.cluster_name, claim->meta.label(model::kNodePoolLabel));
  tags[std::string(kClaimTag)] = claim->meta.name;
  tags[std::string(kClaimUidTag)] = claim->meta.uid;
  Form form = fleet_form({.plan = *plan,
                          .templates = std::move(templates),
                          .tags = std::move(tags),
                          .context = spec.context,
                          .client_token = claim->meta.uid});
  auto answered = co_await ec2_.create_fleet(std::move(form));
  MW_CO_TRY(root, std::move(answered));
  co_return read_fleet(root);
}

void Launcher::note_errors(const FleetAnswer& answer, std::string_view capacity_type) {
  const auto now = parts_.api.loop().now();
  bool marked = false;
  for (const auto& error : answer.errors) {
    auto& unavailable = parts_.catalog.unavailable();
    if (error.code == kNoSpotRole) {
      unavailable.mark("", "", model::kSpot, now);
      marked = true;
    } else if (is_unfulfillable(error.code)) {
      unavailable.mark(error.type, error.zone, capacity_type, now);
      if (error.code == "InsufficientFreeAddressesInSubnet" && !error.zone.empty()) {
        unavailable.mark("", error.zone, capacity_type, now);
      }
      marked = true;
    }
    parts_.metrics.count("karpenter_cloudprovider_instance_launch_failures_total",
                         "Launches that AWS refused, by its code.", {{"reason", error.code}});
  }
  if (marked) {
    parts_.catalog.touch();
    parts_.on_sold_out();
  }
}

base::Error Launcher::explain(const model::NodeClaim& claim, const FleetAnswer& answer) const {
  const bool sold_out =
      std::all_of(answer.errors.begin(), answer.errors.end(), [](const FleetError& error) {
        return is_unfulfillable(error.code) || error.code == kNoSpotRole;
      });
  base::Error result;
  result.kind = answer.errors.empty() || sold_out ? ErrorKind::NoCapacity
                                                  : kind_of(answer.errors.front().code, 400);
  for (const auto& error : answer.errors) {
    if (!sold_out && !is_unfulfillable(error.code)) {
      result.kind = kind_of(error.code, 400);
      break;
    }
  }
  result.message = "NodeClaim " + claim.meta.name + ": EC2 launched nothing";
  std::size_t shown = 0;
  std::vector<std::string> said;
  for (const auto& error : answer.errors) {
    auto text = error.code + " (" + error.message + ")";
    if (std::find(said.begin(), said.end(), text) == said.end() && shown++ < kShownErrors) {
      result.message.append(shown == 1 ? ": " : "; ").append(text);
      if (!error.type.empty()) {
        result.message.append(" for ").append(error.type).append(" in ").append(error.zone);
      }
      said.push_back(std::move(text));
    }
  }
  return result;
}

base::Task<base::Result<Launched>> Launcher::launch(ClaimPtr claim, NodeClassPtr node_class,
                                                    ClusterFacts cluster) {
  const auto types = parts_.catalog.types(*node_class, parts_.api.loop().now());
  const auto findings = read_status(*node_class);
  LaunchContext context{.types = *types, .findings = findings, .free_addresses = {}};
  context.free_addresses = [this](std::string_view subnet) {
    return parts_.resolver.free_addresses(subnet);
  };
  auto planned = plan_launch(*claim, context);
  MW_CO_TRY(made, std::move(planned));
  const auto plan = std::make_shared<const LaunchPlan>(std::move(made));
  for (int tried = 0;; ++tried) {
    auto ensured = co_await ensure_templates(claim, node_class, plan, cluster);
    MW_CO_TRY(templates, std::move(ensured));
    auto called = co_await call_fleet(claim, node_class, plan, templates);
    const bool missing =
        called ? called->instance_id.empty() &&
                     std::any_of(called->errors.begin(), called->errors.end(),
                                 [](const auto& e) { return is_missing_template(e.code); })
               : is_missing_template(called.error().code);
    if (missing && tried == 0) {
      for (const auto& name : templates) {
        templates_.erase(name);  // somebody deleted it: make it again, once
      }
      continue;
    }
    if (!called && called.error().code == kMismatch) {
      // The token was used with another plan: that call was accepted, its answer was lost.
      auto found = co_await find_by_claim(claim, kAdoptionTries);
      if (!found) {
        co_return base::fail(ErrorKind::Unavailable,
                             "NodeClaim " + claim->meta.name +
                                 ": an earlier launch was accepted but its instance is not "
                                 "visible yet; asking again");
      }
      co_return Launched{found->id, found->type, found->zone,
                         std::string(found->is_spot ? model::kSpot : model::kOnDemand),
                         found->image_id};
    }
    if (!called) {
      co_return base::with_context("NodeClaim " + claim->meta.name, std::move(called).error());
    }
    note_errors(*called, plan->capacity_type);
    if (called->instance_id.empty()) {
      co_return tl::unexpected(explain(*claim, *called));
    }
    if (!called->subnet.empty()) {
      parts_.resolver.take_address(called->subnet);
    }
    Launched launched{called->instance_id, called->type, called->zone, plan->capacity_type, {}};
    for (const auto& group : plan->groups) {
      for (const auto& option : group.options) {
        if (option.type == launched.type) {
          launched.image_id = group.image_id;
        }
      }
    }
    co_return launched;
  }
}

base::Task<base::Result<Ec2Instance>> Launcher::find_by_claim(ClaimPtr claim, int tries) {
  const std::vector<Filter> filters{
      {"tag:" + std::string(kClaimUidTag), {claim->meta.uid}},
      {"tag:" + std::string(kClusterTag), {parts_.cluster_name}},
      {"instance-state-name", {living_states().begin(), living_states().end()}}};
  for (int tried = 1; tried <= tries; ++tried) {
    auto answered = co_await ec2_.instances(filters);
    MW_CO_TRY(found, std::move(answered));
    const auto alive = std::find_if(found.begin(), found.end(),
                                    [](const auto& each) { return !each.is_terminating(); });
    if (alive != found.end()) {
      co_return *alive;
    }
    if (!found.empty()) {
      co_return found.front();
    }
    if (tried < tries) {
      co_await base::sleep(parts_.api.loop(), kAdoptionPause);
    }
  }
  co_return base::fail(ErrorKind::NotFound, "NodeClaim " + claim->meta.name + " has no instance");
}

base::Task<void> Launcher::collect_templates() {
  const std::vector<Filter> filters{{"tag:" + std::string(kClusterTag), {parts_.cluster_name}}};
  auto listed = co_await ec2_.launch_templates(filters);
  if (!listed) {
    parts_.log.warn("listing launch templates failed", {{"error", listed.error().message}});
    co_return;
  }
  const auto now = parts_.api.loop().now();
  for (const auto& name : *listed) {
    // One that this process has not seen used is given its time from now on.
    const auto [known, added] = templates_.emplace(name, now);
    if (!name.starts_with("karpenter.k8s.aws/") || now - known->second < kTemplateUnused) {
      continue;
    }
    templates_.erase(known);  // before the call: a launch meanwhile makes it again
    auto deleted = co_await ec2_.delete_launch_template(name);
    if (!deleted && deleted.error().kind != ErrorKind::NotFound) {
      parts_.log.warn("deleting a launch template failed", {{"error", deleted.error().message}});
    }
  }
}

base::Task<ApiResult<>> Launcher::delete_templates_of(std::string node_class) {
  const std::vector<Filter> filters{{"tag:" + std::string(kClusterTag), {parts_.cluster_name}},
                                    {"tag:" + std::string(kNodeClassLabel), {node_class}}};
  auto listed = co_await ec2_.launch_templates(filters);
  MW_CO_TRY(names, std::move(listed));
  for (const auto& name : names) {
    templates_.erase(name);
    auto deleted = co_await ec2_.delete_launch_template(name);
    if (!deleted && deleted.error().kind != ErrorKind::NotFound) {
      co_return deleted;
    }
  }
  co_return ApiResult<>{};
}

}  // namespace millwright::cloud::aws
