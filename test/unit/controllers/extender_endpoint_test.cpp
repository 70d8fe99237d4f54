#include "millwright/controllers/process/extender_endpoint.hpp"

#include "unit/kube/fake_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::controllers {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using kube::test::FakeStore;
using kube::test::FakeTransport;
using kube::test::parse;

constexpr const char* kSlice =
    "/apis/discovery.k8s.io/v1/namespaces/nodes/endpointslices/millwright-extender";
constexpr const char* kService = "/api/v1/namespaces/nodes/services/millwright-extender";

class ExtenderEndpointTest : public ::testing::Test {
 protected:
  ExtenderEndpointTest() {
    transport_->answer = [this](const kube::ApiRequest& request) { return store_.answer(request); };
    store_.objects[kService] = parse(R"({"metadata":{"name":"millwright-extender","uid":"u1"}})");
  }
  // One term of the replica with this address.
  void lead(const std::string& address) {
    tasks_ = std::make_unique<base::TaskGroup>(loop_);
    ExtenderEndpointOptions options;
    options.namespace_ = "nodes";
    options.address = address;
    endpoint_ = std::make_unique<ExtenderEndpoint>(
        client_, options, [this] { return ready_; }, [this] { led_.push_back(loop_.now()); });
    tasks_->spawn(endpoint_->run(tasks_->stop_token()));
  }
  std::string address() {
    const auto found = store_.objects.find(kSlice);
    return found == store_.objects.end()
               ? ""
               : json::serialize(found->second.at("endpoints").at(0).at("addresses"));
  }

  base::VirtualLoop loop_{kube::test::kStart};
  FakeStore store_;
  std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>(loop_);
  kube::Client client_{loop_, transport_};
  bool ready_ = true;
  std::vector<base::TimePoint> led_;
  std::unique_ptr<ExtenderEndpoint> endpoint_;
  std::unique_ptr<base::TaskGroup> tasks_;
};

TEST_F(ExtenderEndpointTest, TheFirstLeaderMakesASliceThatGoesWithItsService) {
  lead("10.1.2.3");
  loop_.run_for(1s);
  auto slice = store_.objects.at(kSlice);
  slice.at("metadata").as_object().erase("resourceVersion");
  EXPECT_EQ(slice, parse(R"({
      "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
      "metadata": {"name": "millwright-extender", "namespace": "nodes",
        "labels": {"kubernetes.io/service-name": "millwright-extender",
                   "endpointslice.kubernetes.io/managed-by": "millwright"},
        "ownerReferences": [{"apiVersion": "v1", "kind": "Service",
                             "name": "millwright-extender", "uid": "u1"}]},
      "addressType": "IPv4",
      "endpoints": [{"addresses": ["10.1.2.3"],
                     "conditions": {"ready": true, "serving": true, "terminating": false}}],
      "ports": [{"name": "extender", "port": 8444, "protocol": "TCP"}]})"));
  EXPECT_EQ(led_.size(), 1U);
}

TEST_F(ExtenderEndpointTest, TheNextLeaderTakesThePlaceOfTheLast) {
  lead("10.1.2.3");
  loop_.run_for(1s);
  tasks_.reset();
  EXPECT_EQ(address(), R"(["10.1.2.3"])");
  lead("10.9.9.9");
  loop_.run_for(100ms);
  EXPECT_EQ(address(), R"(["10.9.9.9"])");
  EXPECT_EQ(led_.size(), 2U);
}

TEST_F(ExtenderEndpointTest, NobodyIsLedToAReplicaThatCannotAnswerYet) {
  ready_ = false;
  lead("10.1.2.3");
  loop_.run_for(1min);
  EXPECT_EQ(address(), "");
  EXPECT_TRUE(led_.empty());
  ready_ = true;
  loop_.run_for(1s);
  EXPECT_EQ(address(), R"(["10.1.2.3"])");
}

TEST_F(ExtenderEndpointTest, WhatSomebodyChangedIsPutRight) {
  struct Case {
    const char* what;
    std::function<void(FakeStore&)> spoil;
  };
  const Case cases[] = {
      {"deleted", [](FakeStore& store) { store.objects.erase(kSlice); }},
      {"emptied",
       [](FakeStore& store) { store.objects.at(kSlice).as_object()["endpoints"] = json::array(); }},
      {"another port",
       [](FakeStore& store) {
         store.objects.at(kSlice).at("ports").as_array().at(0).as_object()["port"] = 1;
       }},
  };
  lead("10.1.2.3");
  loop_.run_for(1s);
  const auto good = store_.objects.at(kSlice).at("endpoints");
  const auto ports = store_.objects.at(kSlice).at("ports");
  for (const auto& one : cases) {
    one.spoil(store_);
    loop_.run_for(11s);
    EXPECT_EQ(store_.objects.at(kSlice).at("endpoints"), good) << one.what;
    EXPECT_EQ(store_.objects.at(kSlice).at("ports"), ports) << one.what;
  }
  EXPECT_EQ(led_.size(), 1U);  // in a term
}

TEST_F(ExtenderEndpointTest, WhatIsRightIsNotWrittenAgain) {
  lead("10.1.2.3");
  loop_.run_for(10min);
  int writes = 0;
  for (const auto& one : transport_->seen) {
    writes += one.request.method == "GET" ? 0 : 1;
  }
  EXPECT_EQ(writes, 1);
}

// Installed before there was a Service of its own: nothing stands still for it.
TEST_F(ExtenderEndpointTest, WithoutTheServiceItTriesAgain) {
  store_.objects.erase(kService);
  lead("fd00::7");
  loop_.run_for(1min);
  EXPECT_EQ(address(), "");
  EXPECT_TRUE(led_.empty());
  store_.objects[kService] = parse(R"({"metadata":{"name":"millwright-extender","uid":"u2"}})");
  loop_.run_for(3s);
  EXPECT_EQ(address(), R"(["fd00::7"])");
  EXPECT_EQ(store_.objects.at(kSlice).at("addressType"), "IPv6");
}

TEST_F(ExtenderEndpointTest, AnAnswerOfAnyShapeIsSurvived) {
  for (const char* text : {"[]", "null", "7", R"({"metadata":7,"endpoints":{}})"}) {
    store_.objects.clear();
    transport_->scripted.clear();
    transport_->scripted.emplace_back(net::Response::json(200, text));
    lead("10.1.2.3");
    loop_.run_for(50ms);
    tasks_.reset();
    EXPECT_TRUE(led_.empty()) << text;
  }
}

}  // namespace
}  // namespace millwright::controllers
