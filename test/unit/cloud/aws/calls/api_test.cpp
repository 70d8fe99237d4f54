// One AWS call through rates, retries and hostile answers.
#include "millwright/model/json_fields.hpp"
#include "unit/cloud/aws/fakes/fake_http.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;
using testing::HasSubstr;
using namespace std::chrono_literals;

class ApiTest : public testing::Test {
 protected:
  ApiTest()
      : loop(kStart),
        http(loop),
        endpoints(Endpoints::make("us-west-2", machine.environment()).value()),
        api({.loop = loop,
             .client = http,
             .endpoints = endpoints,
             .credentials = &credentials,
             .metrics = &metrics,
             .log = {},
             .seed = 7}) {}

  ApiResult<XmlNode> describe() {
    return wait(loop, api.query(Service::Ec2, Form("DescribeSubnets", "2016-11-15")));
  }

  double counted(const std::string& metric, const std::string& code) const {
    return metrics.value(metric,
                         {{"service", "EC2"}, {"action", "DescribeSubnets"}, {"code", code}});
  }

  FakeMachine machine;
  base::VirtualLoop loop;
  FakeHttp http;
  Endpoints endpoints;
  FixedCredentials credentials;
  base::Metrics metrics;
  Api api;
};

TEST_F(ApiTest, ASignedFormGoesOutAndXmlComesBack) {
  http.script({xml("<DescribeSubnetsResponse><subnetSet/></DescribeSubnetsResponse>")});
  const auto root = describe();
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->name, "DescribeSubnetsResponse");
  ASSERT_EQ(http.requests.size(), 1U);
  const auto& request = http.requests[0];
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "https://ec2.us-west-2.amazonaws.com/");
  EXPECT_EQ(request.body, "Action=DescribeSubnets&Version=2016-11-15");
  EXPECT_THAT(std::string(request.headers.get("Authorization")),
              HasSubstr("AKIDFAKE/20260102/us-west-2/ec2/aws4_request"));
  EXPECT_FALSE(request.follow_redirects);
  EXPECT_EQ(counted("aws_sdk_go_request_attempt_total", "200"), 1);
  EXPECT_EQ(counted("aws_sdk_go_request_total", "200"), 1);
}

TEST_F(ApiTest, JsonNamesItsTarget) {
  http.script({net::Response::json(200, R"({"Parameter":{"Value":"ami-1"}})")});
  boost::json::value body{{"Name", "/x"}};
  const auto answer = wait(loop, api.json(Service::Ssm, "GetParameter", body));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(model::text_at(*answer, "Parameter.Value"), "ami-1");
  EXPECT_EQ(http.requests[0].headers.get("X-Amz-Target"), "AmazonSSM.GetParameter");
  EXPECT_EQ(http.requests[0].headers.get("Content-Type"), "application/x-amz-json-1.1");
  EXPECT_EQ(http.requests[0].body, R"({"Name":"/x"})");
}

TEST_F(ApiTest, RestJsonIsAPlainGet) {
  http.script({net::Response::json(200, R"({"cluster":{}})")});
  ASSERT_TRUE(wait(loop, api.get(Service::Eks, "DescribeCluster", "/clusters/demo")));
  EXPECT_EQ(http.requests[0].method, "GET");
  EXPECT_EQ(http.requests[0].url, "https://eks.us-west-2.amazonaws.com/clusters/demo");
}

TEST_F(ApiTest, ThrottlingIsWaitedOutWithGrowingPauses) {
  http.script({ec2_error("RequestLimitExceeded", 503), ec2_error("RequestLimitExceeded", 503),
               xml("<R/>")});
  ASSERT_TRUE(describe());
  ASSERT_EQ(http.times.size(), 3U);
  EXPECT_GE(http.times[1] - http.times[0], 500ms);
  EXPECT_GE(http.times[2] - http.times[1], 1000ms);
  EXPECT_LE(http.times[2] - http.times[0], 4s);
  EXPECT_EQ(counted("aws_sdk_go_request_attempt_total", "503"), 2);
  EXPECT_EQ(counted("aws_sdk_go_request_attempt_total", "200"), 1);
  EXPECT_EQ(counted("aws_sdk_go_request_total", "503"), 0);
  EXPECT_EQ(counted("aws_sdk_go_request_total", "200"), 1);
  EXPECT_THAT(metrics.render(),
              HasSubstr("aws_sdk_go_request_retry_count_sum{action=\"DescribeSubnets\","
                        "code=\"200\",service=\"EC2\"} 2"));
}

