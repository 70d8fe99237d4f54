// Devices as amounts say neither more nor less than the devices themselves do.
#include "scheduling/devices/device_amounts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace millwright::scheduling {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

model::Quantity units(std::int64_t count) {
  return model::Quantity::from_units(count);
}

// Whether each device that is asked for can be another one: augmenting paths, one asker at a time.
class Matching {
 public:
  explicit Matching(const std::vector<QueryMask>& devices)
      : devices_(devices), asker_of_(devices.size(), -1) {}

  bool serves(const DeviceCounts& counts) {
    for (const auto& [query, count] : counts) {
      for (std::int64_t i = 0; i < count; ++i) {
        askers_.push_back(query);
        std::vector<bool> visited(devices_.size());
        if (!place(static_cast<int>(askers_.size()) - 1, visited)) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  bool place(int asker, std::vector<bool>& visited) {
    for (std::size_t device = 0; device < devices_.size(); ++device) {
      if (visited[device] ||
          (devices_[device] >> askers_[static_cast<std::size_t>(asker)] & 1U) == 0) {
        continue;
      }
      visited[device] = true;
      if (asker_of_[device] < 0 || place(asker_of_[device], visited)) {
        asker_of_[device] = asker;
        return true;
      }
    }
    return false;
  }

  const std::vector<QueryMask>& devices_;
  std::vector<int> asker_of_;
  std::vector<std::size_t> askers_;
};

TEST(DeviceAmounts, FitExactlyWhereEachAskerFindsADevice) {
  std::mt19937 random(7);
  const auto below = [&random](unsigned end) { return static_cast<unsigned>(random() % end); };
  int served = 0;
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::size_t queries = 1 + below(5);
    std::vector<std::string> names;
    for (std::size_t query = 0; query < queries; ++query) {
      names.push_back("q" + std::to_string(query));
    }
    std::vector<std::vector<QueryMask>> nodes(1 + below(3));
    std::set<QueryMask> seen;
    for (auto& node : nodes) {
      for (unsigned device = below(7); device > 0; --device) {
        node.push_back(below(1U << queries));
        seen.insert(node.back());
      }
    }
    const DeviceAmounts amounts(names, seen);
    DeviceCounts counts;
    for (std::size_t query = 0; query < queries; ++query) {
      if (const unsigned count = below(3); count > 0) {
        counts[query] = count;
      }
    }
    for (const auto& node : nodes) {
      const bool serves = Matching(node).serves(counts);
      ASSERT_EQ(model::fits(amounts.asked(counts), amounts.offered(node)), serves)
          << "round " << round;
      (serves ? served : refused)++;
    }
  }
  EXPECT_GT(served, 500);
  EXPECT_GT(refused, 500);
}

// Two pods add up as their counts do: the planner knows sums alone.
TEST(DeviceAmounts, AddUp) {
  const DeviceAmounts amounts({"any", "big"}, {0b01, 0b11});
  auto sum = amounts.asked({{0, 1}});
  model::add_to(sum, amounts.asked({{0, 2}, {1, 1}}));
  EXPECT_EQ(sum, amounts.asked({{0, 3}, {1, 1}}));
}

TEST(DeviceAmounts, LeaveOutWhatOthersSay) {
  struct Case {
    std::string name;
    std::set<QueryMask> seen;
    std::vector<std::string> resources;
  };
  const std::vector<Case> cases = {
      {"strangers", {0b01, 0b10}, {"devices of a", "devices of b"}},
      {"every b is an a", {0b01, 0b11}, {"devices of a or b", "devices of b"}},
      {"some are both", {0b01, 0b10, 0b11}, {"devices of a", "devices of a or b", "devices of b"}},
      {"all are both", {0b11}, {"devices of a or b"}},
      {"nobody has any", {}, {"devices of a", "devices of b"}},
  };
  for (const Case& c : cases) {
    const DeviceAmounts amounts({"a", "b"}, c.seen);
    std::vector<std::string> resources;
    for (const auto& [name, quantity] : amounts.asked({{0, 1}, {1, 1}})) {
      resources.push_back(name);
      EXPECT_TRUE(amounts.contains(name)) << c.name;
    }
    EXPECT_EQ(resources, c.resources) << c.name;
  }
}

TEST(DeviceAmounts, CountWhatIsOfferedAndAsked) {
  const DeviceAmounts amounts({"a", "b"}, {0b01, 0b11});
  EXPECT_THAT(amounts.offered({0b01, 0b01, 0b11}),
              ElementsAre(Pair("devices of a or b", units(3)), Pair("devices of b", units(1))));
  EXPECT_THAT(amounts.asked({{0, 2}}), ElementsAre(Pair("devices of a or b", units(2))));
  EXPECT_THAT(amounts.offered({}), IsEmpty());
  EXPECT_FALSE(amounts.contains("cpu"));
}

TEST(DeviceAmounts, GiveUpWhereTooManyMeet) {
  const std::vector<std::string> names(DeviceAmounts::kMostMeeting + 2, "q");
  const QueryMask all_but_last = (QueryMask{1} << (DeviceAmounts::kMostMeeting + 1)) - 1;
  const DeviceAmounts amounts(names, {all_but_last});
  EXPECT_TRUE(amounts.is_tangled(0));
  EXPECT_FALSE(amounts.is_tangled(names.size() - 1));
  EXPECT_THAT(amounts.asked({{0, 1}}), IsEmpty());
  EXPECT_THAT(amounts.asked({{names.size() - 1, 1}}), SizeIs(1));
}

}  // namespace
}  // namespace millwright::scheduling
