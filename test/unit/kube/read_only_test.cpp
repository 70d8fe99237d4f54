#include "millwright/kube/read_only.hpp"

#include "fake_transport.hpp"
#include "millwright/kube/client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::kube::test {
namespace {

using base::ErrorKind;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const model::ObjectKey kRead{.namespace_ = "", .name = "n"};

class ReadOnlyTest : public testing::Test {
 protected:
  ReadOnlyTest() {
    transport_->answer = [](const ApiRequest&) {
      return ok(parse(R"({"metadata":{"name":"n"}})"));
    };
  }
  static json::value object() { return parse(R"({"metadata":{"name":"n"}})"); }

  base::VirtualLoop loop_{kStart};
  std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>(loop_);
};

TEST_F(ReadOnlyTest, WhatReadsIsSent) {
  Client client(loop_, read_only(transport_));
  EXPECT_TRUE(run(loop_, client.get(model::kNodeResource, kRead)));
  EXPECT_THAT(transport_->seen, SizeIs(1));
}

TEST_F(ReadOnlyTest, NothingThatAClientCanWriteIsSent) {
  Client client(loop_, read_only(transport_));
  const auto keep = []<class T>(base::Task<base::Result<T>> task) -> base::Task<base::Error> {
    auto result = co_await std::move(task);
    co_return result ? base::Error{} : std::move(result).error();
  };
  std::vector<base::Error> refusals;
  refusals.push_back(run(loop_, keep(client.create(model::kNodeResource, object()))));
  refusals.push_back(run(loop_, keep(client.replace(model::kNodeResource, object()))));
  refusals.push_back(run(
      loop_, keep(client.patch(model::kNodeResource, kRead, PatchType::Merge, json::object()))));
  refusals.push_back(run(loop_, keep(client.apply(model::kNodeResource, object()))));
  refusals.push_back(run(loop_, keep(client.remove(model::kNodeResource, kRead))));
  refusals.push_back(run(loop_, keep(client.evict({.namespace_ = "d", .name = "p"}))));
  refusals.push_back(run(loop_, keep(client.bind({.namespace_ = "d", .name = "p"}, "", "n"))));
  for (const auto& refusal : refusals) {
    EXPECT_EQ(refusal.kind, ErrorKind::Denied) << refusal.message;
    EXPECT_THAT(refusal.message, HasSubstr("would write"));
  }
  EXPECT_THAT(transport_->seen, IsEmpty());
}

TEST_F(ReadOnlyTest, NoMethodButGetIsSentOnEitherWay) {
  const auto transport = read_only(transport_);
  for (const auto* method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "get", ""}) {
    EXPECT_FALSE(run(loop_, transport->call({.method = method, .path = "/api"}, {}))) << method;
    EXPECT_FALSE(run(loop_, transport->stream({.method = method, .path = "/api"}, {}, {})))
        << method;
  }
  EXPECT_THAT(transport_->seen, IsEmpty());
}

}  // namespace
}  // namespace millwright::kube::test