TEST_F(ApiTest, ThreeAttemptsAreAllThatIsMade) {
  http.script({ec2_error("RequestLimitExceeded", 503)});
  const auto root = describe();
  ASSERT_FALSE(root);
  EXPECT_EQ(root.error().kind, ErrorKind::Throttled);
  EXPECT_EQ(root.error().code, "RequestLimitExceeded");
  EXPECT_EQ(http.requests.size(), 3U);
}

TEST_F(ApiTest, ARefusalIsNotTriedAgain) {
  http.script({ec2_error("InvalidParameterValue")});
  EXPECT_FALSE(describe());
  EXPECT_EQ(http.requests.size(), 1U);
}

TEST_F(ApiTest, BrokenConnectionsAndServerErrorsAreTriedAgain) {
  http.script({base::fail(ErrorKind::Unavailable, "connection refused"),
               net::Response::text(500, "<html>"), xml("<R/>")});
  EXPECT_TRUE(describe());
  EXPECT_EQ(http.requests.size(), 3U);
}

TEST_F(ApiTest, ExpiredCredentialsAreReplaced) {
  http.script({ec2_error("RequestExpired"), xml("<R/>")});
  EXPECT_TRUE(describe());
  ASSERT_EQ(http.requests.size(), 2U);
  EXPECT_EQ(http.requests[0].headers.get("X-Amz-Security-Token"), "");
  EXPECT_EQ(http.requests[1].headers.get("X-Amz-Security-Token"), "second");
}

TEST_F(ApiTest, EachAttemptIsSignedForItsOwnTime) {
  http.delay = 90s;
  http.script({net::Response::text(503, ""), xml("<R/>")});
  EXPECT_TRUE(describe());
  EXPECT_NE(http.requests[0].headers.get("X-Amz-Date"), http.requests[1].headers.get("X-Amz-Date"));
}

TEST_F(ApiTest, AnswersInTheWrongShapeEndInAClearError) {
  for (const std::string body : {"", "not xml", "<a><b>", "{\"a\":1}"}) {
    SCOPED_TRACE(body);
    http.script({xml(body)});
    const auto root = describe();
    ASSERT_FALSE(root);
    EXPECT_THAT(root.error().message, HasSubstr("ec2 DescribeSubnets: the answer (HTTP 200) is"));
  }
  for (const std::string body : {"", "[]", "1", "<a/>", "{\"a\":"}) {
    SCOPED_TRACE(body);
    http.script({net::Response::json(200, body)});
    const auto answer = wait(loop, api.json(Service::Sqs, "ReceiveMessage", nullptr));
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().message, HasSubstr("not a JSON object"));
  }
}

TEST_F(ApiTest, OneApiIsNotCalledFasterThanItsRate) {
  http.script({xml("<R/>")});
  http.delay = 0ms;
  base::TaskGroup group(loop);
  int answered = 0;
  struct Run {
    static base::Task<void> one(Api& api, int& count) {
      Form form("DescribeSubnets", "2016-11-15");
      auto root = co_await api.query(Service::Ec2, std::move(form));
      count += root ? 1 : 0;
    }
  };
  for (int i = 0; i < 300; ++i) {
    group.spawn(Run::one(api, answered));
  }
  loop.run_for(1s);
  EXPECT_GE(answered, 100);  // what was saved up
  EXPECT_LE(answered, 121);
  loop.run_for(10s);
  EXPECT_EQ(answered, 300);
}

TEST_F(ApiTest, StoppingEndsTheRetries) {
  http.script({ec2_error("RequestLimitExceeded", 503)});
  std::stop_source stop;
  stop.request_stop();
  const Patience patience(stop.get_token());
  const auto root =
      wait(loop, api.query(Service::Ec2, Form("DescribeSubnets", "2016-11-15"), patience));
  EXPECT_FALSE(root);
  EXPECT_EQ(http.requests.size(), 1U);
}

TEST(TokenBucket, PromisesTokensInOrder) {
  TokenBucket bucket({.per_second = 2, .burst = 2}, kStart);
  EXPECT_EQ(bucket.take(kStart), 0s);
  EXPECT_EQ(bucket.take(kStart), 0s);
  EXPECT_EQ(bucket.take(kStart), 500ms);
  EXPECT_EQ(bucket.take(kStart), 1000ms);
  EXPECT_EQ(bucket.take(kStart + 10s), 0s);
}

TEST(TokenBucket, LosesItsSavingsWhenDrained) {
  TokenBucket bucket({.per_second = 1, .burst = 100}, kStart);
  bucket.drain(kStart);
  EXPECT_EQ(bucket.take(kStart), 1s);
}

}  // namespace
}  // namespace millwright::cloud::aws
