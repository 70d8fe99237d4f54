#include "cloud/aws/node_class/instance_profiles.hpp"

#include "cloud/aws/calls/services.hpp"
#include "cloud/aws/catalog/type_labels.hpp"
#include "cloud/aws/launch/launch_request.hpp"
#include "cloud/common/text/digest.hpp"

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

constexpr base::Duration kProfileKept = std::chrono::minutes(15);
// A launch with the profile may be under way, and EC2 shows new instances late. Karpenter's.
constexpr base::Duration kUnusedFor = std::chrono::hours(1);

// The role, or our permission to pass it, is wrong: asking again changes nothing.
bool is_refusal(ErrorKind kind) {
  return kind == ErrorKind::NotFound || kind == ErrorKind::Denied || kind == ErrorKind::Invalid;
}

}  // namespace

std::string InstanceProfiles::path_of(const model::NodeClass& node_class) const {
  return "/karpenter/" + api_.endpoints().region() + "/" + cluster_name_ + "/" +
         node_class.meta.uid + "/";
}

std::string InstanceProfiles::name_for(const NodeClassSpec& spec) const {
  const auto seed = api_.endpoints().region() + "/" + spec.name + "/" + spec.uid + "/" + spec.role;
  return cluster_name_.substr(0, 100) + "_" + to_hex(sha256(seed)).substr(0, 16);
}

base::Task<ApiResult<InstanceProfiles::Profile>> InstanceProfiles::ensure(NodeClassPtr node_class) {
  Profile profile;
  const auto spec = read_spec(*node_class);
  if (spec.role.empty()) {
    profile.name = spec.instance_profile;
    co_return profile;
  }
  ProfileRequest request;
  request.name = name_for(spec);
  request.path = path_of(*node_class);
  request.role = spec.role;
  request.tags = spec.tags;
  request.tags["kubernetes.io/cluster/" + cluster_name_] = "owned";
  request.tags[std::string(kClusterTag)] = cluster_name_;
  request.tags[std::string(kNodeClassLabel)] = spec.name;
  request.tags[std::string(model::kRegionLabel)] = api_.endpoints().region();
  profile.name = request.name;
  const auto now = api_.loop().now();
  if (const auto checked = checked_.find(request.name);
      checked != checked_.end() && now < checked->second) {
    co_return profile;
  }
  auto done = co_await ensure_instance_profile(api_, request);
  if (!done && is_refusal(done.error().kind)) {
    profile.name.clear();
    profile.problem = "spec.role \"" + spec.role + "\": " + done.error().message;
    co_return profile;
  }
  MW_CO_CHECK(done);
  checked_[request.name] = now + kProfileKept;
  co_await collect(node_class, request.name);
  co_return profile;
}

// When a call fails, the profiles stay until the next time, or until the class goes.
base::Task<void> InstanceProfiles::collect(NodeClassPtr node_class, std::string current) {
  unused_.erase(current);
  const auto found = co_await instance_profiles(api_, path_of(*node_class));
  if (!found) {
    co_return;
  }
  for (const auto& profile : *found) {
    if (profile.name == current) {
      continue;
    }
    const auto used = co_await is_used(profile.arn);
    if (!used || *used) {
      unused_.erase(profile.name);
      continue;
    }
    const auto now = api_.loop().now();
    const auto since = unused_.try_emplace(profile.name, now).first->second;
    if (now - since < kUnusedFor) {
      continue;
    }
    if (const auto deleted = co_await delete_instance_profile(api_, profile.name); deleted) {
      unused_.erase(profile.name);
      checked_.erase(profile.name);
    }
  }
}

base::Task<ApiResult<bool>> InstanceProfiles::is_used(std::string arn) {
  if (arn.empty()) {
    co_return true;  // nobody can tell
  }
  const std::vector<Filter> filters{
      {"iam-instance-profile.arn", {std::move(arn)}},
      {"instance-state-name", {living_states().begin(), living_states().end()}}};
  MW_CO_TRY(instances, co_await ec2_.instances(filters));
  co_return !instances.empty();
}

base::Task<ApiResult<>> InstanceProfiles::remove_all_of(NodeClassPtr node_class) {
  MW_CO_TRY(found, co_await instance_profiles(api_, path_of(*node_class)));
  for (const auto& profile : found) {
    MW_CO_CHECK(co_await delete_instance_profile(api_, profile.name));
    checked_.erase(profile.name);
    unused_.erase(profile.name);
  }
  co_return ApiResult<>{};
}

}  // namespace millwright::cloud::aws
