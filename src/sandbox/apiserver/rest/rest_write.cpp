// Creates, replacements and patches: the write rules with admission between their steps.
#include "sandbox/apiserver/rest/rest.hpp"
#include "sandbox/apiserver/store/patch.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

namespace millwright::sandbox {

namespace {

constexpr int kPatchAttempts = 5;  // as a real server tries before it tells the client

std::optional<PatchKind> patch_kind(std::string_view content_type) {
  if (content_type.starts_with("application/json-patch+json")) {
    return PatchKind::JsonPatch;
  }
  if (content_type.starts_with("application/merge-patch+json")) {
    return PatchKind::Merge;
  }
  if (content_type.starts_with("application/strategic-merge-patch+json")) {
    return PatchKind::Strategic;
  }
  if (content_type.starts_with("application/apply-patch+")) {
    return PatchKind::Apply;
  }
  return std::nullopt;
}

// fieldValidation: Strict refuses unknown fields, Warn (the default) tells, Ignore is silent.
ApiResult<std::vector<std::string>> judge_unknown(const RestRequest& request,
                                                  const std::vector<std::string>& unknown) {
  std::vector<std::string> warnings;
  for (const auto& path : unknown) {
    warnings.push_back(fmt::format("unknown field \"{}\"", path));
  }
  const auto mode = request.parameter("fieldValidation");
  if (mode == "Ignore") {
    warnings.clear();
  }
  if (mode == "Strict" && !warnings.empty()) {
    std::string all;
    for (const auto& warning : warnings) {
      all += (all.empty() ? "" : ", ") + warning;
    }
    const auto& resource = request.info->resource;
    return bad_request(
        fmt::format("{} in version \"{}\" cannot be handled as a {}: strict "
                    "decoding error: {}",
                    resource.kind, resource.version, resource.kind, all));
  }
  return warnings;
}

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

RestServer::Writing RestServer::write(RestRequest request) {
  const auto& method = request.http.method;
  const auto& sub = request.subresource;
  const auto kind = request.info->resource.kind;
  auto body = parse_body(request);
  MW_CO_CHECK(body);
  if (method == "DELETE" && sub.empty()) {
    co_return co_await remove(request, *body);
  }
  if (method != "DELETE" && body->is_null()) {
    co_return bad_request("the request has no body");
  }
  if (method == "POST" && kind == "Pod" && sub == "eviction") {
    co_return evict(request, *body);
  }
  if (method == "POST" && kind == "Pod" && sub == "binding") {
    co_return bind(request, *body);
  }
  if (method == "PUT" && kind == "Namespace" && sub == "finalize") {
    co_return finalize_namespace(request, *body);
  }
  if (sub == "scale" && request.info->has_scale && (method == "PUT" || method == "PATCH")) {
    co_return scale(request, *body);
  }
  if (!sub.empty() && !(sub == "status" && request.info->has_status)) {
    co_return no_such_path();
  }
  if (method == "POST" && request.key.name.empty()) {
    co_return co_await create(request, *std::move(body));
  }
  if ((method == "PUT" || method == "PATCH") && !request.key.name.empty()) {
    co_return co_await update(request, *std::move(body));
  }
  co_return method_not_allowed();
}

RestServer::Writing RestServer::create(RestRequest request, Json body) {
  const auto& info = *request.info;
  std::vector<std::string> unknown;
  MW_CO_TRY(begun, registry_.begin_create(info, std::move(body), request.key.namespace_, &unknown));
  MW_CO_TRY(warnings, judge_unknown(request, unknown));
  AdmissionInput input{&info, "CREATE", {}, std::move(begun), nullptr, request.dry_run()};
  if (admission_.applies(info, "CREATE", {})) {
    auto mutated = co_await admission_.mutate(input);
    MW_CO_CHECK(mutated);
    append(warnings, mutated->warnings);
    input.object = std::move(mutated->object);
  }
  MW_CO_TRY(finished, registry_.finish(info, std::move(input.object), nullptr, Part::Main));
  if (admission_.applies(info, "CREATE", {})) {
    input.object = finished;
    auto validated = co_await admission_.validate(input);
    MW_CO_CHECK(validated);
    append(warnings, validated->warnings);
  }
  MW_CO_TRY(stored, registry_.commit_create(info, std::move(finished), request.dry_run()));
  co_return Written{201, *stored, false, std::move(warnings)};
}

RestServer::Writing RestServer::update(RestRequest request, Json body) {
  const auto& info = *request.info;
  const auto kind = patch_kind(request.http.headers.get("Content-Type"));
  const bool is_patch = request.http.method == "PATCH";
  if (is_patch && !kind) {
    co_return unsupported_media_type(request.http.headers.get("Content-Type"));
  }
  const bool locked = !text(body, "metadata.resourceVersion").empty();
  for (int attempt = 1;; ++attempt) {
    const auto current = registry_.store().find(info, request.key);
    if (current == nullptr) {
      if (!is_patch || *kind != PatchKind::Apply || !request.subresource.empty()) {
        co_return not_found(info, request.key.name);
      }
      MW_CO_TRY(fresh, apply_configuration(info, nullptr, body,
                                           {request.parameter("fieldManager"),
                                            request.flag("force"), registry_.now_text()}));
      make(fresh, "metadata.name") = request.key.name;
      co_return co_await create(request, std::move(fresh));
    }
    auto written = co_await update_once(request, body, current);
    const bool lost_race = !written && written.error().reason == "Conflict";
    if (!lost_race || !is_patch || locked || attempt == kPatchAttempts ||
        registry_.store().find(info, request.key) == current) {
      co_return written;
    }
  }
}

RestServer::Writing RestServer::update_once(RestRequest request, Json body, Object current) {
  const auto& info = *request.info;
  const auto part = request.subresource == "status" ? Part::Status : Part::Main;
  const auto kind = patch_kind(request.http.headers.get("Content-Type")).value_or(PatchKind::Merge);
  Json wanted;
  if (request.http.method == "PUT") {
    const auto name = text(body, "metadata.name");
    if (!name.empty() && name != request.key.name) {
      co_return bad_request(
          fmt::format("the name of the object ({}) does not match the name on "
                      "the URL ({})",
                      name, request.key.name));
    }
    if (info.custom != nullptr && text(body, "metadata.resourceVersion").empty()) {
      co_return invalid(info, request.key.name,
                        {Cause{"metadata.resourceVersion", "FieldValueInvalid",
                               "Invalid value: 0x0: must be specified for an update"}});
    }
    wanted = std::move(body);
  } else if (kind == PatchKind::Apply) {
    MW_CO_TRY(applied, apply_configuration(info, current.get(), body,
                                           {request.parameter("fieldManager"),
                                            request.flag("force"), registry_.now_text()}));
    wanted = std::move(applied);
  } else {
    MW_CO_TRY(patched, apply_patch(info, *current, kind, body));
    wanted = std::move(patched);
  }
  std::vector<std::string> unknown;
  MW_CO_TRY(begun, registry_.begin_update(info, *current, std::move(wanted), part, &unknown));
  MW_CO_TRY(warnings, judge_unknown(request, unknown));
  AdmissionInput input{&info,   "UPDATE",         request.subresource, std::move(begun),
                       current, request.dry_run()};
  const bool reviewed = admission_.applies(info, "UPDATE", request.subresource);
  if (reviewed) {
    auto mutated = co_await admission_.mutate(input);
    MW_CO_CHECK(mutated);
    append(warnings, mutated->warnings);
    input.object = std::move(mutated->object);
  }
  MW_CO_TRY(finished, registry_.finish(info, std::move(input.object), current.get(), part));
  if (reviewed) {
    input.object = finished;
    auto validated = co_await admission_.validate(input);
    MW_CO_CHECK(validated);
    append(warnings, validated->warnings);
  }
  MW_CO_TRY(stored, registry_.commit_update(info, current, std::move(finished), request.dry_run()));
  co_return Written{200, *stored, false, std::move(warnings)};
}

}  // namespace millwright::sandbox
