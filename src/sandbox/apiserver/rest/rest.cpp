#include "sandbox/apiserver/rest/rest.hpp"

#include "sandbox/apiserver/showing/discovery.hpp"
#include "sandbox/apiserver/showing/render.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace millwright::sandbox {

namespace {

// The position in a paged list: the version it was begun at and the last key given.
struct ContinueToken {
  std::uint64_t version = 0;
  model::ObjectKey last;
};

std::string encode(const ContinueToken& token) {
  return fmt::format("{}/{}/{}", token.version, token.last.namespace_, token.last.name);
}

std::optional<ContinueToken> decode(std::string_view encoded) {
  ContinueToken token;
  const auto first = encoded.find('/');
  const auto second = encoded.find('/', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) {
    return std::nullopt;
  }
  const auto* end = encoded.data() + first;
  if (std::from_chars(encoded.data(), end, token.version).ptr != end) {
    return std::nullopt;
  }
  token.last.namespace_ = encoded.substr(first + 1, second - first - 1);
  token.last.name = encoded.substr(second + 1);
  return token;
}

bool is_write(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE";
}

// Quotes and backslashes escaped, as RFC 7234's warn-text needs.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

}  // namespace

RestServer::RestServer(base::Loop& loop, Registry& registry, const ApiServerOptions& options,
                       base::Random random)
    : loop_(loop),
      registry_(registry),
      git_version_(options.git_version),
      random_(random),
      faults_(options.faults),
      watches_(loop, registry.store(), random_.next(), options.bookmark_interval),
      admission_(registry.store(), random_.next(), options.log),
      tasks_(loop) {
  watches_.set_faults(faults_);
}

void RestServer::set_admission(std::shared_ptr<AdmissionCaller> caller) {
  admission_.set_caller(std::move(caller));
}

void RestServer::set_faults(const Faults& faults) {
  faults_ = faults;
  watches_.set_faults(faults);
}

net::Response error_response(const ApiError& error) {
  auto response = net::Response::json(error.code, to_text(to_status(error)));
  if (error.retry_after > 0) {
    response.headers.set("Retry-After", std::to_string(error.retry_after));
  }
  return response;
}

bool RestServer::inject_fault(const RestRequest& request, net::Exchange& exchange) {
  const std::string plural(request.info->resource.plural);
  const bool kept =
      request.http.method == "DELETE" && faults_.undeletable.contains(request.key.name);
  if (kept || faults_.forbidden.contains(plural)) {
    exchange.respond(
        error_response(forbidden(*request.info, request.key.name, "injected").value()));
    return true;
  }
  if (faults_.broken.contains(plural) ||
      (faults_.error_rate > 0 && random_.unit() < faults_.error_rate)) {
    exchange.respond(error_response(
        ApiError{500, "InternalError", "Internal error occurred: injected by the sandbox", {}}));
    return true;
  }
  if (is_write(request.http.method) && faults_.conflict_rate > 0 &&
      random_.unit() < faults_.conflict_rate) {
    exchange.respond(error_response(conflict(*request.info, request.key.name).value()));
    return true;
  }
  return false;
}

void RestServer::handle(net::Request http, std::shared_ptr<net::Exchange> exchange) {
  if (auto response = serve_discovery(http, git_version_)) {
    exchange->respond(*std::move(response));
    return;
  }
  auto parsed = parse_rest(std::move(http));
  if (!parsed) {
    exchange->respond(error_response(parsed.error()));
    return;
  }
  auto& request = *parsed;
  if (inject_fault(request, *exchange)) {
    return;
  }
  if (is_write(request.http.method)) {
    tasks_.spawn(serve_write(std::move(request), std::move(exchange)));
  } else if (request.http.method != "GET" && request.http.method != "HEAD") {
    exchange->respond(error_response(method_not_allowed().value()));
  } else if (request.flag("watch")) {
    open_watch(request, std::move(exchange));
  } else if (const auto late = lateness_of(request); late > base::Duration::zero()) {
    tasks_.spawn(read_later(std::move(request), std::move(exchange), late));
  } else {
    exchange->respond(read(request));
  }
}

base::Duration RestServer::lateness_of(const RestRequest& request) {
  if (!request.key.name.empty()) {
    return {};
  }
  const auto late = faults_.late_lists.find(std::string(request.info->resource.plural));
  if (late != faults_.late_lists.end()) {
    return late->second;
  }
  if (faults_.list_delay <= base::Duration::zero()) {
    return {};
  }
  return base::Duration(static_cast<std::int64_t>(
      random_.below(static_cast<std::uint64_t>(faults_.list_delay.count()))));
}

