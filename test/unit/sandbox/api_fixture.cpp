#include "unit/sandbox/api_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::sandbox {

std::string text_at(const boost::json::value& json, std::string_view path) {
  const auto* value = model::find_path(json, path);
  if (value == nullptr) {
    return {};
  }
  return value->is_string() ? std::string(value->get_string()) : boost::json::serialize(*value);
}

std::string Reply::at(std::string_view path) const {
  return text_at(body, path);
}

std::vector<boost::json::value> TestWatch::raw() const {
  std::vector<boost::json::value> parsed;
  std::string_view rest = exchange_->answer ? std::string_view(exchange_->answer->body) : "";
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    parsed.push_back(boost::json::parse(rest.substr(0, end)));
    rest = rest.substr(end + 1);
  }
  return parsed;
}

std::vector<std::string> TestWatch::events() const {
  std::vector<std::string> list;
  for (const auto& event : raw()) {
    list.push_back(text_at(event, "type") + " " + text_at(event, "object.metadata.name"));
  }
  return list;
}

Reply ApiFixture::call(std::string method, std::string target, std::string body,
                       std::string content_type, std::string accept) {
  net::Request request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.body = std::move(body);
  if (!request.body.empty()) {
    request.headers.set("Content-Type", std::move(content_type));
  }
  if (!accept.empty()) {
    request.headers.set("Accept", std::move(accept));
  }
  auto exchange = std::make_shared<TestExchange>();
  server().handle(std::move(request), exchange);
  loop.run_ready();
  if (!exchange->answer) {
    ADD_FAILURE() << "the request was not answered";
    return {};
  }
  Reply reply;
  reply.status = exchange->answer->status;
  reply.headers = exchange->answer->headers;
  boost::system::error_code failed;
  reply.body = boost::json::parse(exchange->answer->body, failed);
  if (failed) {
    reply.body = boost::json::string(exchange->answer->body);
  }
  return reply;
}

TestWatch ApiFixture::watch(std::string target) {
  net::Request request;
  request.target = std::move(target);
  auto exchange = std::make_shared<TestExchange>();
  server().handle(std::move(request), exchange);
  loop.run_ready();
  return TestWatch(exchange);
}

std::string pod_text(const std::string& name, const std::string& more) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + '"' +
         (more.empty() ? "" : "," + more) +
         R"(},"spec":{"containers":[{"name":"main","image":"app:1"}]}})";
}

std::string config_map_text(const std::string& name, const std::string& more) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + '"' +
         (more.empty() ? "" : "," + more) + R"(},"data":{"a":"1"}})";
}

std::string node_pool_text(const std::string& name) {
  return R"({"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":")" + name +
         R"("},"spec":{"template":{"spec":{"nodeClassRef":{"group":"karpenter.kwok.sh",)"
         R"("kind":"KWOKNodeClass","name":"default"},"requirements":[]}}}})";
}

}  // namespace millwright::sandbox
