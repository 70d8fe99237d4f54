#include "cloud/common/catalog/learned_memory.hpp"

#include <gtest/gtest.h>

namespace millwright::cloud {
namespace {

constexpr base::TimePoint kBegin{std::chrono::hours(24) * 20'000};
constexpr std::int64_t kMiB = 1024 * 1024;

MachineMemory eight_gib() {
  return {"m5.large", 8192};
}

model::Quantity mebibytes(std::int64_t count) {
  return model::Quantity::from_units(count * kMiB);
}

std::int64_t found(const LearnedMemory& memory, const std::string& image,
                   base::TimePoint now = kBegin, const std::string& type = "m5.large") {
  const auto quantity = memory.find(type, image, now);
  return quantity ? quantity->units() / kMiB : 0;
}

TEST(LearnedMemory, IsTheLeastThatANodeOfTheTypeAndImageHad) {
  LearnedMemory memory;
  EXPECT_EQ(found(memory, "ami-1"), 0);
  EXPECT_TRUE(memory.learn(eight_gib(), "ami-1", mebibytes(7700), kBegin));
  EXPECT_FALSE(memory.learn(eight_gib(), "ami-1", mebibytes(7800), kBegin));
  EXPECT_EQ(found(memory, "ami-1"), 7700);
  EXPECT_TRUE(memory.learn(eight_gib(), "ami-1", mebibytes(7600), kBegin));
  EXPECT_EQ(found(memory, "ami-1"), 7600);
  EXPECT_TRUE(memory.learn(eight_gib(), "ami-2", mebibytes(7900), kBegin));
  EXPECT_EQ(found(memory, "ami-2"), 7900);
  EXPECT_EQ(found(memory, "ami-1", kBegin, "m5.xlarge"), 0);
}

// Kernels of one image differ by some KiB; that is no reason to make every type anew.
TEST(LearnedMemory, CountsInWholeMebibytes) {
  LearnedMemory memory;
  EXPECT_TRUE(
      memory.learn(eight_gib(), "ami-1", model::Quantity::from_units(7700 * kMiB + 9999), kBegin));
  EXPECT_FALSE(memory.learn(eight_gib(), "ami-1", mebibytes(7700), kBegin));
  EXPECT_EQ(memory.find("m5.large", "ami-1", kBegin)->units(), 7700 * kMiB);
}

TEST(LearnedMemory, BelievesNothingThatAMachineCannotHave) {
  LearnedMemory memory;
  for (const std::int64_t claimed : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{4095},
                                     std::int64_t{8193}, std::int64_t{1'000'000'000}}) {
    EXPECT_FALSE(memory.learn(eight_gib(), "ami-1", mebibytes(claimed), kBegin)) << claimed;
  }
  EXPECT_FALSE(memory.learn(eight_gib(), "", mebibytes(7700), kBegin));
  EXPECT_EQ(found(memory, "ami-1"), 0);
}

TEST(LearnedMemory, IsForgottenWhenNoSuchNodeWasSeenForLong) {
  LearnedMemory memory;
  memory.learn(eight_gib(), "ami-1", mebibytes(7600), kBegin);
  const auto later = kBegin + LearnedMemory::kKept - std::chrono::hours(1);
  EXPECT_EQ(found(memory, "ami-1", later), 7600);
  memory.learn(eight_gib(), "ami-1", mebibytes(7700), later);
  EXPECT_EQ(found(memory, "ami-1", kBegin + LearnedMemory::kKept), 7600);
  EXPECT_EQ(found(memory, "ami-1", later + LearnedMemory::kKept), 0);
  EXPECT_TRUE(memory.learn(eight_gib(), "ami-1", mebibytes(7700), later + LearnedMemory::kKept));
  EXPECT_EQ(found(memory, "ami-1", later + LearnedMemory::kKept), 7700);
}

}  // namespace
}  // namespace millwright::cloud
