#include "cloud/aws/node_class/instance_profiles.hpp"

#include "cloud/aws/calls/services.hpp"
#include "cloud/aws/catalog/type_labels.hpp"
#include "cloud/aws/launch/launch_request.hpp"
#include "cloud/common/text/digest.hpp"

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

constexpr base::Duration kProfileKept = std::chrono::minutes(15);

// The role, or our permission to pass it, is wrong: asking again changes nothing.
bool is_refusal(ErrorKind kind) {
  return kind == ErrorKind::NotFound || kind == ErrorKind::Denied || kind == ErrorKind::Invalid;
}

}  // namespace

std::string InstanceProfiles::path_of(const model::NodeClass& node_class) const {
  return "/karpenter/" + api_.endpoints().region() + "/" + cluster_name_ + "/" +
         node_class.meta.uid + "/";
}

base::Task<ApiResult<InstanceProfiles::Profile>> InstanceProfiles::ensure(NodeClassPtr node_class) {
  Profile profile;
  const auto spec = read_spec(*node_class);
  if (spec.role.empty()) {
    profile.name = spec.instance_profile;
    co_return profile;
  }
  const auto seed = api_.endpoints().region() + "/" + spec.name + "/" + spec.uid;
  const auto suffix = to_hex(sha256(seed)).substr(0, 16);
  ProfileRequest request;
  request.name = cluster_name_.substr(0, 100) + "_" + suffix;
  request.path = path_of(*node_class);
  request.role = spec.role;
  request.tags = spec.tags;
  request.tags["kubernetes.io/cluster/" + cluster_name_] = "owned";
  request.tags[std::string(kClusterTag)] = cluster_name_;
  request.tags[std::string(kNodeClassLabel)] = spec.name;
  request.tags[std::string(model::kRegionLabel)] = api_.endpoints().region();
  profile.name = request.name;
  const auto now = api_.loop().now();
  if (const auto checked = checked_.find(request.name); checked != checked_.end() &&
                                                        checked->second.role == spec.role &&
                                                        now < checked->second.until) {
    co_return profile;
  }
  auto done = co_await ensure_instance_profile(api_, request);
  if (!done && is_refusal(done.error().kind)) {
    profile.name.clear();
    profile.problem = "spec.role \"" + spec.role + "\": " + done.error().message;
    co_return profile;
  }
  MW_CO_CHECK(done);
  checked_[request.name] = {spec.role, now + kProfileKept};
  co_return profile;
}

base::Task<ApiResult<>> InstanceProfiles::remove_all_of(NodeClassPtr node_class) {
  MW_CO_TRY(names, co_await instance_profiles(api_, path_of(*node_class)));
  for (const auto& name : names) {
    MW_CO_CHECK(co_await delete_instance_profile(api_, name));
  }
  co_return ApiResult<>{};
}

}  // namespace millwright::cloud::aws
