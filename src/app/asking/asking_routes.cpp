#include "app/asking/asking_routes.hpp"

#include "app/asking/answer.hpp"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace millwright::app {
namespace {

constexpr std::string_view kWhyPrefix = "/why";
constexpr std::string_view kDecisionsPath = "/decisions";
constexpr std::string_view kBearer = "Bearer ";

std::string bearer_token(const net::Request& request) {
  const auto value = request.headers.get("Authorization");
  return value.starts_with(kBearer) ? std::string(value.substr(kBearer.size())) : std::string();
}

// The decoded segments of a path below /why.
std::vector<std::string> segments(std::string_view path) {
  path.remove_prefix(std::min(path.size(), kWhyPrefix.size() + 1));
  std::vector<std::string> all;
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    all.push_back(net::url_decode(path.substr(0, end)));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return all;
}

base::Result<Question> question_of(std::string_view path) {
  const auto words = segments(path);
  if (words.size() == 2 && words[0] != "pod") {
    return make_question(words[0], words[1], {});
  }
  if (words.size() == 3 && words[0] == "pod") {
    return make_question(words[0], words[2], words[1]);
  }
  return base::fail(base::ErrorKind::Invalid,
                    "ask /why/pod/NAMESPACE/NAME, /why/node/NAME or /why/nodepool/NAME");
}

net::Response why(const net::Request& request, const AskingParts& parts) {
  const auto question = question_of(request.path());
  if (!question) {
    return net::Response::text(400, question.error().message + "\n");
  }
  const auto found = answer(*question, parts.decisions.all());
  const int status = found.known ? 200 : 404;
  return request.query("output").value_or("json") == "text"
             ? net::Response::text(status, to_text(found))
             : net::Response::json(status, to_json(found));
}

net::Response decisions(const net::Request& request, const AskingParts& parts) {
  const std::string text = request.query("after").value_or("0");
  std::uint64_t after = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), after);
  if (error != std::errc() || end != text.data() + text.size()) {
    return net::Response::text(400, "after: must be the number of a decision\n");
  }
  std::string lines;
  std::size_t count = 0;
  for (const auto& decision : parts.decisions.all()) {
    if (decision->number > after && count < kMostLines) {
      lines.append(telemetry::decision_line(*decision)).append("\n");
      ++count;
    }
  }
  auto response = net::Response::text(200, std::move(lines));
  response.headers.set("Content-Type", "application/x-ndjson");
  return response;
}

net::Response cluster(const net::Request& /*request*/, const AskingParts& parts) {
  return net::Response::json(200, to_json(parts.cluster()));
}

net::Response leader_only(const std::string& lease) {
  auto response = net::Response::text(
      503, "another replica leads, and only it has a record: Lease " + lease + " names it\n");
  response.headers.set("Connection", "close");
  return response;
}

base::Task<void> admit(AskingParts parts, std::function<void(Admitted)> handle,
                       net::Request request, std::shared_ptr<net::Exchange> exchange) {
  const auto token = bearer_token(request);
  auto peer = exchange->peer();
  auto refusal = co_await parts.check(token, std::move(peer));
  if (refusal) {
    exchange->respond(*std::move(refusal));
    co_return;
  }
  if (!parts.leads()) {
    exchange->respond(leader_only(parts.lease));
    co_return;
  }
  Admitted admitted{.request = std::move(request), .token = token, .exchange = exchange};
  handle(std::move(admitted));
}

using Make = net::Response (*)(const net::Request&, const AskingParts&);

net::Handler get_only(const AskingParts& parts, Make make) {
  return for_viewers(parts, [parts, make](Admitted caller) {
    parts.compute.run(
        [make, request = std::move(caller.request), exchange = caller.exchange, parts] {
          auto response = make(request, parts);
          response.headers.set("Cache-Control", "no-store");
          exchange->respond(std::move(response));
        });
  });
}

}  // namespace

net::Handler for_viewers(const AskingParts& parts, std::function<void(Admitted)> handle) {
  return [parts, handle = std::move(handle)](net::Request request,
                                             const std::shared_ptr<net::Exchange>& exchange) {
    if (request.method != "GET") {
      exchange->respond(net::Response::text(405, "only GET is answered here\n"));
      return;
    }
    parts.loop.post([parts, handle, request = std::move(request), exchange] {
      parts.group.spawn(admit(parts, handle, request, exchange));
    });
  };
}

void add_asking_routes(net::Router& router, const AskingParts& parts) {
  router.add(std::string(kWhyPrefix), get_only(parts, why));
  router.add(std::string(kDecisionsPath), get_only(parts, decisions));
  router.add(std::string(kClusterPath), get_only(parts, cluster));
}

}  // namespace millwright::app
