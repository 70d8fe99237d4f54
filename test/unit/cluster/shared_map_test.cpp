#include "millwright/cluster/shared_map.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

namespace millwright::cluster {
namespace {

struct Step {
  std::string key;
  int value = 0;
  bool erase = false;
};

std::vector<Step> arbitrary_steps() {
  const auto raw = *rc::gen::resize(
      400, rc::gen::arbitrary<std::vector<std::tuple<std::uint8_t, int, std::uint8_t>>>());
  std::vector<Step> steps;
  for (const auto& [key, value, kind] : raw) {
    steps.push_back({"key-" + std::to_string(key), value, kind % 3 == 0});
  }
  return steps;
}

TEST(SharedMap, BehavesAsAnOrdinarySortedMapAndItsCopiesNeverChange) {
  const bool held = rc::check([] {
    SharedMap<int> map;
    std::map<std::string, int> model;
    const SharedMap<int> empty = map;
    std::vector<std::pair<SharedMap<int>, std::map<std::string, int>>> copies;
    for (const Step& step : arbitrary_steps()) {
      if (step.erase) {
        RC_ASSERT(map.erase(step.key) == (model.erase(step.key) == 1));
      } else {
        map.set(step.key, step.value);
        model[step.key] = step.value;
      }
      if (copies.size() < 20) {
        copies.emplace_back(map, model);
      }
      RC_ASSERT(map.size() == model.size());
      RC_ASSERT(map.contains(step.key) == model.contains(step.key));
    }
    copies.emplace_back(map, model);
    for (const auto& [copy, expected] : copies) {
      RC_ASSERT(copy.size() == expected.size());
      RC_ASSERT(std::equal(
          copy.begin(), copy.end(), expected.begin(),
          [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; }));
      for (const auto& [key, value] : expected) {
        RC_ASSERT(copy.find(key)->second == value);
      }
    }
    RC_ASSERT(empty.empty());
    RC_ASSERT(empty.begin() == empty.end());
  });
  EXPECT_TRUE(held);
}

TEST(SharedMap, IsEqualByContentWhateverItsHistory) {
  SharedMap<int> grown;
  for (int i = 0; i < 200; ++i) {
    grown.set("k" + std::to_string(i), i);
  }
  for (int i = 0; i < 198; ++i) {
    EXPECT_TRUE(grown.erase("k" + std::to_string(i)));
  }
  SharedMap<int> fresh;
  fresh.set("k199", 199);
  EXPECT_NE(grown, fresh);
  fresh.set("k198", 198);
  EXPECT_EQ(grown, fresh);
  EXPECT_FALSE(grown.erase("absent"));
}

}  // namespace
}  // namespace millwright::cluster
