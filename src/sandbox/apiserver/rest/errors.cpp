#include "sandbox/apiserver/rest/errors.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

namespace millwright::sandbox {

namespace {

Json details_of(const ResourceInfo& info, std::string_view name, bool by_kind = false) {
  boost::json::object details;
  if (!name.empty()) {
    details["name"] = name;
  }
  if (!info.resource.group.empty()) {
    details["group"] = info.resource.group;
  }
  details["kind"] = by_kind ? info.resource.kind : info.resource.plural;
  return details;
}

}  // namespace

Json to_status(const ApiError& error) {
  boost::json::object status{{"kind", "Status"},
                             {"apiVersion", "v1"},
                             {"metadata", boost::json::object{}},
                             {"status", "Failure"},
                             {"message", error.message}};
  if (!error.reason.empty()) {
    status["reason"] = error.reason;
  }
  if (!error.details.is_null()) {
    status["details"] = error.details;
  }
  if (error.retry_after > 0) {
    auto& details = status["details"];
    if (!details.is_object()) {
      details.emplace_object();
    }
    details.get_object()["retryAfterSeconds"] = error.retry_after;
  }
  status["code"] = error.code;
  return status;
}

base::Error to_base(const ApiError& error) {
  using base::ErrorKind;
  auto kind = ErrorKind::Internal;
  switch (error.code) {
    case 400:
    case 422:
      kind = ErrorKind::Invalid;
      break;
    case 401:
      kind = ErrorKind::Unauthorized;
      break;
    case 403:
      kind = ErrorKind::Denied;
      break;
    case 404:
      kind = ErrorKind::NotFound;
      break;
    case 409:
      kind = error.reason == "AlreadyExists" ? ErrorKind::Exists : ErrorKind::Conflict;
      break;
    case 410:
      kind = ErrorKind::Gone;
      break;
    case 429:
      kind = ErrorKind::Throttled;
      break;
    default:
      break;
  }
  return base::Error{kind, error.message, std::chrono::seconds(error.retry_after)};
}

Refused not_found(const ResourceInfo& info, std::string_view name) {
  return Refused(ApiError{404, "NotFound", fmt::format("{} \"{}\" not found", info.qualified, name),
                          details_of(info, name)});
}

Refused already_exists(const ResourceInfo& info, std::string_view name) {
  return Refused(ApiError{409, "AlreadyExists",
                          fmt::format("{} \"{}\" already exists", info.qualified, name),
                          details_of(info, name)});
}

Refused conflict(const ResourceInfo& info, std::string_view name, std::string_view why) {
  constexpr std::string_view kModified =
      "the object has been modified; please apply your changes to the latest version and try "
      "again";
  return Refused(ApiError{409, "Conflict",
                          fmt::format("Operation cannot be fulfilled on {} \"{}\": {}",
                                      info.qualified, name, why.empty() ? kModified : why),
                          details_of(info, name)});
}

Refused invalid(const ResourceInfo& info, std::string_view name, std::vector<Cause> causes) {
  std::string all;
  boost::json::array list;
  for (const auto& cause : causes) {
    all += fmt::format("{}{}: {}", all.empty() ? "" : ", ", cause.field, cause.message);
    list.push_back(boost::json::object{
        {"reason", cause.reason}, {"message", cause.message}, {"field", cause.field}});
  }
  if (causes.size() > 1) {
    all = "[" + all + "]";
  }
  auto details = details_of(info, name, true);
  details.as_object()["causes"] = std::move(list);
  const auto group = info.resource.group;
  return Refused(ApiError{422, "Invalid",
                          fmt::format("{}{}{} \"{}\" is invalid: {}", info.resource.kind,
                                      group.empty() ? "" : ".", group, name, all),
                          std::move(details)});
}

Refused bad_request(std::string message) {
  return Refused(ApiError{400, "BadRequest", std::move(message), {}});
}

Refused forbidden(const ResourceInfo& info, std::string_view name, std::string_view why) {
  return Refused(ApiError{403, "Forbidden",
                          fmt::format("{} \"{}\" is forbidden: {}", info.qualified, name, why),
                          details_of(info, name)});
}

Refused expired(std::string message) {
  return Refused(ApiError{410, "Expired", std::move(message), {}});
}

Refused method_not_allowed() {
  return Refused(ApiError{405, "MethodNotAllowed",
                          "the server does not allow this method on the requested resource",
                          boost::json::object{}});
}

Refused unsupported_media_type(std::string_view got) {
  return Refused(ApiError{415, "UnsupportedMediaType",
                          fmt::format("the body of the request was in an unknown format ({}); "
                                      "send application/json",
                                      got),
                          boost::json::object{}});
}

Refused no_such_path() {
  return Refused(ApiError{404, "NotFound", "the server could not find the requested resource",
                          boost::json::object{}});
}

}  // namespace millwright::sandbox
