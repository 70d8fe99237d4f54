// An API server in virtual time and a client that speaks HTTP to it, without a network.
#pragma once

#include "millwright/base/loop.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/sandbox/api_server.hpp"

#include <boost/json/value.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::sandbox {

inline base::TimePoint test_start() {
  return *base::parse_rfc3339("2026-03-02T10:00:00Z");
}

// One exchange; keeps what was answered.
class TestExchange final : public net::Exchange {
 public:
  void respond(net::Response response) override { answer = std::move(response); }
  void start(int status, net::Headers headers) override {
    answer = net::Response{status, std::move(headers), {}};
    streaming = true;
  }
  void write(std::string chunk) override { answer->body += chunk; }
  void finish() override { finished = true; }
  void on_close(std::function<void()> callback) override { closed = std::move(callback); }

  std::optional<net::Response> answer;
  bool streaming = false;
  bool finished = false;
  std::function<void()> closed;
};

struct Reply {
  int status = 0;
  boost::json::value body;
  net::Headers headers;

  // Text at a dotted path; empty when absent.
  std::string at(std::string_view path) const;
};

std::string text_at(const boost::json::value& json, std::string_view path);

// An open watch.
class TestWatch {
 public:
  explicit TestWatch(std::shared_ptr<TestExchange> exchange) : exchange_(std::move(exchange)) {}
  // Events so far: "ADDED web-1", "BOOKMARK ", "ERROR ".
  std::vector<std::string> events() const;
  std::vector<boost::json::value> raw() const;
  bool ended() const { return exchange_->finished; }
  int status() const { return exchange_->answer ? exchange_->answer->status : 0; }
  void hang_up() { exchange_->closed(); }

 private:
  std::shared_ptr<TestExchange> exchange_;
};

class ApiFixture : public testing::Test {
 protected:
  Reply call(std::string method, std::string target, std::string body = {},
             std::string content_type = "application/json", std::string accept = {});
  Reply get(std::string target) { return call("GET", std::move(target)); }
  Reply post(std::string target, std::string body) {
    return call("POST", std::move(target), std::move(body));
  }
  Reply patch(std::string target, std::string body,
              std::string content_type = "application/merge-patch+json") {
    return call("PATCH", std::move(target), std::move(body), std::move(content_type));
  }
  TestWatch watch(std::string target);

  base::VirtualLoop loop{test_start()};
  ApiServerOptions options;
  // Made at first use, so that a test can set options before.
  ApiServer& server() {
    if (server_ == nullptr) {
      server_ = std::make_unique<ApiServer>(loop, options);
    }
    return *server_;
  }

 private:
  std::unique_ptr<ApiServer> server_;
};

inline constexpr const char* kPods = "/api/v1/namespaces/default/pods";
inline constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";
inline constexpr const char* kNodePools = "/apis/karpenter.sh/v1/nodepools";

// A pod of one container; `more` is spliced into its metadata ("\"labels\":{...}").
std::string pod_text(const std::string& name, const std::string& more = {});
std::string node_pool_text(const std::string& name);
std::string config_map_text(const std::string& name, const std::string& more = {});

}  // namespace millwright::sandbox
