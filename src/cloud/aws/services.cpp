#include "cloud/aws/services.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::aws {
namespace {

namespace json = boost::json;
using base::ErrorKind;

constexpr std::string_view kIamVersion = "2010-05-08";
constexpr int kMaxPages = 500;

std::string text_at(const json::value& value, std::string_view path) {
  const auto* found = model::find_path(value, path);
  return found == nullptr || !found->is_string() ? std::string() : std::string(found->get_string());
}

json::object product_filter(std::string_view field, std::string_view value) {
  return {{"Type", "TERM_MATCH"}, {"Field", field}, {"Value", value}};
}

// One page of one product family.
json::object price_query(std::string_view region, bool bare_metal, const std::string& token) {
  json::array filters{product_filter("regionCode", region),
                      product_filter("serviceCode", "AmazonEC2"),
                      product_filter("preInstalledSw", "NA"),
                      product_filter("operatingSystem", "Linux"),
                      product_filter("capacitystatus", "Used"),
                      product_filter("marketoption", "OnDemand"),
                      product_filter("tenancy", bare_metal ? "Dedicated" : "Shared"),
                      product_filter("productFamily", bare_metal ? "Compute Instance (bare metal)"
                                                                 : "Compute Instance")};
  json::object body{{"ServiceCode", "AmazonEC2"}, {"MaxResults", 100}};
  body["Filters"] = std::move(filters);
  if (!token.empty()) {
    body["NextToken"] = token;
  }
  return body;
}

void read_prices(const json::value& page, std::string_view currency, PriceTable& prices) {
  const auto* list = model::find_path(page, "PriceList");
  if (list == nullptr || !list->is_array()) {
    return;
  }
  for (const auto& product : list->get_array()) {
    if (product.is_string()) {
      if (const auto read = read_product(std::string_view(product.get_string()), currency)) {
        prices[read->instance_type] = read->price;
      }
    }
  }
}

Form iam_form(std::string_view action, std::string_view profile) {
  Form form(action, kIamVersion);
  form.add("InstanceProfileName", profile);
  return form;
}

base::Task<ApiResult<>> iam(Api& api, Form form) {
  auto answered = co_await api.query(Service::Iam, std::move(form));
  if (!answered) {
    co_return tl::unexpected(std::move(answered).error());
  }
  co_return ApiResult<>{};
}

base::Task<ApiResult<>> change_role(Api& api, std::string action, std::string profile,
                                    std::string role) {
  Form form = iam_form(action, profile);
  form.add("RoleName", role);
  auto done = co_await iam(api, std::move(form));
  co_return done;
}

// The role in the profile; empty when it has none. NotFound: there is no such profile.
base::Task<ApiResult<std::string>> role_of_profile(Api& api, std::string name) {
  Form form = iam_form("GetInstanceProfile", name);
  auto answered = co_await api.query(Service::Iam, std::move(form));
  MW_CO_TRY(root, std::move(answered));
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
    co_return ApiResult<>{};  // another replica was first
  }
  co_return done;
}

}  // namespace

base::Task<ApiResult<std::string>> get_parameter(Api& api, std::string name) {
  json::value body{{"Name", name}};
  auto answered = co_await api.json(Service::Ssm, "GetParameter", std::move(body));
  MW_CO_TRY(answer, std::move(answered));
  co_return text_at(answer, "Parameter.Value");
}

base::Task<ApiResult<ClusterFacts>> describe_cluster(Api& api, std::string name) {
  auto answered =
      co_await api.get(Service::Eks, "DescribeCluster", "/clusters/" + net::url_encode(name));
  MW_CO_TRY(answer, std::move(answered));
  ClusterFacts facts;
  facts.name = name;
  facts.arn = text_at(answer, "cluster.arn");
  facts.endpoint = text_at(answer, "cluster.endpoint");
  facts.ca_bundle = text_at(answer, "cluster.certificateAuthority.data");
  facts.version = text_at(answer, "cluster.version");
  const std::string network = "cluster.kubernetesNetworkConfig.";
  facts.ipv6 = text_at(answer, network + "ipFamily") == "ipv6";
  facts.service_cidr =
      text_at(answer, network + (facts.ipv6 ? "serviceIpv6Cidr" : "serviceIpv4Cidr"));
  co_return facts;
}

base::Task<ApiResult<PriceTable>> list_prices(Api& api) {
  const auto& region = api.endpoints().region();
  const std::string_view currency = api.endpoints().partition() == "aws-cn" ? "CNY" : "USD";
  PriceTable prices;
  for (int family = 0; family < 2; ++family) {
    const bool bare_metal = family == 1;
    std::string token;
    for (int page = 0; page < kMaxPages; ++page) {
      json::value body = price_query(region, bare_metal, token);
      auto answered = co_await api.json(Service::Pricing, "GetProducts", std::move(body));
      MW_CO_TRY(answer, std::move(answered));
      read_prices(answer, currency, prices);
      const auto next = json_text(answer, "NextToken");
      if (next.empty() || next == token) {
        break;
      }
      token = next;
    }
  }
  co_return prices;
}

base::Task<ApiResult<>> ensure_instance_profile(Api& api, ProfileRequest request) {
  auto present = co_await role_of_profile(api, request.name);
  if (!present && present.error().kind != ErrorKind::NotFound) {
    co_return tl::unexpected(std::move(present).error());
  }
  if (!present) {
    auto created = co_await create_profile(api, request);
    if (!created) {
      co_return created;
    }
  }
  const std::string role = present ? *present : "";
  if (role == request.role) {
    co_return ApiResult<>{};
  }
  if (!role.empty()) {
    auto removed = co_await change_role(api, "RemoveRoleFromInstanceProfile", request.name, role);
    if (!removed && removed.error().kind != ErrorKind::NotFound) {
      co_return removed;
    }
  }
  auto added = co_await change_role(api, "AddRoleToInstanceProfile", request.name, request.role);
  co_return added;
}

base::Task<ApiResult<std::vector<std::string>>> instance_profiles(Api& api, std::string path) {
  std::vector<std::string> names;
  std::string marker;
  for (int page = 0; page < kMaxPages; ++page) {
    Form form("ListInstanceProfiles", kIamVersion);
    form.add("PathPrefix", path);
    if (!marker.empty()) {
      form.add("Marker", marker);
    }
    auto answered = co_await api.query(Service::Iam, std::move(form));
    MW_CO_TRY(root, std::move(answered));
    const auto& result = root.child("ListInstanceProfilesResult");
    for (const auto& profile : result.items("InstanceProfiles")) {
      names.push_back(profile.text_of("InstanceProfileName"));
    }
    marker = result.text_of("Marker");
    if (!result.is_true("IsTruncated") || marker.empty()) {
      break;
    }
  }
  co_return names;
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
