// The file of DRAConfigs that --dra-config-file names.
#include "millwright/app/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace millwright::app {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kTwo = R"(
apiVersion: test.karpenter.sh/v1alpha1
kind: DRAConfig
metadata: {name: gpus}
spec:
  driver: gpu.example.com
  pools:
  - name: large
    nodeSelectorTerms:
    - matchExpressions:
      - {key: node.kubernetes.io/instance-type, operator: In, values: [large]}
    resourceSlices:
    - devices: [{name: gpu-0}, {name: gpu-1}]
    - devices: [{name: gpu-2}]
  - name: small
    nodeSelectorTerms:
    - matchExpressions:
      - {key: node.kubernetes.io/instance-type, operator: In, values: [small]}
    resourceSlices:
    - devices: [{name: gpu-0}]
---
apiVersion: test.karpenter.sh/v1alpha1
kind: DRAConfig
metadata: {name: nics}
spec:
  driver: nic.example.com
  pools:
  - name: all
    nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux]}]}]
    resourceSlices: [{devices: [{name: nic}]}]
)";

class DeviceConfig : public testing::Test {
 protected:
  ~DeviceConfig() override { std::remove(path_.c_str()); }

  void write(const std::string& text) { std::ofstream(path_) << text; }
  LoadedSettings load(const std::string& ignored = "false") {
    return load_settings({{"dra-config-file", path_}, {"ignore-dra-requests", ignored}},
                         [](const std::string&) { return std::optional<std::string>(); });
  }

  std::string path_ = testing::TempDir() + "dra-config.yaml";
};

TEST_F(DeviceConfig, SaysWhatNodesToComeWillHave) {
  write(kTwo);
  const auto loaded = load();
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(loaded.warnings, IsEmpty());
  const auto templates = loaded.settings.controllers.solve.device_templates;
  ASSERT_NE(templates, nullptr);
  ASSERT_THAT(*templates, SizeIs(3));
  EXPECT_EQ(templates->at(0).driver, "gpu.example.com");
  EXPECT_THAT(templates->at(0).devices, SizeIs(3));
  EXPECT_THAT(templates->at(1).devices, SizeIs(1));
  EXPECT_EQ(templates->at(2).driver, "nic.example.com");
}

TEST_F(DeviceConfig, NamesTheFileTheObjectAndTheField) {
  write(
      "{apiVersion: test.karpenter.sh/v1alpha1, kind: DRAConfig, metadata: {name: gpus}, "
      "spec: {driver: 1}}");
  EXPECT_THAT(load().problems,
              ElementsAre(AllOf(HasSubstr("--dra-config-file is not usable: names " + path_),
                                HasSubstr("gpus"), HasSubstr("spec.driver"))));
  write("");
  EXPECT_THAT(load().problems, ElementsAre(HasSubstr("in which there is no DRAConfig")));
  write("a: [");
  EXPECT_THAT(load().problems, ElementsAre(HasSubstr("names " + path_ + ", in which ")));
  std::remove(path_.c_str());
  EXPECT_THAT(load().problems, ElementsAre(HasSubstr("cannot be read")));
}

TEST_F(DeviceConfig, HasNoEffectWhereClaimsAreIgnored) {
  write(kTwo);
  const auto loaded = load("true");
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(loaded.warnings,
              ElementsAre("--dra-config-file has no effect without --ignore-dra-requests=false"));
}

}  // namespace
}  // namespace millwright::app
