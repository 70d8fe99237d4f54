#include "cloud/aws/calls/services.hpp"

#include "millwright/model/json_fields.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::aws {
namespace {

namespace json = boost::json;
using base::ErrorKind;

constexpr std::string_view kIamVersion = "2010-05-08";

Form iam_form(std::string_view action, std::string_view profile) {
  Form form(action, kIamVersion);
  form.add("InstanceProfileName", profile);
  return form;
}

base::Task<ApiResult<>> iam(Api& api, Form form) {
  MW_CO_CHECK(co_await api.query(Service::Iam, std::move(form)));
  co_return ApiResult<>{};
}

base::Task<ApiResult<>> change_role(Api& api, std::string action, std::string profile,
                                    std::string role) {
  Form form = iam_form(action, profile);
  form.add("RoleName", role);
  co_return co_await iam(api, std::move(form));
}

// The role in the profile; empty when it has none. NotFound: there is no such profile.
base::Task<ApiResult<std::string>> role_of_profile(Api& api, std::string name) {
  Form form = iam_form("GetInstanceProfile", name);
  MW_CO_TRY(root, co_await api.query(Service::Iam, std::move(form)));
  const auto& profile = root.child("GetInstanceProfileResult").child("InstanceProfile");
  const auto roles = profile.items("Roles");
  co_return roles.empty() ? std::string() : roles.front().text_of("RoleName");
}

base::Task<ApiResult<>> create_profile(Api& api, ProfileRequest request) {
  Form form = iam_form("CreateInstanceProfile", request.name);
  form.add("Path", request.path);
  int position = 0;
  for (const auto& [key, value] : request.tags) {
    const auto prefix = "Tags.member." + std::to_string(++position);
    form.add(prefix + ".Key", key).add(prefix + ".Value", value);
  }
  auto done = co_await iam(api, std::move(form));
  if (!done && done.error().kind == ErrorKind::Exists) {
    co_return ApiResult<>{};  // another replica created it
  }
  co_return done;
}

}  // namespace

base::Task<ApiResult<std::string>> get_parameter(Api& api, std::string name) {
  json::value body{{"Name", name}};
  MW_CO_TRY(answer, co_await api.json(Service::Ssm, "GetParameter", std::move(body)));
  co_return std::string(model::text_at(answer, "Parameter.Value"));
}

base::Task<ApiResult<ClusterFacts>> describe_cluster(Api& api, std::string name) {
  MW_CO_TRY(answer, co_await api.get(Service::Eks, "DescribeCluster",
                                     "/clusters/" + net::url_encode(name)));
  ClusterFacts facts;
  facts.name = name;
  facts.arn = model::text_at(answer, "cluster.arn");
  facts.endpoint = model::text_at(answer, "cluster.endpoint");
  facts.ca_bundle = model::text_at(answer, "cluster.certificateAuthority.data");
  facts.version = model::text_at(answer, "cluster.version");
  const std::string network = "cluster.kubernetesNetworkConfig.";
  facts.ipv6 = model::text_at(answer, network + "ipFamily") == "ipv6";
  facts.service_cidr =
      model::text_at(answer, network + (facts.ipv6 ? "serviceIpv6Cidr" : "serviceIpv4Cidr"));
  co_return facts;
}

base::Task<ApiResult<>> ensure_instance_profile(Api& api, ProfileRequest request) {
  auto present = co_await role_of_profile(api, request.name);
  if (!present && present.error().kind != ErrorKind::NotFound) {
    co_return tl::unexpected(std::move(present).error());
  }
  if (!present) {
    MW_CO_CHECK(co_await create_profile(api, request));
  }
  const std::string role = present ? *present : "";
  if (role == request.role) {
    co_return ApiResult<>{};
  }
  if (!role.empty()) {
    // Instances may run with the profile. Without their role they could do nothing any more.
    ApiError error;
    error.kind = ErrorKind::Invalid;
    error.message = "instance profile " + request.name + " has the role \"" + role +
                    "\"; delete that profile once no instance uses it";
    co_return tl::unexpected(std::move(error));
  }
  co_return co_await change_role(api, "AddRoleToInstanceProfile", request.name, request.role);
}

base::Task<ApiResult<std::vector<ProfileFound>>> instance_profiles(Api& api, std::string path) {
  std::vector<ProfileFound> found;
  std::string marker;
  for (int page = 0; page < kMaxPages; ++page) {
    Form form("ListInstanceProfiles", kIamVersion);
    form.add("PathPrefix", path);
    if (!marker.empty()) {
      form.add("Marker", marker);
    }
    MW_CO_TRY(root, co_await api.query(Service::Iam, std::move(form)));
    const auto& result = root.child("ListInstanceProfilesResult");
    for (const auto& profile : result.items("InstanceProfiles")) {
      found.push_back({profile.text_of("InstanceProfileName"), profile.text_of("Arn")});
    }
    marker = result.text_of("Marker");
    if (!result.is_true("IsTruncated") || marker.empty()) {
      break;
    }
  }
  co_return found;
}

base::Task<ApiResult<>> delete_instance_profile(Api& api, std::string name) {
  auto present = co_await role_of_profile(api, name);
  if (!present && present.error().kind == ErrorKind::NotFound) {
    co_return ApiResult<>{};
  }
  MW_CO_TRY(role, std::move(present));
  if (!role.empty()) {
    auto removed = co_await change_role(api, "RemoveRoleFromInstanceProfile", name, role);
    if (!removed && removed.error().kind != ErrorKind::NotFound) {
      co_return removed;
    }
  }
  Form form = iam_form("DeleteInstanceProfile", name);
  auto deleted = co_await iam(api, std::move(form));
  if (!deleted && deleted.error().kind == ErrorKind::NotFound) {
    co_return ApiResult<>{};
  }
  co_return deleted;
}

}  // namespace millwright::cloud::aws
