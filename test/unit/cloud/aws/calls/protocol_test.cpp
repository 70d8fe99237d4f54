// Forms, XML answers, errors and endpoints.
#include "unit/cloud/aws/fakes/fake_http.hpp"

#include <rapidcheck/gtest.h>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;
using testing::HasSubstr;
using testing::Not;

TEST(Form, IsEncodedAsAwsClientsWriteIt) {
  Form form("DescribeSpotPriceHistory", "2016-11-15");
  const std::vector<std::string> products{"Linux/UNIX", "Linux/UNIX (Amazon VPC)"};
  form.add_list("ProductDescription", products);
  form.add("StartTime", "2026-11-21T05:00:00Z");
  form.add("InstanceType.1", "m5.large");
  EXPECT_EQ(form.body(),
            "Action=DescribeSpotPriceHistory&Version=2016-11-15"
            "&ProductDescription.1=Linux%2FUNIX&ProductDescription.2=Linux%2FUNIX+%28Amazon+VPC%29"
            "&StartTime=2026-11-21T05%3A00%3A00Z&InstanceType.1=m5.large");
}

TEST(Form, NumbersFiltersInTheirOrder) {
  Form form("DescribeSubnets", "2016-11-15");
  const std::vector<std::string> zones{"us-west-2a", "us-west-2b"};
  const std::vector<std::string> demo{"demo"};
  form.add_filter("availability-zone", zones).add_filter("tag:a b", demo);
  form.add("MaxResults", 500).add("DryRun", true);
  EXPECT_EQ(form.body(),
            "Action=DescribeSubnets&Version=2016-11-15&Filter.1.Name=availability-zone"
            "&Filter.1.Value.1=us-west-2a&Filter.1.Value.2=us-west-2b"
            "&Filter.2.Name=tag%3Aa+b&Filter.2.Value.1=demo&MaxResults=500&DryRun=true");
}

TEST(Form, DecimalsAreAsShortAsTheyCanBe) {
  EXPECT_EQ(decimal_text(0.096), "0.096");
  EXPECT_EQ(decimal_text(3.0), "3");
}

RC_GTEST_PROP(Form, WhatWasAddedCanBeReadBack, (const std::string& value)) {
  Form form("A", "1");
  form.add("k", value);
  const auto at = form.body().find("&k=");
  auto encoded = form.body().substr(at + 3);
  for (char& c : encoded) {
    if (c == '+') {
      c = ' ';
    }
  }
  RC_ASSERT(net::url_decode(encoded) == value);
}

TEST(Xml, BecomesATreeWithoutPrefixesAndAttributes) {
  const auto root = parse_xml(
      "<?xml version=\"1.0\"?><e:R xmlns:e=\"x\"><aSet><item><id n=\"1\">a&amp;b</id>"
      "<count>3</count><price>0.5</price><on>true</on></item><item><id><![CDATA[<c>]]></id>"
      "</item></aSet><empty/></e:R>");
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->name, "R");
  const auto items = root->items("aSet");
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].text_of("id"), "a&b");
  EXPECT_EQ(items[0].integer_of("count"), 3);
  EXPECT_EQ(items[0].decimal_of("price"), 0.5);
  EXPECT_TRUE(items[0].is_true("on"));
  EXPECT_EQ(items[1].text_of("id"), "<c>");
  EXPECT_TRUE(root->has("empty"));
  EXPECT_FALSE(root->has("nothing"));
  EXPECT_EQ(root->child("nothing").child("at all").text, "");
  EXPECT_EQ(items[0].integer_of("id"), std::nullopt);
}

TEST(Xml, IsRefusedWhenItIsNone) {
  for (const std::string text :
       {"", "   ", "{\"a\":1}", "<a><b></a>", "<a>", "<a", "<!-- only -->", "<html><body>"}) {
    SCOPED_TRACE(text);
    const auto root = parse_xml(text);
    ASSERT_FALSE(root);
    EXPECT_THAT(root.error().message, HasSubstr("XML"));
  }
}

TEST(Xml, EndlessNestingIsRefused) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) {
    text += "<a>";
  }
  for (int i = 0; i < 100'000; ++i) {
    text += "</a>";
  }
  EXPECT_FALSE(parse_xml(text));
}

TEST(Xml, EntitiesOfADocumentsOwnAreNotExpanded) {
  const auto root =
      parse_xml("<!DOCTYPE a [<!ENTITY x \"0123456789\"><!ENTITY y \"&x;&x;\">]><a>&y;</a>");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->text, "&y;");
}

