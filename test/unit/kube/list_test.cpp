#include "fake_transport.hpp"
#include "millwright/kube/client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::kube::test {
namespace {

using base::ErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;

json::value page(std::vector<std::string> names, std::string_view next) {
  json::array items;
  for (const auto& name : names) {
    items.emplace_back(json::value{{"metadata", {{"name", name}}}});
  }
  return {{"kind", "NodeList"},
          {"metadata", {{"resourceVersion", "42"}, {"continue", next}}},
          {"items", std::move(items)}};
}

std::vector<std::string> names(const ObjectList& list) {
  std::vector<std::string> all;
  for (const auto& item : list.items) {
    all.emplace_back(item.at("metadata").at("name").as_string());
  }
  return all;
}

class ListTest : public testing::Test {
 protected:
  base::VirtualLoop loop{kStart};
  std::shared_ptr<FakeTransport> transport = std::make_shared<FakeTransport>(loop);
  Client client{loop, transport};
};

TEST_F(ListTest, FollowsContinueTokensAndFillsInTypes) {
  transport->scripted = {ok(page({"a", "b"}, "to/ken=1")), ok(page({"c"}, ""))};
  const auto list = run(
      loop, client.list(model::kNodeResource, {.label_selector = "a in (b, c)", .page_size = 2}));
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_THAT(names(*list), ElementsAre("a", "b", "c"));
  EXPECT_EQ(list->resource_version, "42");
  EXPECT_EQ(list->items[2].at("kind"), "Node");
  EXPECT_EQ(list->items[2].at("apiVersion"), "v1");
  EXPECT_THAT(transport->paths(),
              ElementsAre("GET /api/v1/nodes?labelSelector=a%20in%20%28b%2C%20c%29&limit=2",
                          "GET /api/v1/nodes?labelSelector=a%20in%20%28b%2C%20c%29&limit=2"
                          "&continue=to%2Fken%3D1"));
}

TEST_F(ListTest, ResourceVersionGoesOnlyWithTheFirstPage) {
  transport->scripted = {ok(page({"a"}, "t")), ok(page({"b"}, ""))};
  ASSERT_TRUE(run(loop, client.list(model::kPodResource, {.namespace_ = "kube-system",
                                                          .field_selector = "spec.nodeName=n",
                                                          .resource_version = "0"})));
  EXPECT_THAT(transport->paths(),
              ElementsAre("GET /api/v1/namespaces/kube-system/pods"
                          "?fieldSelector=spec.nodeName%3Dn&limit=500&resourceVersion=0",
                          "GET /api/v1/namespaces/kube-system/pods"
                          "?fieldSelector=spec.nodeName%3Dn&limit=500&continue=t"));
}

TEST_F(ListTest, StartsAgainWithLargerPagesWhenATokenExpired) {
  transport->scripted = {ok(page({"a", "b"}, "t")), status_answer(410, "Expired", "too old"),
                         ok(page({"b", "c"}, ""))};
  const auto list = run(loop, client.list(model::kNodeResource, {.page_size = 2}));
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_THAT(names(*list), ElementsAre("b", "c"));
  EXPECT_EQ(transport->paths().back(), "GET /api/v1/nodes?limit=20");
}

TEST_F(ListTest, TokensThatAlwaysExpireAreGivenUp) {
  transport->answer = [](const ApiRequest& request) {
    return request.path.find("continue") == std::string::npos
               ? ok(page({"a"}, "t"))
               : status_answer(410, "Expired", "too old");
  };
  const auto list = run(loop, client.list(model::kNodeResource));
  EXPECT_EQ(list.error().kind, ErrorKind::Gone);
}

TEST_F(ListTest, AVersionThatIsGoneIsTheCallersBusiness) {
  transport->answer = [](const ApiRequest&) { return status_answer(410, "Gone", "too old"); };
  EXPECT_EQ(run(loop, client.list(model::kNodeResource)).error().kind, ErrorKind::Gone);
  EXPECT_EQ(transport->seen.size(), 1U);
}

TEST_F(ListTest, AServerThatRepeatsItsTokenDoesNotLoop) {
  transport->answer = [](const ApiRequest&) { return ok(page({"a"}, "same")); };
  const auto list = run(loop, client.list(model::kNodeResource));
  ASSERT_FALSE(list);
  EXPECT_THAT(list.error().message, HasSubstr("continue token"));
}

TEST_F(ListTest, EmptyAndMalformedLists) {
  transport->scripted.push_back(
      net::Response::json(200, R"({"metadata":{"resourceVersion":"1"},"items":null})"));
  const auto empty = run(loop, client.list(model::kNodeResource));
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->items.empty());
  for (const char* body : {"[]", "7", R"({"items":{"a":1}})", R"({"items":"x"})"}) {
    transport->scripted.push_back(net::Response::json(200, body));
    EXPECT_FALSE(run(loop, client.list(model::kNodeResource))) << body;
  }
}

TEST_F(ListTest, PagesAreDeliveredOneByOne) {
  transport->scripted = {ok(page({"a"}, "t")), ok(page({"b"}, ""))};
  std::vector<std::pair<std::size_t, bool>> pages;
  const auto version = run(loop, client.list_pages(model::kNodeResource, {}, [&](ListPage one) {
    pages.emplace_back(one.items.size(), one.first);
  }));
  EXPECT_EQ(version, base::Result<std::string>("42"));
  EXPECT_THAT(pages, ElementsAre(std::pair(1U, true), std::pair(1U, false)));
}

}  // namespace
}  // namespace millwright::kube::test
