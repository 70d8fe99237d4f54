// Answers that were damaged on their way, thousands of them: no reader may crash or hang.
#include "cloud/aws/calls/ec2.hpp"
#include "cloud/aws/health/interruption.hpp"
#include "cloud/aws/launch/launch_request.hpp"
#include "unit/cloud/aws/catalog/catalog_fixture.hpp"

namespace millwright::cloud::aws {
namespace {

constexpr int kHostileRuns = 3'000;

// Some bytes replaced, a piece cut out, a piece doubled, or the end lost.
std::string damaged(std::string text, base::Random& random) {
  const auto place = [&] { return static_cast<std::size_t>(random.below(text.size())); };
  switch (random.below(4)) {
    case 0:
      for (auto i = random.below(20) + 1; i > 0; --i) {
        text[place()] = static_cast<char>(random.below(256));
      }
      break;
    case 1:
      text.erase(place(), random.below(200));
      break;
    case 2:
      text.insert(place(), text.substr(place(), random.below(500)));
      break;
    default:
      text.resize(place());
  }
  return text;
}

TEST(Hostile, DamagedTypesAreReadOrRefused) {
  const auto whole = read_test_data("instance_types.xml");
  const auto begin = whole.find("<item><instanceType>");
  const auto end = whole.find("</item>\n", begin) + 8;
  const auto document =
      "<R><instanceTypeSet>" + whole.substr(begin, end - begin) + "</instanceTypeSet></R>";
  ASSERT_TRUE(parse_xml(document));
  base::Random random(1);
  int readable = 0;
  NodeClassSpec spec;
  spec.family = Family::Al2023;
  for (int run = 0; run < kHostileRuns; ++run) {
    const auto root = parse_xml(damaged(document, random));
    if (!root) {
      continue;
    }
    for (const auto& item : root->items("instanceTypeSet")) {
      if (const auto facts = read_type(item)) {
        ++readable;
        const auto capacity = capacity_of(*facts, spec, {});
        EXPECT_GT(model::get(capacity, "cpu").milli(), 0);
        overhead_of(*facts, spec, capacity);
      }
    }
  }
  EXPECT_GT(readable, 0);
  EXPECT_LT(readable, kHostileRuns);
}

TEST(Hostile, DamagedFleetsInstancesAndErrorsAreReadOrRefused) {
  const std::string document =
      "<R><reservationSet><item><instancesSet><item><instanceId>i-1</instanceId><instanceType>"
      "m5.large</instanceType><placement><availabilityZone>a</availabilityZone><groupId>pg-1</"
      "groupId>"
      "<partitionNumber>3</partitionNumber></placement>"
      "<launchTime>2026-01-01T00:00:00.000Z</launchTime><tagSet><item><key>k</key><value>v</value>"
      "</item></tagSet></item></instancesSet></item></reservationSet><fleetInstanceSet><item>"
      "<instanceIds><item>i-1</item></instanceIds></item></fleetInstanceSet><errorSet><item>"
      "<errorCode>E</errorCode></item></errorSet><Errors><Error><Code>C</Code><Message>M"
      "</Message></Error></Errors></R>";
  base::Random random(2);
  int readable = 0;
  for (int run = 0; run < kHostileRuns; ++run) {
    const auto text = damaged(document, random);
    const auto error = read_error("ec2 X", net::Response::text(400, text));
    EXPECT_FALSE(error.message.empty());
    const auto root = parse_xml(text);
    if (!root) {
      continue;
    }
    ++readable;
    read_fleet(*root);
    for (const auto& reservation : root->items("reservationSet")) {
      for (const auto& item : reservation.items("instancesSet")) {
        read_instance(item);
      }
    }
  }
  EXPECT_GT(readable, 0);
}

TEST(Hostile, DamagedJsonIsReadOrRefused) {
  const std::string event =
      R"({"version":"0","source":"aws.health","detail-type":"AWS Health Event","detail":)"
      R"({"service":"EC2","eventTypeCategory":"scheduledChange","instance-id":"i-1",)"
      R"("affectedEntities":[{"entityValue":"i-1"},{"entityValue":5}]}})";
  const std::string product =
      R"({"product":{"attributes":{"instanceType":"m5.large"}},"terms":{"OnDemand":{"A":)"
      R"({"priceDimensions":{"B":{"pricePerUnit":{"USD":"0.0960000000"}}}}}}})";
  base::Random random(3);
  int understood = 0;
  for (int run = 0; run < kHostileRuns; ++run) {
    understood += parse_interruption(damaged(event, random)).instances.empty() ? 0 : 1;
    const auto price = read_product(damaged(product, random), "USD");
    EXPECT_TRUE(!price || price->price > 0);
    const auto text = damaged(event, random);
    EXPECT_FALSE(read_error("sqs X", net::Response::json(400, text)).message.empty());
    const auto file = parse_price_file(text, "f");
    EXPECT_TRUE(file || file.error().kind == base::ErrorKind::Invalid);
  }
  EXPECT_GT(understood, 0);
  EXPECT_LT(understood, kHostileRuns);
}

}  // namespace
}  // namespace millwright::cloud::aws
