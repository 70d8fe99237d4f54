#include "sandbox/apiserver/showing/discovery.hpp"

#include "sandbox/apiserver/rest/errors.hpp"
#include "sandbox/apiserver/rest/rest.hpp"
#include "sandbox/apiserver/store/resources.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::sandbox {

namespace {

using boost::json::array;
using boost::json::object;

array verbs_of_object() {
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

object entry(const ResourceInfo& info, std::string_view suffix, std::string_view kind,
             array verbs) {
  std::string name(info.resource.plural);
  if (!suffix.empty()) {
    name.append("/").append(suffix);
  }
  return {{"name", name},
          {"singularName", suffix.empty() ? info.singular : std::string()},
          {"namespaced", info.resource.namespaced},
          {"kind", kind},
          {"verbs", std::move(verbs)}};
}

void add_resource(array& list, const ResourceInfo& info) {
  auto main = entry(info, {}, info.resource.kind, verbs_of_object());
  if (!info.short_names.empty()) {
    main["shortNames"] = array(info.short_names.begin(), info.short_names.end());
  }
  if (!info.categories.empty()) {
    main["categories"] = array(info.categories.begin(), info.categories.end());
  }
  list.push_back(std::move(main));
  if (info.has_status) {
    list.push_back(entry(info, "status", info.resource.kind, {"get", "patch", "update"}));
  }
  if (info.has_scale) {
    auto scale = entry(info, "scale", "Scale", {"get", "patch", "update"});
    scale["group"] = "autoscaling";
    scale["version"] = "v1";
    list.push_back(std::move(scale));
  }
  if (info.resource.kind == "Pod") {
    auto eviction = entry(info, "eviction", "Eviction", {"create"});
    eviction["group"] = "policy";
    eviction["version"] = "v1";
    list.push_back(std::move(eviction));
    list.push_back(entry(info, "binding", "Binding", {"create"}));
    list.push_back(entry(info, "log", "Pod", {"get"}));
  }
  if (info.resource.kind == "Namespace") {
    list.push_back(entry(info, "finalize", "Namespace", {"update"}));
  }
}

net::Response json_response(const object& body) {
  return net::Response::json(200, boost::json::serialize(body));
}

std::string group_version(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

net::Response resource_list(std::string_view group, std::string_view version) {
  array list;
  for (const auto& info : all_infos()) {
    if (info.resource.group == group && info.resource.version == version) {
      add_resource(list, info);
    }
  }
  if (list.empty()) {
    return error_response(no_such_path().value());
  }
  return json_response({{"kind", "APIResourceList"},
                        {"apiVersion", "v1"},
                        {"groupVersion", group_version(group, version)},
                        {"resources", std::move(list)}});
}

// Groups in the order of the resources; within a group stable versions come first.
object group_entry(std::string_view group) {
  std::vector<std::string_view> versions;
  for (const auto& info : all_infos()) {
    if (info.resource.group == group &&
        std::find(versions.begin(), versions.end(), info.resource.version) == versions.end()) {
      versions.push_back(info.resource.version);
    }
  }
  std::stable_sort(versions.begin(), versions.end(), [](std::string_view a, std::string_view b) {
    const auto unstable = [](std::string_view v) {
      return v.find("alpha") != std::string_view::npos || v.find("beta") != std::string_view::npos;
    };
    return !unstable(a) && unstable(b);
  });
  array list;
  for (const auto version : versions) {
    list.push_back(object{{"groupVersion", group_version(group, version)}, {"version", version}});
  }
  const auto preferred = list.empty() ? boost::json::value() : list.front();
  return {{"name", group}, {"versions", std::move(list)}, {"preferredVersion", preferred}};
}

net::Response group_list() {
  array groups;
  std::vector<std::string_view> seen;
  for (const auto& info : all_infos()) {
    const auto group = info.resource.group;
    if (!group.empty() && std::find(seen.begin(), seen.end(), group) == seen.end()) {
      seen.push_back(group);
      groups.push_back(group_entry(group));
    }
  }
  return json_response(
      {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}});
}

net::Response one_group(std::string_view group) {
  auto body = group_entry(group);
  if (body["versions"].as_array().empty()) {
    return error_response(no_such_path().value());
  }
  body["kind"] = "APIGroup";
  body["apiVersion"] = "v1";
  return json_response(body);
}

net::Response version_info(const std::string& git_version) {
  // "v1.32.4" -> major 1, minor 32
  const auto dot = git_version.find('.');
  const auto second = git_version.find('.', dot + 1);
  return json_response({{"major", git_version.substr(1, dot - 1)},
                        {"minor", git_version.substr(dot + 1, second - dot - 1)},
                        {"gitVersion", git_version},
                        {"gitCommit", ""},
                        {"gitTreeState", "clean"},
                        {"buildDate", "1970-01-01T00:00:00Z"},
                        {"goVersion", "none"},
                        {"compiler", "none"},
                        {"platform", "linux/amd64"}});
}

}  // namespace

std::optional<net::Response> serve_discovery(const net::Request& request,
                                             const std::string& git_version) {
  auto path = request.path();
  while (path.size() > 1 && path.ends_with('/')) {
    path.remove_suffix(1);
  }
  if (path == "/healthz" || path == "/livez" || path == "/readyz") {
    return net::Response::text(200, "ok");
  }
  if (path == "/version") {
    return version_info(git_version);
  }
  if (path == "/api") {
    return json_response({{"kind", "APIVersions"},
                          {"versions", array{"v1"}},
                          {"serverAddressByClientCIDRs", array{}}});
  }
  if (path == "/api/v1") {
    return resource_list({}, "v1");
  }
  if (path == "/apis") {
    return group_list();
  }
  if (path.starts_with("/openapi/")) {
    return serve_openapi(request);
  }
  if (path.starts_with("/apis/")) {
    const auto rest = path.substr(6);
    const auto slash = rest.find('/');
    if (slash == std::string_view::npos) {
      return one_group(rest);
    }
    const auto version = rest.substr(slash + 1);
    if (version.find('/') == std::string_view::npos) {
      return resource_list(rest.substr(0, slash), version);
    }
  }
  if (path == "/") {
    return json_response(
        {{"paths", array{"/api", "/apis", "/healthz", "/openapi/v2", "/openapi/v3", "/version"}}});
  }
  return std::nullopt;
}

}  // namespace millwright::sandbox
