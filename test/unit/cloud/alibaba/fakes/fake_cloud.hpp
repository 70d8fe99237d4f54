// Alibaba Cloud as a table of answers by action, on a virtual loop.
#pragma once

#include "cloud/alibaba/calls/ecs.hpp"
#include "cloud/alibaba/catalog/type_labels.hpp"
#include "unit/cloud/alibaba/fakes/fake_answers.hpp"

#include <deque>
#include <map>
#include <string>
#include <vector>

namespace millwright::cloud::alibaba {

// "RegionId" of a request's query.
inline std::string parameter(const net::ClientRequest& request, const std::string& name) {
  net::Request parsed;
  parsed.target = request.url.substr(request.url.find('/', 8));
  return parsed.query(name).value_or("");
}

class FakeCloudTest : public testing::Test {
 protected:
  FakeCloudTest()
      : loop(kStart),
        http(loop),
        endpoints(Endpoints::make("cn-hangzhou", machine.environment()).value()),
        api({.loop = loop,
             .client = http,
             .endpoints = endpoints,
             .credentials = credentials,
             .log = {},
             .seed = 1}),
        ecs(api) {
    register_labels();
    http.handler = [this](const net::ClientRequest& request) { return answer(request); };
  }

  // The answers of an action one after the other; the last is repeated.
  void on(const std::string& action, std::vector<std::string> bodies) {
    auto& queue = answers[action];
    queue.clear();
    for (auto& body : bodies) {
      queue.push_back(net::Response::json(200, std::move(body)));
    }
  }
  void refuse(const std::string& action, const std::string& code, int status = 400) {
    answers[action] = {rpc_error(code, status)};
  }
  std::vector<net::ClientRequest> asked(const std::string& action) const {
    std::vector<net::ClientRequest> found;
    for (const auto& request : http.requests) {
      if (request.headers.get("x-acs-action") == action) {
        found.push_back(request);
      }
    }
    return found;
  }

  FakeMachine machine;
  base::VirtualLoop loop;
  FakeHttp http;
  Endpoints endpoints;
  FixedCredentials credentials;
  Api api;
  Ecs ecs;
  std::map<std::string, std::deque<net::Response>> answers;

 private:
  base::Result<net::Response> answer(const net::ClientRequest& request) {
    const auto found = answers.find(std::string(request.headers.get("x-acs-action")));
    if (found == answers.end() || found->second.empty()) {
      return rpc_error("InvalidAction.NotExpected", 400);
    }
    auto response = found->second.front();
    if (found->second.size() > 1) {
      found->second.pop_front();
    }
    return response;
  }
};

}  // namespace millwright::cloud::alibaba
