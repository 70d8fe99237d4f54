#include "cloud/alibaba/calls/endpoints.hpp"
#include "cloud/alibaba/calls/wire/errors.hpp"
#include "unit/cloud/fakes/fake_http.hpp"

namespace millwright::cloud::alibaba {
namespace {

using base::ErrorKind;
using testing::HasSubstr;
using testing::Not;

TEST(AlibabaErrors, CodesSayWhatTheCallerMustDo) {
  EXPECT_EQ(kind_of("OperationDenied.NoStock", 403), ErrorKind::NoCapacity);
  EXPECT_EQ(kind_of("NoInstanceStock", 0), ErrorKind::NoCapacity);
  EXPECT_EQ(kind_of("Zone.NotOnSale", 403), ErrorKind::NoCapacity);
  EXPECT_EQ(kind_of("InvalidVSwitchId.IpNotEnough", 403), ErrorKind::NoCapacity);
  EXPECT_EQ(kind_of("QuotaExceeded.ElasticQuota", 403), ErrorKind::NoCapacity);
  EXPECT_EQ(kind_of("QuotaExceed.Spot", 403), ErrorKind::NoCapacity);
  EXPECT_EQ(kind_of("Throttling.User", 400), ErrorKind::Throttled);
  EXPECT_EQ(kind_of("Throttling", 400), ErrorKind::Throttled);
  EXPECT_EQ(kind_of("InvalidAccountStatus.NotEnoughBalance", 400), ErrorKind::Denied);
  EXPECT_EQ(kind_of("Forbidden.RAM", 403), ErrorKind::Denied);
  EXPECT_EQ(kind_of("InvalidAccessKeyId.NotFound", 404), ErrorKind::Denied);
  EXPECT_EQ(kind_of("InvalidInstanceId.NotFound", 404), ErrorKind::NotFound);
  EXPECT_EQ(kind_of("IncorrectInstanceStatus.Initializing", 403), ErrorKind::Conflict);
  EXPECT_EQ(kind_of("SignatureNonceUsed", 400), ErrorKind::Unavailable);
  EXPECT_EQ(kind_of("SomethingNew", 400), ErrorKind::Invalid);
  EXPECT_EQ(kind_of("SomethingNew", 403), ErrorKind::Denied);
  EXPECT_EQ(kind_of("InvalidSystemDiskCategory.ValueNotSupported", 403), ErrorKind::Invalid);
  EXPECT_EQ(kind_of("SomethingNew", 503), ErrorKind::Unavailable);
  EXPECT_EQ(kind_of("", 429), ErrorKind::Throttled);
}

TEST(AlibabaErrors, BothStylesOfErrorsAreRead) {
  const auto rpc =
      read_error("ecs RunInstances",
                 net::Response::json(
                     403, R"({"Code":"Forbidden.RAM","Message":"not you","RequestId":"r-1"})"));
  EXPECT_EQ(rpc.code, "Forbidden.RAM");
  EXPECT_EQ(rpc.message,
            "ecs RunInstances: Forbidden.RAM: not you; allow the action in the RAM policy of the "
            "controller's identity (docs/alibaba.md) (request id r-1)");
  const auto roa =
      read_error("cs DescribeClusterDetail",
                 net::Response::json(
                     404, R"({"code":"ErrorClusterNotFound","message":"no","requestId":"q"})"));
  EXPECT_EQ(roa.code, "ErrorClusterNotFound");
  EXPECT_EQ(roa.kind, ErrorKind::NotFound);
  EXPECT_THAT(roa.message, HasSubstr("(request id q)"));
}

TEST(AlibabaErrors, WhatIsSaidOfASignatureIsNotRepeated) {
  // Alibaba Cloud's message repeats the string to sign, security token included.
  const auto error = read_error(
      "ecs X", net::Response::json(400, R"({"Code":"SignatureDoesNotMatch",)"
                                        R"("Message":"server string to sign is: CAISsecret"})"));
  EXPECT_EQ(error.kind, ErrorKind::Denied);
  EXPECT_THAT(error.message, Not(HasSubstr("CAISsecret")));
  EXPECT_THAT(error.message, HasSubstr("SignatureDoesNotMatch"));
}

TEST(AlibabaErrors, HostileAnswersAreErrorsOfTheirStatus) {
  const auto page = read_error("ecs X", net::Response::text(502, "<html>Bad gateway</html>"));
  EXPECT_EQ(page.kind, ErrorKind::Unavailable);
  EXPECT_EQ(page.message, "ecs X: HTTP 502 without an error code of Alibaba Cloud's");
  const auto numbers =
      read_error("ecs X", net::Response::json(400, R"({"Code":7,"Message":["a"]})"));
  EXPECT_EQ(numbers.kind, ErrorKind::Invalid);
  const auto huge = read_error(
      "ecs X",
      net::Response::json(400, R"({"Code":"A\n","Message":")" + std::string(5000, 'x') + R"("})"));
  EXPECT_LT(huge.message.size(), 600U);
  EXPECT_THAT(huge.message, Not(HasSubstr("\n")));
}

class AlibabaEndpointsTest : public testing::Test {
 protected:
  std::string url(Service service) {
    const auto made = Endpoints::make("cn-hangzhou", machine.environment());
    return made ? made->of(service) : made.error().message;
  }
  FakeMachine machine;
};

TEST_F(AlibabaEndpointsTest, EachServiceHasItsHostInTheRegion) {
  EXPECT_EQ(url(Service::Ecs), "https://ecs.cn-hangzhou.aliyuncs.com");
  EXPECT_EQ(url(Service::Vpc), "https://vpc.cn-hangzhou.aliyuncs.com");
  EXPECT_EQ(url(Service::Cs), "https://cs.cn-hangzhou.aliyuncs.com");
  EXPECT_EQ(url(Service::Sts), "https://sts.cn-hangzhou.aliyuncs.com");
}

TEST_F(AlibabaEndpointsTest, AnOverrideIsAHostOrAUrl) {
  machine.variables = {{"ECS_ENDPOINT", "ecs-vpc.cn-hangzhou.aliyuncs.com"},
                       {"CS_ENDPOINT", "http://127.0.0.1:8080/"}};
  EXPECT_EQ(url(Service::Ecs), "https://ecs-vpc.cn-hangzhou.aliyuncs.com");
  EXPECT_EQ(url(Service::Cs), "http://127.0.0.1:8080");
  EXPECT_EQ(url(Service::Vpc), "https://vpc.cn-hangzhou.aliyuncs.com");
  machine.variables = {{"VPC_ENDPOINT", "ftp://x"}};
  EXPECT_THAT(url(Service::Ecs), HasSubstr("VPC_ENDPOINT: expected a host or a URL"));
}

TEST_F(AlibabaEndpointsTest, ARegionThatIsNoNameIsRefused) {
  EXPECT_FALSE(Endpoints::make("evil.example/", machine.environment()));
  EXPECT_FALSE(Endpoints::make("", machine.environment()));
}

}  // namespace
}  // namespace millwright::cloud::alibaba
