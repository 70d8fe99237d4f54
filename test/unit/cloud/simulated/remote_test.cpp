// A simulated cloud in "another process": the same cloud through HTTP.
#include "millwright/cloud/remote.hpp"

#include "millwright/base/loop.hpp"
#include "millwright/model/labels.hpp"
#include "millwright/net/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace millwright::cloud {
namespace {

// A server and a client on one real loop, on a thread of its own.
class RemoteCloudTest : public testing::Test {
 protected:
  void SetUp() override {
    served_ = *SimulatedCloud::make(loop_, Profile::Kwok, default_settings(Profile::Kwok));
    server_ = *net::Server::start(
        net::ServerOptions{.tls = false},
        [this](net::Request request, std::shared_ptr<net::Exchange> exchange) {
          loop_.post([this, request, exchange] { group_.spawn(answer(request, exchange)); });
        });
    const std::string url = "http://127.0.0.1:" + std::to_string(server_->port());
    remote_ = *RemoteCloud::make(loop_, Profile::Kwok, default_settings(Profile::Kwok), url);
    thread_ = std::thread([this] { loop_.run(); });
  }
  void TearDown() override {
    server_->stop(std::chrono::milliseconds(100));
    loop_.stop();
    thread_.join();
  }

  template <class T>
  T await(base::Task<T> task) {
    std::promise<T> promise;
    auto kept = std::make_shared<base::Task<void>>(keep(std::move(task), promise));
    loop_.post([this, kept] { group_.spawn(std::move(*kept)); });
    return promise.get_future().get();
  }

  base::RealLoop loop_;
  base::TaskGroup group_{loop_};
  std::unique_ptr<SimulatedCloud> served_;
  std::unique_ptr<net::Server> server_;
  std::unique_ptr<RemoteCloud> remote_;
  std::thread thread_;

 private:
  base::Task<void> answer(net::Request request, std::shared_ptr<net::Exchange> exchange) {
    const std::string path(request.path());
    auto response = co_await answer_cloud_call(*served_, path.substr(std::string("/kwok/").size()),
                                               request.body);
    exchange->respond(std::move(response));
  }
  template <class T>
  static base::Task<void> keep(base::Task<T> task, std::promise<T>& promise) {
    promise.set_value(co_await std::move(task));
  }
};

std::shared_ptr<model::NodeClaim> kwok_claim(const std::string& name) {
  auto made = std::make_shared<model::NodeClaim>();
  made->meta.name = name;
  made->meta.uid = "uid-of-" + name;
  made->meta.labels[std::string(model::kNodePoolLabel)] = "pool";
  made->requests["cpu"] = *model::Quantity::parse("3");
  made->node_class_ref = {.group = "karpenter.kwok.sh", .kind = "KWOKNodeClass", .name = "default"};
  return made;
}

std::shared_ptr<model::NodeClass> kwok_class() {
  auto made = std::make_shared<model::NodeClass>();
  made->api_version = "karpenter.kwok.sh/v1alpha1";
  made->kind = "KWOKNodeClass";
  made->meta.name = "default";
  made->spec = boost::json::object();
  return made;
}

TEST_F(RemoteCloudTest, SeesTheInstancesOfTheOtherProcessAsTheyAre) {
  const auto created = await(remote_->create(kwok_claim("a"), kwok_class()));
  ASSERT_TRUE(created.has_value()) << created.error().message;
  EXPECT_EQ(created->node_claim, "a");
  EXPECT_EQ(created->node_pool, "pool");
  const auto there = await(served_->get(created->provider_id));
  const auto here = await(remote_->get(created->provider_id));
  ASSERT_TRUE(there.has_value() && here.has_value());
  EXPECT_EQ(here->labels, there->labels);
  EXPECT_EQ(here->annotations, there->annotations);
  EXPECT_EQ(here->capacity, there->capacity);
  EXPECT_EQ(here->allocatable, there->allocatable);
  EXPECT_EQ(here->node_name, there->node_name);
  EXPECT_EQ(here->image_id, there->image_id);
  const auto all = await(remote_->list());
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->size(), 1U);
}

TEST_F(RemoteCloudTest, LaunchesOneInstanceForAClaimHoweverOftenItIsAsked) {
  const auto first = await(remote_->create(kwok_claim("a"), kwok_class()));
  const auto second = await(remote_->create(kwok_claim("a"), kwok_class()));
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_EQ(first->provider_id, second->provider_id);
}

TEST_F(RemoteCloudTest, PassesErrorsOnWithTheirKind) {
  const auto missing = await(remote_->get("kwok://nobody"));
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().kind, base::ErrorKind::NotFound);
  EXPECT_EQ(missing.error().message, await(served_->get("kwok://nobody")).error().message);
  loop_.post([this] { served_->sell_out({}); });
  const auto sold_out = await(remote_->create(kwok_claim("b"), kwok_class()));
  ASSERT_FALSE(sold_out.has_value());
  EXPECT_EQ(sold_out.error().kind, base::ErrorKind::NoCapacity);
}

TEST_F(RemoteCloudTest, RemovesByClaim) {
  auto removed = kwok_claim("a");
  const auto created = await(remote_->create(removed, kwok_class()));
  ASSERT_TRUE(created.has_value());
  removed->provider_id = created->provider_id;
  EXPECT_TRUE(await(remote_->remove(removed)).has_value());
  const auto again = await(remote_->remove(removed));
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().kind, base::ErrorKind::NotFound);
}

TEST_F(RemoteCloudTest, IsUnavailableWhenTheOtherProcessIsGone) {
  server_->stop(std::chrono::milliseconds(100));
  const auto listed = await(remote_->list());
  ASSERT_FALSE(listed.has_value());
  EXPECT_EQ(listed.error().kind, base::ErrorKind::Unavailable);
}

}  // namespace
}  // namespace millwright::cloud
