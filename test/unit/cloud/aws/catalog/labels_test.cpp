// The labels of real types, worked out apart from this program from what EC2 says of each.
#include "catalog_fixture.hpp"
#include "cloud/aws/catalog/type_labels.hpp"

#include <sstream>

namespace millwright::cloud::aws {
namespace {

// Columns after the type's name. Category and generation are the letters and the number that the
// name begins with; MHz are GHz x 1000; names are lower-kebab; "-" is a label that does not apply.
constexpr std::array<std::string_view, 18> kColumns{"instance-category",
                                                    "instance-generation",
                                                    "instance-cpu-manufacturer",
                                                    "instance-cpu-sustained-clock-speed-mhz",
                                                    "instance-cpu",
                                                    "instance-memory",
                                                    "instance-ebs-bandwidth",
                                                    "instance-hypervisor",
                                                    "instance-encryption-in-transit-supported",
                                                    "instance-local-nvme",
                                                    "instance-capability-flex",
                                                    "instance-gpu-name",
                                                    "instance-gpu-manufacturer",
                                                    "instance-gpu-count",
                                                    "instance-gpu-memory",
                                                    "instance-accelerator-name",
                                                    "instance-accelerator-manufacturer",
                                                    "instance-accelerator-count"};
constexpr std::array<std::string_view, 31> kLabelRows{
    // clang-format off
    "t3.micro t 3 intel 2500 2 1024 2085 nitro false - false - - - - - - -",
    "t3.medium t 3 intel 2500 2 4096 2085 nitro false - false - - - - - - -",
    "t4g.small t 4 aws 2500 2 2048 2085 nitro false - false - - - - - - -",
    "a1.large a 1 aws 2300 2 4096 3500 nitro false - false - - - - - - -",
    "m4.large m 4 intel 2400 2 8192 450 xen false - false - - - - - - -",
    "m5.large m 5 intel 3100 2 8192 4750 nitro false - false - - - - - - -",
    "m5.4xlarge m 5 intel 3100 16 65536 4750 nitro false - false - - - - - - -",
    "c5.metal c 5 intel 3600 96 196608 19000 - false - false - - - - - - -",
    "m6g.medium m 6 aws 2500 1 4096 4750 nitro false - false - - - - - - -",
    "m6i.large m 6 intel 3500 2 8192 10000 nitro true - false - - - - - - -",
    "m7i-flex.large m 7 intel 3200 2 8192 10000 nitro true - true - - - - - - -",
    "m7g.16xlarge m 7 aws 2600 64 262144 20000 nitro true - false - - - - - - -",
    "c4.8xlarge c 4 intel 2900 36 61440 4000 xen false - false - - - - - - -",
    "c5.9xlarge c 5 intel 3400 36 73728 9500 nitro false - false - - - - - - -",
    "c5d.large c 5 intel 3400 2 4096 4750 nitro false 50 false - - - - - - -",
    "c6gn.xlarge c 6 aws 2500 4 8192 9500 nitro true - false - - - - - - -",
    "c7a.medium c 7 amd 3700 1 2048 10000 nitro true - false - - - - - - -",
    "r5.24xlarge r 5 intel 3100 96 786432 19000 nitro false - false - - - - - - -",
    "r6id.xlarge r 6 intel 3500 4 32768 10000 nitro true 237 false - - - - - - -",
    "x1e.32xlarge x 1 intel 2300 128 3997696 14000 xen false - false - - - - - - -",
    "u-6tb1.56xlarge u 1 intel 2100 224 6291456 38000 nitro true - false - - - - - - -",
    "i3.large i 3 intel 2300 2 15616 425 xen false 475 false - - - - - - -",
    "i4i.32xlarge i 4 intel 3500 128 1048576 40000 nitro true 30000 false - - - - - - -",
    "d3.xlarge d 3 intel 3100 4 32768 2800 nitro true 5940 false - - - - - - -",
    "g4dn.xlarge g 4 intel 2500 4 16384 3500 nitro true 125 false t4 nvidia 1 16384 - - -",
    "g4dn.12xlarge g 4 intel 2500 48 196608 9500 nitro true 900 false t4 nvidia 4 16384 - - -",
    "g5.48xlarge g 5 amd 3300 192 786432 19000 nitro true 7600 false a10g nvidia 8 22888 - - -",
    "m5dn.24xlarge m 5 intel 3100 96 393216 19000 nitro true 3600 false - - - - - - -",
    "p4d.24xlarge p 4 intel 3000 96 1179648 19000 nitro true 8000 false a100 nvidia 8 40960 - - -",
    "inf2.8xlarge inf 2 amd 3600 32 131072 10000 nitro true - false - - - - inferentia2 aws 1",
    "trn1.32xlarge trn 1 intel 3500 128 524288 80000 nitro true 7600 false - - - - trainium aws 16",
    // clang-format on
};

std::string label(const scheduling::Requirements& labels, std::string_view name) {
  const auto* found = labels.find("karpenter.k8s.aws/" + std::string(name));
  if (found == nullptr) {
    return "undefined";
  }
  return found->op() == model::Operator::DoesNotExist ? "-" : found->values().front();
}

TEST(Labels, OfEveryTypeAreWhatEc2Says) {
  const auto types = test_types();
  ASSERT_EQ(types.size(), kLabelRows.size());
  NodeClassSpec spec;
  spec.name = "default";
  spec.family = Family::Al2023;
  for (const auto row : kLabelRows) {
    std::istringstream words{std::string(row)};
    std::string name;
    words >> name;
    SCOPED_TRACE(name);
    const auto type = std::find_if(types.begin(), types.end(),
                                   [&](const auto& each) { return each.name == name; });
    ASSERT_NE(type, types.end());
    const auto labels = labels_of(*type, spec, "us-west-2");
    for (const auto column : kColumns) {
      std::string expected;
      words >> expected;
      EXPECT_EQ(label(labels, column), expected) << column;
    }
    // The name's own two halves.
    const auto dot = name.find('.');
    EXPECT_EQ(label(labels, "instance-family"), name.substr(0, dot));
    EXPECT_EQ(label(labels, "instance-size"), name.substr(dot + 1));
  }
}

}  // namespace
}  // namespace millwright::cloud::aws
