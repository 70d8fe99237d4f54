// Capacity and overhead of real types by the formulas, worked out apart from this program.
#include "catalog_fixture.hpp"

namespace millwright::cloud::aws {
namespace {

constexpr std::int64_t kMebi = 1024 * 1024;

struct Row {
  std::string_view type;
  std::int64_t cpu_milli;
  std::int64_t memory_mib;
  std::int64_t pods;
  std::int64_t allocatable_milli;
  std::int64_t allocatable_mib;
};
// AL2023 without kubelet settings. Memory: less 64 MiB on arm64, less 7.5 % rounded up. Pods:
// ENIs x (addresses - 1) + 2. Reserved memory: 11 MiB a pod + 255 MiB, and 100 MiB for eviction.
// Reserved CPU: 60m + 10m + 2 x 5m + 2.5m for each further core. Beside each row: memory, pods,
// what allocatable memory and CPU lack.
constexpr std::array<Row, 31> kCapacityRows{{
    // clang-format off
    {"t3.micro", 2000, 947, 4, 1930, 548},  // 1024 - 77; 2 x 1 + 2; - 299 - 100; - 70m
    {"t3.medium", 2000, 3788, 17, 1930, 3246},  // 4096 - 308; 3 x 5 + 2; - 442 - 100; - 70m
    {"t4g.small", 2000, 1835, 11, 1930, 1359},  // 2048 - 64 - 149; 3 x 3 + 2; - 376 - 100; - 70m
    {"a1.large", 2000, 3729, 29, 1930, 3055},  // 4096 - 64 - 303; 3 x 9 + 2; - 574 - 100; - 70m
    {"m4.large", 2000, 7577, 20, 1930, 7002},  // 8192 - 615; 2 x 9 + 2; - 475 - 100; - 70m
    {"m5.large", 2000, 7577, 29, 1930, 6903},  // 8192 - 615; 3 x 9 + 2; - 574 - 100; - 70m
    {"m5.4xlarge", 16000, 60620, 234, 15890, 57691},  // 65536 - 4916; 8 x 29 + 2; - 2829 - 100; - 110m
    {"c5.metal", 96000, 181862, 737, 95690, 173400},  // 196608 - 14746; 15 x 49 + 2; - 8362 - 100; - 310m
    {"m6g.medium", 1000, 3729, 8, 940, 3286},  // 4096 - 64 - 303; 2 x 3 + 2; - 343 - 100; - 60m
    {"m6i.large", 2000, 7577, 29, 1930, 6903},  // 8192 - 615; 3 x 9 + 2; - 574 - 100; - 70m
    {"m7i-flex.large", 2000, 7577, 29, 1930, 6903},  // 8192 - 615; 3 x 9 + 2; - 574 - 100; - 70m
    {"m7g.16xlarge", 64000, 242424, 737, 63770, 233962},  // 262144 - 64 - 19656; 15 x 49 + 2; - 8362 - 100; - 230m
    {"c4.8xlarge", 36000, 56832, 234, 35840, 53903},  // 61440 - 4608; 8 x 29 + 2; - 2829 - 100; - 160m
    {"c5.9xlarge", 36000, 68198, 234, 35840, 65269},  // 73728 - 5530; 8 x 29 + 2; - 2829 - 100; - 160m
    {"c5d.large", 2000, 3788, 29, 1930, 3114},  // 4096 - 308; 3 x 9 + 2; - 574 - 100; - 70m
    {"c6gn.xlarge", 4000, 7518, 58, 3920, 6525},  // 8192 - 64 - 610; 4 x 14 + 2; - 893 - 100; - 80m
    {"c7a.medium", 1000, 1894, 8, 940, 1451},  // 2048 - 154; 2 x 3 + 2; - 343 - 100; - 60m
    {"r5.24xlarge", 96000, 727449, 737, 95690, 718987},  // 786432 - 58983; 15 x 49 + 2; - 8362 - 100; - 310m
    {"r6id.xlarge", 4000, 30310, 58, 3920, 29317},  // 32768 - 2458; 4 x 14 + 2; - 893 - 100; - 80m
    {"x1e.32xlarge", 128000, 3697868, 234, 127610, 3694939},  // 3997696 - 299828; 8 x 29 + 2; - 2829 - 100; - 390m
    {"u-6tb1.56xlarge", 224000, 5819596, 737, 223370, 5811134},  // 6291456 - 471860; 15 x 49 + 2; - 8362 - 100; - 630m
    {"i3.large", 2000, 14444, 29, 1930, 13770},  // 15616 - 1172; 3 x 9 + 2; - 574 - 100; - 70m
    {"i4i.32xlarge", 128000, 969932, 737, 127610, 961470},  // 1048576 - 78644; 15 x 49 + 2; - 8362 - 100; - 390m
    {"d3.xlarge", 4000, 30310, 10, 3920, 29845},  // 32768 - 2458; 4 x 2 + 2; - 365 - 100; - 80m
    {"g4dn.xlarge", 4000, 15155, 29, 3920, 14481},  // 16384 - 1229; 3 x 9 + 2; - 574 - 100; - 80m
    {"g4dn.12xlarge", 48000, 181862, 234, 47810, 178933},  // 196608 - 14746; 8 x 29 + 2; - 2829 - 100; - 190m
    {"g5.48xlarge", 192000, 727449, 345, 191450, 723299},  // 786432 - 58983; 7 x 49 + 2; - 4050 - 100; - 550m
    {"m5dn.24xlarge", 96000, 363724, 737, 95690, 355262},  // 393216 - 29492; 15 x 49 + 2; - 8362 - 100; - 310m
    {"p4d.24xlarge", 96000, 1091174, 737, 95690, 1082712},  // 1179648 - 88474; 15 x 49 + 2; - 8362 - 100; - 310m
    {"inf2.8xlarge", 32000, 121241, 234, 31850, 118312},  // 131072 - 9831; 8 x 29 + 2; - 2829 - 100; - 150m
    {"trn1.32xlarge", 128000, 484966, 247, 127610, 481894},  // 524288 - 39322; 5 x 49 + 2; - 2972 - 100; - 390m
    // clang-format on
}};

scheduling::InstanceType type_for(const std::string& name, const boost::json::value& spec,
                                  CapacitySettings settings = {}) {
  const auto facts = test_types();
  const auto found =
      std::find_if(facts.begin(), facts.end(), [&](const auto& each) { return each.name == name; });
  scheduling::InstanceType type;
  if (found == facts.end()) {
    ADD_FAILURE() << "no type " << name << " in the data";
    return type;
  }
  const auto read = read_spec(*node_class(spec));
  type.name = name;
  type.capacity = capacity_of(*found, read, settings);
  type.overhead = overhead_of(*found, read, type.capacity);
  type.volume_limits = volume_limits_of(*found, read);
  return type;
}

std::int64_t mebi(const model::ResourceList& list, std::string_view name) {
  return model::get(list, name).units() / kMebi;
}

boost::json::value al2023(boost::json::object more = {}) {
  more["amiFamily"] = "AL2023";
  return more;
}

TEST(Capacity, OfEveryTypeIsAsTheFormulasSay) {
  for (const auto& row : kCapacityRows) {
    SCOPED_TRACE(row.type);
    const auto type = type_for(std::string(row.type), al2023());
    EXPECT_EQ(model::get(type.capacity, "cpu").milli(), row.cpu_milli);
    EXPECT_EQ(mebi(type.capacity, "memory"), row.memory_mib);
    EXPECT_EQ(model::get(type.capacity, "pods").units(), row.pods);
    EXPECT_EQ(mebi(type.capacity, "ephemeral-storage"), 20 * 1024);
    const auto allocatable = type.allocatable();
    EXPECT_EQ(model::get(allocatable, "cpu").milli(), row.allocatable_milli);
    EXPECT_EQ(mebi(allocatable, "memory"), row.allocatable_mib);
    EXPECT_EQ(mebi(allocatable, "ephemeral-storage"), 17 * 1024);  // less 1 GiB and 10 %
    EXPECT_EQ(model::get(allocatable, "pods").units(), row.pods);
  }
}

TEST(Capacity, CountsDevices) {
  const std::vector<std::tuple<std::string, std::string, std::int64_t>> cases{
      {"g4dn.xlarge", "nvidia.com/gpu", 1},
      {"p4d.24xlarge", "nvidia.com/gpu", 8},
      {"p4d.24xlarge", "vpc.amazonaws.com/efa", 4},
      {"inf2.8xlarge", "aws.amazon.com/neuron", 1},
      {"inf2.8xlarge", "aws.amazon.com/neuroncore", 2},
      {"trn1.32xlarge", "aws.amazon.com/neuron", 16},
      {"trn1.32xlarge", "aws.amazon.com/neuroncore", 32},
      {"m5.large", "nvidia.com/gpu", 0},
      {"m5.large", "vpc.amazonaws.com/pod-eni", 9},
      {"c7a.medium", "vpc.amazonaws.com/pod-eni", 4},
      {"g4dn.12xlarge", "vpc.amazonaws.com/pod-eni", 54},
      {"m5dn.24xlarge", "vpc.amazonaws.com/pod-eni", 107},
      {"c5.metal", "vpc.amazonaws.com/pod-eni", 107},
      {"m7i-flex.large", "vpc.amazonaws.com/pod-eni", 3},
      {"i3.large", "vpc.amazonaws.com/pod-eni", 0},  // only i3.metal has a trunk
      {"t3.medium", "vpc.amazonaws.com/pod-eni", 0}};
  for (const auto& [type, resource, count] : cases) {
    EXPECT_EQ(model::get(type_for(type, al2023()).capacity, resource).units(), count)
        << type << " " << resource;
  }
}

TEST(Capacity, LimitsVolumesToWhatEc2TellsLessTheNodesOwn) {
  const auto limit = [](const std::string& type, const boost::json::value& spec) {
    const auto limits = type_for(type, spec).volume_limits;
    const auto found = limits.find("ebs.csi.aws.com");
    return found == limits.end() ? -1 : found->second;
  };
  EXPECT_EQ(limit("m5.large", al2023()), 26);  // 27 - the root volume
  EXPECT_EQ(limit("c5d.large", al2023()), 25);
  EXPECT_EQ(limit("m7i-flex.large", al2023()), 31);
  EXPECT_EQ(limit("m4.large", al2023()), 39);
  EXPECT_EQ(limit("m5.large", {{"amiFamily", "Bottlerocket"}}), 25);  // one for the system
  const boost::json::array devices{
      {{"deviceName", "/dev/xvda"}}, {{"deviceName", "/dev/xvdb"}}, {{"deviceName", "/dev/xvdc"}}};
  EXPECT_EQ(limit("m5.large", al2023({{"blockDeviceMappings", devices}})), 24);
  auto unknown = test_types().front();
  unknown.ebs_attachments.reset();
  EXPECT_TRUE(volume_limits_of(unknown, read_spec(*node_class(al2023()))).empty());
}

TEST(Capacity, FollowsTheKubeletsPodSettings) {
  const auto pods = [](const boost::json::value& spec, CapacitySettings settings = {}) {
    return model::get(type_for("m5.large", spec, settings).capacity, "pods").units();
  };
  EXPECT_EQ(pods(al2023({{"kubelet", {{"maxPods", 110}}}})), 110);
  EXPECT_EQ(pods(al2023({{"kubelet", {{"podsPerCore", 4}}}})), 8);
  EXPECT_EQ(pods(al2023({{"kubelet", {{"maxPods", 5}, {"podsPerCore", 4}}}})), 5);
  EXPECT_EQ(pods({{"amiFamily", "Bottlerocket"}, {"kubelet", {{"podsPerCore", 4}}}}), 29);
  EXPECT_EQ(pods({{"amiFamily", "Windows2022"}}), 110);
  EXPECT_EQ(pods(al2023(), {.reserved_enis = 1}), 20);
  EXPECT_EQ(pods(al2023(), {.reserved_enis = 9}), 2);
  const boost::json::array interfaces{
      {{"networkCardIndex", 0}, {"deviceIndex", 0}, {"interfaceType", "interface"}},
      {{"networkCardIndex", 0}, {"deviceIndex", 1}, {"interfaceType", "efa-only"}}};
  EXPECT_EQ(pods(al2023({{"networkInterfaces", interfaces}})), 20);
}

TEST(Capacity, ReservedMemoryCountsAddressesOnEksImagesAndPodsElsewhere) {
  const auto reserved = [](std::string family) {
    const auto type =
        type_for("m5.large", {{"amiFamily", family}, {"kubelet", {{"maxPods", 110}}}}, {});
    return mebi(type.overhead, "memory") - 100;
  };
  EXPECT_EQ(reserved("AL2"), 11 * 29 + 255);
  EXPECT_EQ(reserved("AL2023"), 11 * 29 + 255);
  EXPECT_EQ(reserved("Custom"), 11 * 29 + 255);
  EXPECT_EQ(reserved("Bottlerocket"), 11 * 110 + 255);
  EXPECT_EQ(reserved("Windows2022"), 11 * 110 + 255);
}

TEST(Capacity, ReservationsOfTheKubeletReplaceTheComputedOnes) {
  const auto type =
      type_for("m5.large",
               al2023({{"kubelet",
                        {{"kubeReserved", {{"cpu", "500m"}, {"memory", "1Gi"}, {"pid", "1000"}}},
                         {"systemReserved", {{"cpu", "100m"}, {"ephemeral-storage", "2Gi"}}}}}}));
  EXPECT_EQ(model::get(type.overhead, "cpu").milli(), 600);
  EXPECT_EQ(mebi(type.overhead, "memory"), 1024 + 100);
  EXPECT_EQ(mebi(type.overhead, "ephemeral-storage"), 1024 + 2048 + 2048);
  EXPECT_FALSE(type.overhead.contains("pid"));
}

TEST(Capacity, EvictionThresholdsMayBeAmountsOrPercentages) {
  const auto evicted = [](boost::json::object kubelet) {
    const auto type = type_for("m5.large", al2023({{"kubelet", std::move(kubelet)}}));
    return std::pair(mebi(type.overhead, "memory") - (11 * 29 + 255),
                     mebi(type.overhead, "ephemeral-storage") - 1024);
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(evicted({}), Pair(100, 2048));
  EXPECT_EQ(evicted({{"evictionHard", {{"memory.available", "500Mi"}}}}), Pair(500, 2048));
  // 5 % of 7577 MiB is 378.85 MiB.
  EXPECT_EQ(evicted({{"evictionHard", {{"memory.available", "5%"}, {"nodefs.available", "15%"}}}}),
            Pair(378, 3072));
  EXPECT_EQ(evicted({{"evictionHard", {{"memory.available", "100%"}}}}), Pair(0, 2048));
  // The larger of hard and soft counts.
  EXPECT_EQ(evicted({{"evictionHard", {{"memory.available", "200Mi"}}},
                     {"evictionSoft", {{"memory.available", "1Gi"}}}}),
            Pair(1024, 2048));
  EXPECT_EQ(evicted({{"evictionHard", {{"memory.available", "nonsense%"}}}}), Pair(100, 2048));
}

TEST(Capacity, EphemeralStorageIsTheVolumeThatPodsWriteTo) {
  const auto storage = [](const std::string& type, const boost::json::value& spec) {
    return model::get(type_for(type, spec).capacity, "ephemeral-storage").to_string();
  };
  const auto device = [](std::string name, std::string size, bool root = false) {
    return boost::json::value{
        {"deviceName", name}, {"rootVolume", root}, {"ebs", {{"volumeSize", size}}}};
  };
  const boost::json::array two{device("/dev/xvda", "4Gi"), device("/dev/xvdb", "100Gi")};
  const boost::json::array rooted{device("/dev/xvda", "4Gi"), device("/dev/sdz", "30Gi", true)};
  EXPECT_EQ(storage("m5.large", {{"amiFamily", "AL2023"}, {"blockDeviceMappings", two}}), "4Gi");
  EXPECT_EQ(storage("m5.large", {{"amiFamily", "Bottlerocket"}, {"blockDeviceMappings", two}}),
            "100Gi");
  EXPECT_EQ(storage("m5.large", {{"amiFamily", "Custom"}, {"blockDeviceMappings", two}}), "100Gi");
  EXPECT_EQ(storage("m5.large", {{"amiFamily", "AL2"}, {"blockDeviceMappings", rooted}}), "30Gi");
  EXPECT_EQ(storage("m5.large", {{"amiFamily", "Windows2022"}}), "50Gi");
  EXPECT_EQ(storage("i3.large", {{"amiFamily", "AL2023"}, {"instanceStorePolicy", "RAID0"}}),
            "475G");
  EXPECT_EQ(storage("m5.large", {{"amiFamily", "AL2023"}, {"instanceStorePolicy", "RAID0"}}),
            "20Gi");
}

TEST(Capacity, WindowsHasAddressesToGive) {
  EXPECT_EQ(model::get(type_for("m5.large", {{"amiFamily", "Windows2022"}}).capacity,
                       "vpc.amazonaws.com/PrivateIPv4Address")
                .units(),
            9);
}

}  // namespace
}  // namespace millwright::cloud::aws