base::Task<void> RestServer::read_later(RestRequest request,
                                        std::shared_ptr<net::Exchange> exchange,
                                        base::Duration late) {
  co_await base::sleep(loop_, late);
  exchange->respond(read(request));
}

void RestServer::open_watch(const RestRequest& request, std::shared_ptr<net::Exchange> exchange) {
  auto filter =
      parse_filter(*request.info, request.key.namespace_, request.parameter("labelSelector"),
                   request.parameter("fieldSelector"));
  if (!filter) {
    exchange->respond(error_response(filter.error()));
    return;
  }
  if (!request.key.name.empty()) {
    filter->fields.push_back({"metadata.name", request.key.name, true});
  }
  watches_.open(request, *std::move(filter), std::move(exchange));
}

net::Response RestServer::read(const RestRequest& request) const {
  const auto& info = *request.info;
  if (request.key.name.empty()) {
    const auto filter =
        parse_filter(info, request.key.namespace_, request.parameter("labelSelector"),
                     request.parameter("fieldSelector"));
    return filter ? list(request, *filter) : error_response(filter.error());
  }
  const auto object = registry_.store().find(info, request.key);
  if (object == nullptr) {
    return error_response(not_found(info, request.key.name).value());
  }
  if (request.subresource == "scale" && info.has_scale) {
    return net::Response::json(200, to_text(scale_of(info, *object)));
  }
  if (request.subresource == "log" && info.resource.kind == "Pod") {
    return net::Response::text(200, "The sandbox runs no containers: there is no log.\n");
  }
  if (!request.subresource.empty() && !(request.subresource == "status" && info.has_status)) {
    return error_response(no_such_path().value());
  }
  const RenderOptions options{request.form, request.parameter("includeObject"), loop_.now()};
  return net::Response::json(200, to_text(render_object(info, *object, options)));
}

net::Response RestServer::list(const RestRequest& request, const ObjectFilter& filter) const {
  const auto& info = *request.info;
  const auto& store = registry_.store();
  const auto& objects = store.objects(info);
  std::size_t limit = 0;
  const auto given = request.parameter("limit");
  std::from_chars(given.data(), given.data() + given.size(), limit);
  ContinueToken token{store.version(), {}};
  auto at = objects.begin();
  if (const auto encoded = request.parameter("continue"); !encoded.empty()) {
    const auto decoded = decode(encoded);
    if (!decoded) {
      return error_response(bad_request("continue key is not valid").value());
    }
    token = *decoded;
    if (token.version < store.compacted(info)) {
      return error_response(
          expired("The provided continue parameter is too old to display a consistent list "
                  "result. You must start a new list without the continue parameter.")
              .value());
    }
    at = objects.upper_bound(token.last);
  }
  std::vector<Object> page;
  ListMeta meta{std::to_string(token.version), {}, 0};
  for (; at != objects.end(); ++at) {
    if (!filter.matches(*at->second)) {
      continue;
    }
    if (limit > 0 && page.size() == limit) {
      ++meta.remaining;
      continue;
    }
    page.push_back(at->second);
  }
  if (meta.remaining > 0) {
    meta.continue_ = encode({token.version, key_of(*page.back())});
  }
  const RenderOptions options{request.form, request.parameter("includeObject"), loop_.now()};
  return net::Response::json(200, render_list(info, page, meta, options));
}

base::Task<void> RestServer::serve_write(RestRequest request,
                                         std::shared_ptr<net::Exchange> exchange) {
  auto written = co_await write(request);
  if (faults_.lost_reply_rate > 0 && random_.unit() < faults_.lost_reply_rate) {
    exchange->respond(error_response(
        ApiError{500, "InternalError", "Internal error occurred: reply lost by the sandbox", {}}));
    co_return;
  }
  exchange->respond(respond(request, written));
}

net::Response RestServer::respond(const RestRequest& request,
                                  const ApiResult<Written>& written) const {
  if (!written) {
    return error_response(written.error());
  }
  const RenderOptions options{request.form, request.parameter("includeObject"), loop_.now()};
  auto response = net::Response::json(
      written->status, written->is_status
                           ? to_text(written->object)
                           : to_text(render_object(*request.info, written->object, options)));
  for (const auto& warning : written->warnings) {
    response.headers.add("Warning", "299 - " + quoted(warning));
  }
  return response;
}

}  // namespace millwright::sandbox
