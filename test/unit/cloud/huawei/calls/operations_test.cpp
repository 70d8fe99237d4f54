// Lists that come in pages, prices, nodes, and answers that are not what they should be.
#include "cloud/huawei/calls/operations.hpp"

#include "cloud/huawei/calls/nodes.hpp"
#include "millwright/model/codec.hpp"
#include "unit/cloud/huawei/fakes/fake_keys.hpp"

#include <boost/json.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace millwright::cloud::huawei {
namespace {

using base::ErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;

class HuaweiOperations : public testing::Test {
 protected:
  void answer(const std::string& body) { http.script({net::Response::json(200, body)}); }

  base::VirtualLoop loop{kStart};
  FakeHttp http{loop};
  FixedKeys keys;
  Endpoints endpoints = test_endpoints();
  Api api{{.loop = loop,
           .client = http,
           .endpoints = endpoints,
           .credentials = &keys,
           .project = "p1",
           .log = {},
           .seed = 1}};
  CceNodes nodes{api, "c1"};
};

TEST_F(HuaweiOperations, ReadEveryPage) {
  http.handler = [](const net::ClientRequest& request) {
    const bool first = request.url.find("marker=") == std::string::npos;
    const int count = first ? 500 : 2;
    std::string items;
    for (int i = 0; i < count; ++i) {
      const auto id = std::string(first ? "a" : "b") + std::to_string(i);
      items += (i == 0 ? "" : ",");
      items += R"({"id":")" + id + R"(","name":"n","available_ip_address_count":7})";
    }
    return net::Response::json(200, R"({"subnets":[)" + items + "]}");
  };
  const auto subnets = wait(loop, list_subnets(api));
  ASSERT_TRUE(subnets);
  EXPECT_EQ(subnets->size(), 502U);
  EXPECT_EQ(subnets->back(), (Subnet{"b1", "n", 7}));
  EXPECT_EQ(http.requests[1].url,
            "https://vpc.cn-north-4.myhuaweicloud.com/v1/p1/subnets?limit=500&marker=a499");
}

TEST_F(HuaweiOperations, AMarkerThatStandsStillEndsTheList) {
  std::string items;
  for (int i = 0; i < 500; ++i) {
    items += (i == 0 ? "" : ",");
    items += R"({"id":"same"})";
  }
  answer(R"({"subnets":[)" + items + "]}");
  ASSERT_TRUE(wait(loop, list_subnets(api)));
  EXPECT_EQ(http.requests.size(), 2U);
}

TEST_F(HuaweiOperations, SubnetsThatAreNotActiveAreLeftOut) {
  answer(R"({"subnets":[{"id":"a","status":"ACTIVE"},{"id":"b","status":"ERROR"},{"name":"c"},)"
         R"({"id":3},null,"d",{"id":"e","available_ip_address_count":"many"}]})");
  const auto subnets = wait(loop, list_subnets(api));
  ASSERT_TRUE(subnets);
  EXPECT_THAT(*subnets, ElementsAre(Subnet{"a", "", 0}, Subnet{"e", "", 0}));
}

TEST_F(HuaweiOperations, AnAnswerWithoutItsListIsAnError) {
  for (const std::string body : {"{}", R"({"subnets":{}})", R"({"items":{}})"}) {
    answer(body);
    EXPECT_EQ(wait(loop, list_subnets(api)).error().kind, ErrorKind::Unavailable) << body;
    EXPECT_EQ(wait(loop, list_flavors(api)).error().kind, ErrorKind::Unavailable) << body;
    EXPECT_EQ(wait(loop, list_zones(api)).error().kind, ErrorKind::Unavailable) << body;
    EXPECT_EQ(wait(loop, nodes.list()).error().kind, ErrorKind::Unavailable) << body;
  }
}

TEST_F(HuaweiOperations, ZonesAreSorted) {
  answer(R"({"availability_zones":[{"availability_zone_id":"b"},{"availability_zone_id":"a"},3]})");
  EXPECT_THAT(*wait(loop, list_zones(api)), ElementsAre("a", "b"));
}

TEST_F(HuaweiOperations, AProductThatIsNotSoldIsLeftOutAndTheRestPriced) {
  http.handler = [](const net::ClientRequest& request) {
    if (request.url.starts_with("https://iam.")) {
      return net::Response::json(200, R"({"domains":[{"id":"d1"}]})");
    }
    if (request.body.find("c9.old.4") != std::string::npos) {
      return refusal(400, "CBC.99006006", "Can not find product c9.old.4.linux.");
    }
    return net::Response::json(200,
                               R"({"product_rating_results":[{"id":"c9.large.4","amount":0.7},)"
                               R"({"id":"c9.xlarge.4","amount":0,"official_website_amount":"1.4"},)"
                               R"({"id":"odd","amount":-3},{"id":"odder","amount":"NaN"},7]})");
  };
  const auto prices =
      wait(loop, list_prices(api, {"c9.large.4", "c9.old.4", "c9.xlarge.4", "odd", "odder"}));
  ASSERT_TRUE(prices) << prices.error().message;
  EXPECT_EQ(prices->prices, (PriceTable{{"c9.large.4", 0.7}, {"c9.xlarge.4", 1.4}}));
  EXPECT_TRUE(prices->refused.empty());
  EXPECT_EQ(http.requests.back().headers.get("X-Domain-Id"), "d1");
  EXPECT_EQ(http.requests.back().headers.find("X-Project-Id"), nullptr);
}

TEST_F(HuaweiOperations, AMissingProductThatWasNotAskedForEndsTheSearch) {
  http.handler = [](const net::ClientRequest& request) {
    return request.url.starts_with("https://iam.")
               ? net::Response::json(200, R"({"domains":[{"id":"d1"}]})")
               : refusal(400, "CBC.6006", "Can not find product other");
  };
  EXPECT_EQ(wait(loop, list_prices(api, {"c9.large.4"})).error().kind, ErrorKind::Invalid);
}

// 250 flavors, of which each costs 0.5. What `refuses` names is answered otherwise.
class HuaweiRatings : public HuaweiOperations {
 protected:
  HuaweiRatings() {
    for (int i = 0; i < 250; ++i) {
      flavors.push_back("f" + std::to_string(i) + ".x");
    }
    http.handler = [this](const net::ClientRequest& request) { return rate(request); };
  }
  ApiResult<ListedPrices> list() { return wait(loop, list_prices(api, flavors)); }

