// Dry runs of launches: EC2 answers DryRunOperation to a call that it would carry out, and
// UnauthorizedOperation to one that the controller's role does not allow.
#include "cloud/aws/launch/launcher.hpp"

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

// The NodePool tag of the dry run's launch template, which belongs to no pool.
constexpr std::string_view kNoPool = "dry-run";

// A claim that any machine of the class meets.
ClaimPtr any_claim(const model::NodeClass& node_class) {
  auto claim = std::make_shared<model::NodeClaim>();
  claim->meta.name = "dry-run-of-" + node_class.meta.name;
  claim->meta.uid = node_class.meta.uid;
  claim->meta.labels[std::string(model::kNodePoolLabel)] = kNoPool;
  claim->node_class_ref.name = node_class.meta.name;
  claim->requirements = {{.key = std::string(model::kCapacityTypeLabel),
                          .op = model::Operator::In,
                          .values = {std::string(model::kOnDemand)}}};
  return claim;
}

DryRun refused(std::string reason, std::string_view action, const base::Error& error) {
  DryRun result;
  result.reason = std::move(reason);
  result.message =
      "the controller may not call ec2:" + std::string(action) +
      " for this class; compare its role with the policy in docs/aws.md: " + error.message;
  return result;
}

// The RunInstances call that the fleet would make in one subnet.
Form run_form(const std::string& launch_template, const LaunchOption& option,
              const std::string& subnet, const std::string& image, const model::StringMap& tags) {
  Form form("RunInstances", kEc2Version);
  form.add("DryRun", true).add("MinCount", 1).add("MaxCount", 1);
  form.add("LaunchTemplate.LaunchTemplateName", launch_template);
  form.add("LaunchTemplate.Version", "$Latest");
  form.add("InstanceType", option.type).add("ImageId", image).add("SubnetId", subnet);
  int position = 0;
  for (const std::string_view resource : {"instance", "volume"}) {
    const auto prefix = "TagSpecification." + std::to_string(++position);
    form.add(prefix + ".ResourceType", resource);
    int number = 0;
    for (const auto& [key, value] : tags) {
      const auto tag = prefix + ".Tag." + std::to_string(++number);
      form.add(tag + ".Key", key).add(tag + ".Value", value);
    }
  }
  return form;
}

// Only a missing permission counts. Other refusals (a quota, a zone without the type) may be over
// when a launch comes.
bool is_refused(const ApiResult<XmlNode>& answer) {
  return !answer && answer.error().kind == base::ErrorKind::Denied;
}
bool is_inconclusive(const ApiResult<XmlNode>& answer) {
  using base::ErrorKind;
  return !answer && (answer.error().kind == ErrorKind::Throttled ||
                     answer.error().kind == ErrorKind::Unavailable ||
                     answer.error().kind == ErrorKind::Timeout);
}

}  // namespace

base::Task<base::Result<DryRun>> Launcher::dry_run(NodeClassPtr node_class, ClusterFacts cluster) {
  const auto claim = any_claim(*node_class);
  MW_CO_TRY(planned, plan(*claim, *node_class));
  planned.groups.resize(1);  // one image; all of them are launched alike
  const auto shared_plan = std::make_shared<const LaunchPlan>(std::move(planned));
  auto templates = co_await ensure_templates(claim, node_class, shared_plan, std::move(cluster));
  if (!templates && templates.error().kind == base::ErrorKind::Denied) {
    co_return refused("CreateLaunchTemplateAuthCheckFailed", "CreateLaunchTemplate",
                      templates.error());
  }
  MW_CO_CHECK(templates);

  const auto spec = read_spec(*node_class);
  const auto tags = owned_tags(spec, parts_.cluster_name, std::string(kNoPool));
  FleetRequest request{.plan = *shared_plan,
                       .templates = *templates,
                       .tags = tags,
                       .context = spec.context,
                       .client_token = "dry-run-" + node_class->meta.uid};
  Form fleet = fleet_form(request);
  fleet.add("DryRun", true);
  auto answered = co_await ec2_.create_fleet(std::move(fleet));
  if (is_refused(answered)) {
    co_return refused("CreateFleetAuthCheckFailed", "CreateFleet", answered.error());
  }
  if (is_inconclusive(answered)) {
    co_return tl::unexpected<base::Error>(std::move(answered).error());
  }
  co_return co_await dry_run_instances(node_class, shared_plan, templates->front());
}

// The role may be allowed one subnet and not another: asks for each that the plan can use.
base::Task<base::Result<DryRun>> Launcher::dry_run_instances(NodeClassPtr node_class,
                                                             std::shared_ptr<const LaunchPlan> plan,
                                                             std::string launch_template) {
  const auto tags = owned_tags(read_spec(*node_class), parts_.cluster_name, std::string(kNoPool));
  const auto& group = plan->groups.front();
  for (const auto& subnet : read_status(*node_class).subnets) {
    const auto option = std::find_if(group.options.begin(), group.options.end(),
                                     [&](const auto& each) { return each.zone == subnet.zone; });
    if (option == group.options.end()) {
      continue;
    }
    Form form = run_form(launch_template, *option, subnet.id, group.image_id, tags);
    auto answered = co_await ec2_.run_instances(std::move(form));
    if (is_refused(answered)) {
      co_return refused("RunInstancesAuthCheckFailed", "RunInstances", answered.error());
    }
    if (is_inconclusive(answered)) {
      co_return tl::unexpected<base::Error>(std::move(answered).error());
    }
  }
  DryRun success;
  co_return success;
}

}  // namespace millwright::cloud::aws