TEST(Errors, CarryCodeMessageAndRequestIdFromEveryProtocol) {
  auto json = net::Response::json(400, R"({"__type":"com.amazonaws.sqs#QueueDoesNotExist",)"
                                       R"("message":"The specified queue does not exist."})");
  json.headers.set("x-amzn-RequestId", "req-json");
  auto rest = net::Response::json(404, R"({"message":"No cluster found for name: nope."})");
  rest.headers.set("x-amzn-ErrorType", "ResourceNotFoundException:http://internal/");
  struct Case {
    net::Response response;
    std::string code;
    ErrorKind kind;
    std::string in_message;
    std::string request_id;
  };
  const std::vector<Case> cases{
      {ec2_error("InvalidInstanceID.NotFound", 400, "i-0 does not exist"),
       "InvalidInstanceID.NotFound", ErrorKind::NotFound, "i-0 does not exist", "req-1"},
      {xml("<ErrorResponse xmlns=\"x\"><Error><Type>Sender</Type><Code>NoSuchEntity</Code>"
           "<Message>Role nope not found</Message></Error><RequestId>r2</RequestId>"
           "</ErrorResponse>",
           404),
       "NoSuchEntity", ErrorKind::NotFound, "Role nope not found", "r2"},
      {json, "QueueDoesNotExist", ErrorKind::NotFound, "queue does not exist", "req-json"},
      {rest, "ResourceNotFoundException", ErrorKind::NotFound, "No cluster found", ""},
      {net::Response::text(500, "<html>oops</html>"), "", ErrorKind::Unavailable,
       "HTTP 500 without an answer of AWS's", ""},
      {net::Response::text(301, "moved"), "", ErrorKind::Invalid, "HTTP 301", ""},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.in_message);
    const auto error = read_error("ec2 DoThing", each.response);
    EXPECT_EQ(error.code, each.code);
    EXPECT_EQ(error.kind, each.kind);
    EXPECT_EQ(error.request_id, each.request_id);
    EXPECT_THAT(error.message, HasSubstr("ec2 DoThing: "));
    EXPECT_THAT(error.message, HasSubstr(each.in_message));
    EXPECT_THAT(error.message, HasSubstr(each.request_id));
  }
}

TEST(Errors, CodesMeanWhatKarpenterTakesThemFor) {
  const std::vector<std::pair<std::string, ErrorKind>> cases{
      {"InsufficientInstanceCapacity", ErrorKind::NoCapacity},
      {"MaxSpotInstanceCountExceeded", ErrorKind::NoCapacity},
      {"SpotMaxPriceTooLow", ErrorKind::NoCapacity},
      {"VcpuLimitExceeded", ErrorKind::NoCapacity},
      {"UnfulfillableCapacity", ErrorKind::NoCapacity},
      {"Unsupported", ErrorKind::NoCapacity},
      {"InsufficientFreeAddressesInSubnet", ErrorKind::NoCapacity},
      {"MaxFleetCountExceeded", ErrorKind::NoCapacity},
      {"ReservationCapacityExceeded", ErrorKind::NoCapacity},
      {"RequestLimitExceeded", ErrorKind::Throttled},
      {"ThrottlingException", ErrorKind::Throttled},
      {"UnauthorizedOperation", ErrorKind::Denied},
      {"ExpiredToken", ErrorKind::Denied},
      {"EntityAlreadyExists", ErrorKind::Exists},
      {"InvalidLaunchTemplateName.AlreadyExistsException", ErrorKind::Exists},
      {"InvalidLaunchTemplateName.NotFoundException", ErrorKind::NotFound},
      {"InvalidLaunchTemplateId.NotFound", ErrorKind::NotFound},
      {"ParameterNotFound", ErrorKind::NotFound},
      {"InternalError", ErrorKind::Unavailable},
      {"InvalidParameterValue", ErrorKind::Invalid},
  };
  for (const auto& [code, kind] : cases) {
    EXPECT_EQ(kind_of(code, 400), kind) << code;
  }
}

TEST(Errors, SayWhatToDoAboutADenial) {
  EXPECT_THAT(read_error("ec2 X", ec2_error("UnauthorizedOperation", 403)).message,
              HasSubstr("IAM policy"));
  EXPECT_THAT(read_error("ec2 X", ec2_error("AuthFailure", 401)).message, HasSubstr("credentials"));
}

