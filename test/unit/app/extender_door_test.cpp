// The extender's door: who may answer kube-scheduler, and what the others say.
#include "app/serving/serving.hpp"
#include "support/virtual_cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::app {
namespace {

using testing::HasSubstr;

// Keeps the one answer.
class Answered final : public net::Exchange {
 public:
  void respond(net::Response given) override { response = std::move(given); }
  void start(int /*status*/, net::Headers /*headers*/) override {}
  void write(std::string /*chunk*/) override {}
  void finish() override {}
  void on_close(std::function<void()> /*callback*/) override {}
  net::Response response;
};

net::Response ask(const net::Router& router, const std::string& path) {
  net::Request request;
  request.method = "POST";
  request.target = path;
  request.body = R"({"Pod":{"metadata":{"name":"p","namespace":"d","uid":"u"},
      "spec":{"containers":[]}},"Nodes":null,"NodeNames":["n"]})";
  const auto exchange = std::make_shared<Answered>();
  router.handle(std::move(request), exchange);
  return exchange->response;
}

TEST(ExtenderDoor, OnlyTheLeaderAnswersAndTheOthersEndTheConnection) {
  test::VirtualCluster cluster(EmbeddedOptions{});
  bool leads = false;
  int calls = 0;
  net::Router router;
  ExtenderDoor door;
  door.on_call = [&](std::string_view) { ++calls; };
  door.leads = [&] { return leads; };
  add_extender_routes(router, cluster.cluster->engine(), door);
  for (const char* verb : {"filter", "prioritize", "preempt"}) {
    const auto refused = ask(router, std::string("/scheduler/") + verb);
    EXPECT_EQ(refused.status, 503) << verb;
    EXPECT_EQ(refused.headers.get("Connection"), "close") << verb;
    EXPECT_THAT(refused.body, HasSubstr("another replica leads")) << verb;
  }
  EXPECT_EQ(calls, 0);
  leads = true;
  const auto answer = ask(router, "/scheduler/filter");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.find("Connection"), nullptr);
  EXPECT_EQ(calls, 1);
}

TEST(ExtenderDoor, WithoutAnElectionItIsOpen) {
  test::VirtualCluster cluster(EmbeddedOptions{});
  net::Router router;
  add_extender_routes(router, cluster.cluster->engine());
  EXPECT_EQ(ask(router, "/scheduler/filter").status, 200);
}

}  // namespace
}  // namespace millwright::app
