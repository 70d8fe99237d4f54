// Admission webhooks: who is called, what their answers do, and what happens when they fail.
#include "millwright/base/base64.hpp"
#include "millwright/sandbox/callers.hpp"
#include "unit/sandbox/api_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::sandbox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Answers every review by a function of its request.
class FakeWebhook final : public AdmissionCaller {
 public:
  using Answer = std::function<base::Result<boost::json::object>(const boost::json::value&)>;
  explicit FakeWebhook(Answer answer) : answer_(std::move(answer)) {}

  base::Task<base::Result<std::string>> call(WebhookTarget target, std::string review) override {
    const auto request = boost::json::parse(review).at("request");
    calls.push_back(target.path + " " + text_at(request, "operation"));
    auto response = answer_(request);
    MW_CO_CHECK(response);
    (*response)["uid"] = request.at("uid");
    boost::json::object body;
    body["response"] = *response;
    co_return boost::json::serialize(body);
  }

  std::vector<std::string> calls;

 private:
  Answer answer_;
};

class ApiAdmission : public ApiFixture {
 protected:
  std::shared_ptr<FakeWebhook> use(FakeWebhook::Answer answer) {
    auto webhook = std::make_shared<FakeWebhook>(std::move(answer));
    server().set_admission(webhook);
    EXPECT_TRUE(register_webhooks(server(), "https://hooks.example.com:8443", "").has_value());
    return webhook;
  }
  static boost::json::object allow() { return {{"allowed", true}}; }
};

TEST_F(ApiAdmission, OnlyTheRegisteredKindsAreReviewed) {
  const auto webhook = use([](const auto&) { return allow(); });
  post(kConfigMaps, config_map_text("a"));
  EXPECT_THAT(webhook->calls, IsEmpty());
  post(kNodePools, node_pool_text("general"));
  EXPECT_THAT(webhook->calls, ElementsAre("/mutate CREATE", "/validate CREATE"));
  patch(std::string(kNodePools) + "/general/status", R"({"status":{"nodes":1}})");
  EXPECT_EQ(webhook->calls.size(), 2U);
}

TEST_F(ApiAdmission, AMutationIsStoredAndValidated) {
  use([](const boost::json::value& request) {
    auto response = allow();
    if (text_at(request, "object.spec.weight").empty()) {
      response["patchType"] = "JSONPatch";
      response["patch"] = base::encode_base64(R"([{"op":"add","path":"/spec/weight","value":5}])");
    }
    return response;
  });
  EXPECT_EQ(post(kNodePools, node_pool_text("general")).at("spec.weight"), "5");
}

TEST_F(ApiAdmission, ADenialIsToldToTheClient) {
  use([](const boost::json::value&) {
    return boost::json::object{
        {"allowed", false},
        {"status", boost::json::object{{"code", 403}, {"reason", "Forbidden"}, {"message", "no"}}}};
  });
  const auto denied = post(kNodePools, node_pool_text("general"));
  EXPECT_EQ(denied.status, 403);
  EXPECT_THAT(denied.at("message"),
              testing::AllOf(HasSubstr("admission webhook"), HasSubstr("denied the request: no")));
  EXPECT_EQ(get(std::string(kNodePools) + "/general").status, 404);
}

TEST_F(ApiAdmission, WarningsReachTheClient) {
  use([](const boost::json::value&) {
    auto response = allow();
    response["warnings"] = boost::json::array{"this will drift 3 nodes"};
    return response;
  });
  const auto created = post(kNodePools, node_pool_text("general"));
  EXPECT_EQ(created.headers.get("Warning"), R"(299 - "this will drift 3 nodes")");
}

TEST_F(ApiAdmission, AFailingWebhookIsIgnoredByItsPolicy) {
  use([](const boost::json::value&) -> base::Result<boost::json::object> {
    return base::fail(base::ErrorKind::Unavailable, "connection refused");
  });
  EXPECT_EQ(post(kNodePools, node_pool_text("general")).status, 201);
  ASSERT_TRUE(server()
                  .update(model::kValidatingWebhookResource, {{}, "millwright"},
                          [](boost::json::value& json) {
                            json.at("webhooks").at(0).as_object()["failurePolicy"] = "Fail";
                          })
                  .has_value());
  const auto refused = post(kNodePools, node_pool_text("second"));
  EXPECT_EQ(refused.status, 500);
  EXPECT_THAT(refused.at("message"), HasSubstr("failed calling webhook"));
}

}  // namespace
}  // namespace millwright::sandbox