TEST(Errors, AnswersThatWereNotUnderstoodAreNotShownWhole) {
  const auto refused = read_error("x", net::Response::text(502, std::string(5'000, 'a') + "\n"));
  EXPECT_LT(refused.message.size(), 300U);
  const auto odd = bad_answer("x", net::Response::text(200, "SECRET"), "not a JSON object");
  EXPECT_THAT(odd.message, Not(HasSubstr("SECRET")));
}

std::string url_of(const std::string& region, Service service,
                   const std::map<std::string, std::string>& variables = {}) {
  FakeMachine machine{variables, {}};
  const auto endpoints = Endpoints::make(region, machine.environment());
  return endpoints ? endpoints->of(service).url : endpoints.error().message;
}

TEST(Endpoints, FollowThePartitionOfTheRegion) {
  EXPECT_EQ(url_of("us-west-2", Service::Ec2), "https://ec2.us-west-2.amazonaws.com");
  EXPECT_EQ(url_of("cn-north-1", Service::Ec2), "https://ec2.cn-north-1.amazonaws.com.cn");
  EXPECT_EQ(url_of("us-gov-west-1", Service::Sts), "https://sts.us-gov-west-1.amazonaws.com");
  EXPECT_EQ(url_of("us-iso-east-1", Service::Ec2), "https://ec2.us-iso-east-1.c2s.ic.gov");
  EXPECT_EQ(url_of("us-west-2", Service::Iam), "https://iam.amazonaws.com");
  EXPECT_EQ(url_of("cn-northwest-1", Service::Iam), "https://iam.cn-north-1.amazonaws.com.cn");
  EXPECT_EQ(url_of("us-gov-east-1", Service::Iam), "https://iam.us-gov.amazonaws.com");
}

TEST(Endpoints, PricesAreAskedForInTheNearRegion) {
  FakeMachine machine;
  const std::vector<std::pair<std::string, std::string>> cases{{"us-west-2", "us-east-1"},
                                                               {"ap-southeast-1", "ap-south-1"},
                                                               {"eu-west-3", "eu-central-1"},
                                                               {"sa-east-1", "us-east-1"}};
  for (const auto& [region, near] : cases) {
    const auto endpoints = Endpoints::make(region, machine.environment());
    ASSERT_TRUE(endpoints);
    EXPECT_EQ(endpoints->of(Service::Pricing).url,
              "https://api.pricing." + near + ".amazonaws.com");
    EXPECT_EQ(endpoints->of(Service::Pricing).signing_region, near);
  }
  EXPECT_EQ(url_of("cn-north-1", Service::Pricing),
            "https://api.pricing.cn-northwest-1.amazonaws.com.cn");
  EXPECT_FALSE(Endpoints::make("us-gov-west-1", machine.environment())->has_price_list());
  EXPECT_TRUE(Endpoints::make("us-west-2", machine.environment())->has_price_list());
}

TEST(Endpoints, GlobalServicesAreSignedForTheirOwnRegion) {
  FakeMachine machine;
  const auto endpoints = Endpoints::make("eu-west-1", machine.environment());
  EXPECT_EQ(endpoints->of(Service::Iam).signing_region, "us-east-1");
  EXPECT_EQ(endpoints->of(Service::Ec2).signing_region, "eu-west-1");
}

TEST(Endpoints, TheEnvironmentOverridesThem) {
  const std::map<std::string, std::string> all{{"AWS_ENDPOINT_URL", "http://127.0.0.1:1/"},
                                               {"AWS_ENDPOINT_URL_EC2", "https://vpce.example"}};
  EXPECT_EQ(url_of("us-west-2", Service::Ec2, all), "https://vpce.example");
  EXPECT_EQ(url_of("us-west-2", Service::Iam, all), "http://127.0.0.1:1");
  auto ignored = all;
  ignored["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"] = "true";
  EXPECT_EQ(url_of("us-west-2", Service::Ec2, ignored), "https://ec2.us-west-2.amazonaws.com");
  EXPECT_THAT(url_of("us-west-2", Service::Ec2, {{"AWS_ENDPOINT_URL", "ftp://x"}}),
              HasSubstr("AWS_ENDPOINT_URL: expected a URL"));
}

TEST(Endpoints, FipsHasHostsOfItsOwn) {
  const std::map<std::string, std::string> fips{{"AWS_USE_FIPS_ENDPOINT", "true"}};
  EXPECT_EQ(url_of("us-west-2", Service::Ec2, fips), "https://ec2-fips.us-west-2.amazonaws.com");
  EXPECT_EQ(url_of("us-west-2", Service::Eks, fips), "https://fips.eks.us-west-2.amazonaws.com");
}

}  // namespace
}  // namespace millwright::cloud::aws
