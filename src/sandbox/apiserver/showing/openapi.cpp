// OpenAPI, as little as keeps clients content: stock kubectl looks in it for one thing, whether a
// kind's PATCH takes the fieldValidation and dryRun parameters, and then leaves the rest to the
// server. Older kubectl asks for the protobuf form and skips validation of kinds without a schema.
#include "sandbox/apiserver/rest/errors.hpp"
#include "sandbox/apiserver/rest/rest.hpp"
#include "sandbox/apiserver/showing/discovery.hpp"

#include <boost/json.hpp>

#include <set>

namespace millwright::sandbox {

namespace {

using boost::json::array;
using boost::json::object;

std::string root_of(const model::Resource& resource) {
  return resource.group.empty()
             ? "api/v1"
             : "apis/" + std::string(resource.group) + "/" + std::string(resource.version);
}

object parameter(std::string_view name) {
  return {{"name", name},
          {"in", "query"},
          {"schema", object{{"type", "string"}, {"uniqueItems", true}}}};
}

object operation(const model::Resource& resource, std::string_view action) {
  return {
      {"x-kubernetes-action", action},
      {"x-kubernetes-group-version-kind",
       object{{"group", resource.group}, {"version", resource.version}, {"kind", resource.kind}}},
      {"parameters",
       array{parameter("dryRun"), parameter("fieldManager"), parameter("fieldValidation")}},
      {"responses", object{{"200", object{{"description", "OK"}}}}}};
}

object paths_of(std::string_view root) {
  object paths;
  for (const auto& info : all_infos()) {
    if (root_of(info.resource) != root) {
      continue;
    }
    auto path = "/" + std::string(root);
    if (info.resource.namespaced) {
      path += "/namespaces/{namespace}";
    }
    path += "/" + std::string(info.resource.plural);
    paths[path] = object{{"post", operation(info.resource, "post")}};
    paths[path + "/{name}"] = object{{"put", operation(info.resource, "put")},
                                     {"patch", operation(info.resource, "patch")}};
  }
  return paths;
}

object info_block() {
  return {{"title", "Kubernetes"}, {"version", "sandbox"}};
}

net::Response openapi_response(const object& body) {
  return net::Response::json(200, boost::json::serialize(body));
}

net::Response version_3_index() {
  object paths;
  for (const auto& info : all_infos()) {
    const auto root = root_of(info.resource);
    paths[root] = object{{"serverRelativeURL", "/openapi/v3/" + root + "?hash=1"}};
  }
  return openapi_response({{"paths", std::move(paths)}});
}

// One length-delimited protobuf field of a number below 16 (gnostic's OpenAPIv2.proto).
std::string field(unsigned number, const std::string& content) {
  std::string out(1, static_cast<char>(number << 3U | 2U));
  for (auto size = content.size();; size >>= 7U) {
    const bool more = size >= 0x80;
    out += static_cast<char>((size & 0x7FU) | (more ? 0x80U : 0U));
    if (!more) {
      return out + content;
    }
  }
}

// Document{paths 8{path 2{name 1, value 2{patch 8{parameters 8, vendor_extension 13}}}}}
std::string version_2_protobuf() {
  std::string paths;
  for (const auto& info : all_infos()) {
    std::string patch;
    for (const auto* name : {"dryRun", "fieldManager", "fieldValidation"}) {
      const auto query = field(2, "query") + field(4, name) + field(6, "string");
      patch += field(8, field(1, field(2, field(3, query))));
    }
    const object kind{{"group", info.resource.group},
                      {"version", info.resource.version},
                      {"kind", info.resource.kind}};
    patch += field(13, field(1, "x-kubernetes-group-version-kind") +
                           field(2, field(2, boost::json::serialize(kind))));
    const auto path = "/" + root_of(info.resource) + "/" + std::string(info.resource.plural);
    paths += field(2, field(1, path + "/{name}") + field(2, field(8, patch)));
  }
  return field(1, "2.0") + field(8, paths);
}

net::Response version_2(const net::Request& request) {
  if (request.headers.get("Accept").find("proto") != std::string_view::npos) {
    net::Response response;
    response.headers.set("Content-Type",
                         "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    response.body = version_2_protobuf();
    return response;
  }
  object paths;
  std::set<std::string> roots;
  for (const auto& info : all_infos()) {
    if (roots.insert(root_of(info.resource)).second) {
      for (auto& [path, operations] : paths_of(root_of(info.resource))) {
        paths[path] = operations;
      }
    }
  }
  return openapi_response({{"swagger", "2.0"},
                           {"info", info_block()},
                           {"paths", std::move(paths)},
                           {"definitions", object{}}});
}

}  // namespace

std::optional<net::Response> serve_openapi(const net::Request& request) {
  const auto path = request.path();
  if (path == "/openapi/v2") {
    return version_2(request);
  }
  if (path == "/openapi/v3") {
    return version_3_index();
  }
  constexpr std::string_view kPrefix = "/openapi/v3/";
  if (path.starts_with(kPrefix)) {
    auto paths = paths_of(path.substr(kPrefix.size()));
    if (!paths.empty()) {
      return openapi_response({{"openapi", "3.0.0"},
                               {"info", info_block()},
                               {"paths", std::move(paths)},
                               {"components", object{{"schemas", object{}}}}});
    }
  }
  return error_response(no_such_path().value());
}

}  // namespace millwright::sandbox