  std::vector<std::string> flavors;
  std::function<std::optional<net::Response>(const std::string& flavor)> refuses;
  int questions = 0;

 private:
  base::Result<net::Response> rate(const net::ClientRequest& request) {
    if (request.url.starts_with("https://iam.")) {
      return net::Response::json(200, R"({"domains":[{"id":"d1"}]})");
    }
    ++questions;
    std::string items;
    const auto body = model::parse_json(request.body).value();
    for (const auto& product : body.at("product_infos").as_array()) {
      const std::string flavor(product.at("id").as_string());
      if (const auto refused = refuses(flavor)) {
        return *refused;
      }
      items += (items.empty() ? "" : ",");
      items += R"({"id":")" + flavor + R"(","amount":0.5})";
    }
    return net::Response::json(200, R"({"product_rating_results":[)" + items + "]}");
  }
};

TEST_F(HuaweiRatings, OfWhatIsRefusedHideNoOther) {
  refuses = [](const std::string& flavor) {
    return flavor == "f7.x" || flavor == "f120.x"
               ? std::optional(refusal(400, "CBC.0100", "the parameter is wrong"))
               : std::nullopt;
  };
  const auto listed = list();
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_THAT(listed->refused, testing::UnorderedElementsAre("f7.x", "f120.x"));
  EXPECT_THAT(listed->refusal, HasSubstr("the parameter is wrong"));
  EXPECT_EQ(listed->prices.size(), 248U);
  EXPECT_FALSE(listed->prices.contains("f120.x"));
  EXPECT_LE(questions, 35);
}

TEST_F(HuaweiRatings, ThatAreAllRefusedAreAnErrorAfterSomeQuestions) {
  refuses = [](const std::string&) { return refusal(400, "CBC.0100", "the parameter is wrong"); };
  const auto listed = list();
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().kind, ErrorKind::Invalid);
  EXPECT_LE(questions, 103);
}

// What is missing then would look as if it had no price.
TEST_F(HuaweiRatings, ThatTheBillingServiceCannotGiveNowAreAnError) {
  refuses = [](const std::string& flavor) {
    return flavor == "f120.x" ? std::optional(net::Response::text(503, "<html>")) : std::nullopt;
  };
  const auto listed = list();
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().kind, ErrorKind::Unavailable);
}

TEST_F(HuaweiOperations, NodesAreReadWithTheirTags) {
  answer(R"({"items":[{"metadata":{"uid":"u1","name":"n1","creationTimestamp":)"
         R"("2026-01-02 03:04:05.678901 +0000 UTC"},"spec":{"flavor":"c9.large.4","az":"a",)"
         R"("nodeNicSpec":{"primaryNic":{"subnetId":"s1"}},"k8sTags":{"a.b/c":"d"}},)"
         R"("status":{"phase":"Active","serverId":"i1","privateIP":"10.0.0.5"}},)"
         R"({"metadata":{"uid":"u2"},"spec":{},"status":null}]})");
  const auto found = wait(loop, nodes.list());
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2U);
  const auto& node = found->front();
  EXPECT_EQ(node.uid, "u1");
  EXPECT_EQ(node.subnet, "s1");
  EXPECT_EQ(node.tag("a.b/c"), "d");
  EXPECT_EQ(node.private_ip, "10.0.0.5");
  ASSERT_TRUE(node.created_at);
  EXPECT_EQ(base::format_rfc3339(*node.created_at), "2026-01-02T03:04:05Z");
  EXPECT_FALSE(found->back().created_at);
}

TEST_F(HuaweiOperations, AListWithWhatIsNoNodeIsRefused) {
  for (const std::string odd : {R"({"metadata":{}})", R"({"metadata":{"uid":"u2"}})", "3"}) {
    answer(R"({"items":[{"metadata":{"uid":"u1"},"spec":{}},)" + odd + "]}");
    const auto found = wait(loop, nodes.list());
    ASSERT_FALSE(found) << odd;
    EXPECT_EQ(found.error().kind, ErrorKind::Unavailable) << odd;
    EXPECT_THAT(found.error().message, HasSubstr("cce list nodes")) << odd;
  }
}

TEST_F(HuaweiOperations, AnEmptyClusterMayBeWrittenAsNull) {
  answer(R"({"items":null})");
  EXPECT_TRUE(wait(loop, nodes.list())->empty());
}

TEST_F(HuaweiOperations, UidsAreEncodedInPaths) {
  http.script({refusal(404, "CCE.01404001", "no such node")});
  EXPECT_EQ(wait(loop, nodes.get("../x")).error().kind, ErrorKind::NotFound);
  EXPECT_THAT(http.requests.back().url, HasSubstr("/clusters/c1/nodes/..%2Fx"));
}

}  // namespace
}  // namespace millwright::cloud::huawei
