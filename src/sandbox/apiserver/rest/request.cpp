#include "sandbox/apiserver/rest/request.hpp"

#include "millwright/model/codec.hpp"
#include "sandbox/apiserver/showing/protobuf.hpp"

#include <boost/json.hpp>

#include <vector>

namespace millwright::sandbox {

namespace {

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> segments;
  while (!path.empty()) {
    const auto slash = path.find('/');
    if (slash != 0) {
      segments.push_back(net::url_decode(path.substr(0, slash)));
    }
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
  }
  return segments;
}

// The first acceptable form in the Accept header; a real server prefers in the given order too.
Form accepted_form(std::string_view accept) {
  while (!accept.empty()) {
    const auto comma = accept.find(',');
    const auto choice = accept.substr(0, comma);
    const bool is_json = choice.find("application/json") != std::string_view::npos;
    if (is_json && choice.find("as=Table") != std::string_view::npos) {
      // v1beta1 has the same shape but another version in the answer: not offered.
      if (choice.find("v=v1beta1") == std::string_view::npos) {
        return Form::Table;
      }
    } else if (is_json && choice.find("as=PartialObjectMetadata") != std::string_view::npos) {
      return Form::PartialMetadata;
    } else if (is_json) {
      return Form::Whole;
    }
    accept = comma == std::string_view::npos ? std::string_view{} : accept.substr(comma + 1);
  }
  return Form::Whole;
}

}  // namespace

bool RestRequest::flag(std::string_view name) const {
  const auto value = http.query(name);
  return value.has_value() && (*value == "true" || *value == "1" || value->empty());
}

std::string RestRequest::parameter(std::string_view name) const {
  return http.query(name).value_or(std::string());
}

ApiResult<RestRequest> parse_rest(net::Request http) {
  auto segments = split_path(http.path());
  RestRequest request;
  std::size_t at = 0;
  std::string group;
  std::string version;
  if (segments.size() >= 3 && segments[0] == "api" && segments[1] == "v1") {
    version = "v1";
    at = 2;
  } else if (segments.size() >= 4 && segments[0] == "apis") {
    group = segments[1];
    version = segments[2];
    at = 3;
  } else {
    return no_such_path();
  }
  const auto rest = segments.size() - at;
  const bool in_namespace = segments[at] == "namespaces" && rest >= 3 &&
                            segments[at + 2] != "status" && segments[at + 2] != "finalize";
  if (in_namespace) {
    request.key.namespace_ = segments[at + 1];
    at += 2;
  }
  request.info = find_info(group, version, segments[at]);
  if (request.info == nullptr || segments.size() > at + 3 ||
      (in_namespace && !request.info->resource.namespaced)) {
    return no_such_path();
  }
  if (segments.size() > at + 1) {
    request.key.name = segments[at + 1];
    if (request.info->resource.namespaced && !in_namespace) {
      return no_such_path();
    }
  }
  if (segments.size() > at + 2) {
    request.subresource = segments[at + 2];
  }
  request.form = accepted_form(http.headers.get("Accept"));
  request.http = std::move(http);
  return request;
}

ApiResult<Json> parse_body(const RestRequest& request) {
  const auto& body = request.http.body;
  const auto type = request.http.headers.get("Content-Type");
  if (body.empty()) {
    return Json();
  }
  if (type.find("yaml") != std::string_view::npos) {
    auto documents = model::parse_yaml(body);
    if (!documents) {
      return bad_request("the body of the request is not YAML: " + documents.error().message);
    }
    if (documents->size() != 1) {
      return bad_request("the body of the request must hold one YAML document");
    }
    return std::move(documents->front());
  }
  if (type.find("vnd.kubernetes.protobuf") != std::string_view::npos) {
    return decode_protobuf(body);
  }
  if (!type.empty() && type.find("json") == std::string_view::npos) {
    return unsupported_media_type(type);
  }
  auto parsed = model::parse_json(body);
  if (!parsed) {
    return bad_request("the body of the request is not JSON: " + parsed.error().message);
  }
  return *std::move(parsed);
}

}  // namespace millwright::sandbox
