// Hostile callers flood every port of the controller while the stock kube-scheduler binds pods.
// Judged by counts and by memory; how long calls take is scripts/bench flood's to say.

#include "plane/flood/scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::plane {
namespace {

constexpr int kFloodedPods = 300;
constexpr std::size_t kStrikesOfEach = 15;
constexpr int kProbeFailures = 3;  // in a row: then the kubelet takes a replica out of its Services

void expect_unharmed(Scene& scene, const Outcome& outcome) {
  EXPECT_TRUE(outcome.settled) << scene.controller().process().log_tail(25);
  EXPECT_EQ(outcome.bound, kFloodedPods);
  EXPECT_EQ(outcome.skipped, 0U) << "kube-scheduler went on without an answer";
  EXPECT_GT(outcome.calls.milliseconds.size(), 0U);
  EXPECT_EQ(outcome.calls.failed, 0U) << outcome.calls.first_failure;
  EXPECT_LT(outcome.unready_in_a_row, kProbeFailures);
  EXPECT_EQ(outcome.claims, 0U) << "something was bought for pods that were made up";
  EXPECT_TRUE(scene.controller().process().running());
  EXPECT_TRUE(scene.controller().leads());
  EXPECT_GE(outcome.fewest_strikes, kStrikesOfEach);
  EXPECT_GT(outcome.peak_kib, 0);
  EXPECT_LT(outcome.peak_kib, scene.memory_limit_kib());
}

class FloodedPorts : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    // Whoever counts calls that were skipped must not count slowness.
    auto made = Scene::start({.nodes = 60, .http_timeout = "120s"});
    ASSERT_TRUE(made.has_value()) << made.error().message;
    scene_ = *std::move(made);
  }
  static void TearDownTestSuite() { scene_.reset(); }
  void SetUp() override { ASSERT_NE(scene_, nullptr); }

  static Outcome play(const std::string& name, bool with_certificate) {
    return scene_->play({.name = name,
                         .pods = kFloodedPods,
                         .flood = {.assaults = {kAssaults.begin(), kAssaults.end()},
                                   .with_certificate = with_certificate,
                                   .strikes_of_each = kStrikesOfEach}});
  }
  inline static std::unique_ptr<Scene> scene_;
};

TEST_F(FloodedPorts, LeaveKubeSchedulerItsAnswersAndTheMemoryItsLimit) {
  expect_unharmed(*scene_, play("outside", false));
}

TEST_F(FloodedPorts, EvenByWhoHasTheCertificateBuyNothing) {
  const Outcome outcome = play("inside", true);
  expect_unharmed(*scene_, outcome);
  EXPECT_GT(outcome.answers.accepted, 0U) << "the certificate was not taken";
}

}  // namespace
}  // namespace millwright::plane
