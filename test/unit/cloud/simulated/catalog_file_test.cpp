#include "simulated_fixture.hpp"

#include <fstream>

namespace millwright::cloud {
namespace {

using ::testing::HasSubstr;

std::string offering(std::string_view price = "0.5", std::string_view zone = "z1",
                     std::string_view capacity_type = "spot") {
  return std::string(R"({"Price": )")
      .append(price)
      .append(R"(, "Available": true, "Requirements": [)")
      .append(R"({"key": "topology.kubernetes.io/zone", "operator": "In", "values": [")")
      .append(zone)
      .append(R"("]}, {"key": "karpenter.sh/capacity-type", "operator": "In", "values": [")")
      .append(capacity_type)
      .append(R"("]}]})");
}

std::string entry(std::string_view name, std::string_view offerings,
                  std::string_view resources = R"({"cpu": "4", "memory": "16Gi"})") {
  return std::string(R"({"name": ")")
      .append(name)
      .append(R"(", "architecture": "amd64", "operatingSystems": ["linux"], "resources": )")
      .append(resources)
      .append(R"(, "offerings": [)")
      .append(offerings)
      .append("]}");
}

TEST(CatalogFile, ReadsTypesWithTheUnionOfTheirOfferings) {
  const auto types = parse_catalog(
      "[" + entry("m5.large", offering() + "," + offering("1.5", "z2", "on-demand")) + "]", "t");
  ASSERT_TRUE(types) << types.error().message;
  ASSERT_EQ(types->size(), 1U);
  const auto& type = types->front();
  EXPECT_EQ(type.name, "m5.large");
  EXPECT_EQ(type.offerings.size(), 2U);
  EXPECT_EQ(type.offerings[1].zone(), "z2");
  EXPECT_DOUBLE_EQ(type.offerings[1].price, 1.5);
  EXPECT_EQ(type.requirements.find(model::kZoneLabel)->values(),
            (std::vector<std::string>{"z1", "z2"}));
  EXPECT_EQ(type.requirements.find("karpenter.kwok.sh/instance-size")->values().front(), "large");
  EXPECT_EQ(type.requirements.find("karpenter.kwok.sh/instance-family")->values().front(), "m5");
  EXPECT_EQ(model::get(type.allocatable(), "cpu").to_string(), "3900m");
  EXPECT_EQ(model::get(type.allocatable(), "pods").to_string(), "110") << "the default";
}

TEST(CatalogFile, MistakesNameTheFileTheEntryAndTheField) {
  struct Case {
    std::string text;
    const char* expected;
  };
  const std::string good = entry("a", offering());
  const std::vector<Case> cases{
      {"", "catalog file t.json"},
      {"{}", "must be a list"},
      {"[]", "at least one instance type"},
      {"[1]", "entry 0: must be an object"},
      {"[" + good + ", {}]", "entry 1: name: must be a non-empty text"},
      {R"([{"name": 5}])", "entry 0: name: must be a non-empty text"},
      {R"([{"name": "a"}])", "entry 0 (a): architecture: must be"},
      {R"([{"name": "a", "architecture": "amd64"}])", "operatingSystems: must name at least one"},
      {R"([{"name": "a", "architecture": "amd64", "operatingSystems": "linux"}])",
       "operatingSystems: must be a list"},
      {"[" + entry("a", offering(), "[]") + "]", "resources: must be an object"},
      {"[" + entry("a", offering(), R"({"cpu": "four"})") + "]",
       "resources.cpu: must be a quantity"},
      {"[" + entry("a", offering(), R"({"cpu": "-4"})") + "]", "resources.cpu: must be a quantity"},
      {"[" + entry("a", offering(), R"({"cpu": "4"})") + "]", "resources.memory: is missing"},
      {"[" + entry("a", "") + "]", "offerings: must be a list with at least one"},
      {"[" + entry("a", "7") + "]", "offerings[0]: must be an object"},
      {"[" + entry("a", offering() + "," + offering("\"x\"")) + "]", "offerings[1].Price: must be"},
      {"[" + entry("a", offering("-1")) + "]", "offerings[0].Price: must be"},
      {"[" + entry("a", R"({"Price": 1, "Available": 1, "Requirements": []})") + "]",
       "offerings[0].Available: must be true or false"},
      {"[" + entry("a", R"({"Price": 1, "ReservationCapacity": 1.5, "Requirements": []})") + "]",
       "offerings[0].ReservationCapacity: must be a whole number"},
      {"[" + entry("a", R"({"Price": 1})") + "]", "offerings[0].Requirements: must be a list"},
      {"[" + entry("a", R"({"Price": 1, "Requirements": []})") + "]",
       "must set topology.kubernetes.io/zone to exactly one value"},
      {"[" + entry("a", R"({"Price": 1, "Requirements": [{"key": "zone", "operator": "in"}]})") +
           "]",
       R"(offerings[0].Requirements[0].operator: unknown operator "in")"},
      {"[" + entry("a", R"({"Price": 1, "Requirements": [{"key": "zone", "operator": "In"}]})") +
           "]",
       "Requirements[0].values: In needs at least one value"},
      {"[" + good + "," + good + "]", "entry 1 (a): name: is used by an earlier entry"},
  };
  for (const auto& test : cases) {
    const auto types = parse_catalog(test.text, "t.json");
    ASSERT_FALSE(types) << test.text;
    EXPECT_EQ(types.error().kind, base::ErrorKind::Invalid);
    EXPECT_THAT(types.error().message, HasSubstr("catalog file t.json")) << test.text;
    EXPECT_THAT(types.error().message, HasSubstr(test.expected)) << test.text;
  }
}

TEST(CatalogFile, ReplacesTheProfilesOwnCatalog) {
  const std::string path = ::testing::TempDir() + "/millwright_catalog_test.json";
  std::ofstream(path) << "[" + entry("only", offering()) + "]";
  base::VirtualLoop loop(kSimulatedStart);
  SimulatedSettings settings;
  settings.catalog_file = path;
  const auto cloud = SimulatedCloud::make(loop, Profile::Kwok, settings);
  ASSERT_TRUE(cloud) << cloud.error().message;
  const auto types = (*cloud)->instance_types({}, {});
  ASSERT_EQ((*types)->size(), 1U);
  EXPECT_EQ((*types)->front().name, "only");
  EXPECT_TRUE((*types)->front().offerings.front().available)
      << "zones of the file count, not those of the profile";
}

TEST(CatalogFile, ThatIsMissingIsAnErrorAtStart) {
  base::VirtualLoop loop(kSimulatedStart);
  SimulatedSettings settings;
  settings.catalog_file = "/nonexistent/catalog.json";
  const auto cloud = SimulatedCloud::make(loop, Profile::Kwok, settings);
  ASSERT_FALSE(cloud);
  EXPECT_EQ(cloud.error().kind, base::ErrorKind::Invalid);
  EXPECT_THAT(cloud.error().message, HasSubstr("/nonexistent/catalog.json"));
}

}  // namespace
}  // namespace millwright::cloud
