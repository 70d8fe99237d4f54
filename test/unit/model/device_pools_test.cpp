#include "millwright/model/device_pools.hpp"

#include <gtest/gtest.h>

namespace millwright::model {
namespace {

struct Slice {
  std::string name;
  std::string driver;
  std::string pool;
  int generation = 1;
  int slices_in_pool = 1;
  std::vector<std::string> devices{};
};

// "driver/pool: slice slice", or "driver/pool incomplete: slice".
std::string pools_text(const std::vector<Slice>& slices) {
  std::vector<ResourceSlicePtr> list;
  for (const Slice& each : slices) {
    auto slice = std::make_shared<ResourceSlice>();
    slice->meta.name = each.name;
    slice->driver = each.driver;
    slice->pool = each.pool;
    slice->generation = each.generation;
    slice->slices_in_pool = each.slices_in_pool;
    for (const std::string& device : each.devices) {
      slice->devices.emplace_back().name = device;
    }
    list.push_back(std::move(slice));
  }
  std::string text;
  for (const DevicePool& pool : device_pools(list)) {
    text += (text.empty() ? "" : "; ") + pool.driver + "/" + pool.name;
    text += pool.complete ? ":" : " incomplete:";
    for (const auto& slice : pool.slices) {
      text += " " + slice->meta.name;
    }
  }
  return text;
}

TEST(DevicePools, AreCompleteWithAllSlicesOfTheNewestGeneration) {
  struct Case {
    std::vector<Slice> slices;
    std::string pools;
  };
  const Case cases[] = {
      {{}, ""},
      {{{"s", "gpu", "p"}}, "gpu/p: s"},
      {{{"s", "gpu", "p", 1, 2}}, "gpu/p incomplete: s"},
      {{{"s2", "gpu", "p", 1, 2}, {"s1", "gpu", "p", 1, 2}}, "gpu/p: s1 s2"},
      {{{"s2", "gpu", "p", 1, 1}, {"s1", "gpu", "p", 1, 1}}, "gpu/p incomplete: s1 s2"},
      {{{"old", "gpu", "p", 1, 1}, {"new", "gpu", "p", 2, 2}}, "gpu/p incomplete: new"},
      {{{"new", "gpu", "p", 2, 1}, {"old", "gpu", "p", 1, 1}}, "gpu/p: new"},
      {{{"s", "gpu", "p", 1, 2, {"a", "b"}}, {"t", "gpu", "p", 1, 2, {"c"}}}, "gpu/p: s t"},
      {{{"s", "gpu", "p", 1, 2, {"a", "b"}}, {"t", "gpu", "p", 1, 2, {"a"}}},
       "gpu/p incomplete: s t"},
      {{{"s", "nic", "p"}, {"t", "gpu", "q", 1, 3}, {"u", "gpu", "p"}},
       "gpu/p: u; gpu/q incomplete: t; nic/p: s"},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(pools_text(each.slices), each.pools);
  }
}

}  // namespace
}  // namespace millwright::model
