// A plan made with a memory of earlier ones is the plan made without, byte for byte, while pods,
// nodes, pools, DaemonSets, devices and kept room come, go and change.
#include "millwright/scheduling/plan_memory.hpp"

#include "checker/plan/plan_text.hpp"
#include "checker/plan/random_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace millwright::checker {
namespace {

using namespace scheduling;  // NOLINT: a test about nothing else

// The same node with other contents, as an event would make it.
NodeRecordPtr changed(const NodeRecordPtr& record, std::mt19937::result_type how) {
  auto copy = std::make_shared<NodeRecord>(*record);
  if (how % 3 == 0) {
    copy->pod_requests["cpu"] += model::Quantity::from_units(1);
  } else if (how % 3 == 1) {
    copy->fenced = true;
  } else if (copy->node) {
    auto node = std::make_shared<model::Node>(*copy->node);
    node->taints.push_back({.key = "new", .value = "", .effect = "NoSchedule"});
    copy->node = std::move(node);
  }
  return copy;
}

PoolOption changed(const PoolOption& option, std::mt19937::result_type how) {
  auto pool = std::make_shared<model::NodePool>(*option.pool);
  pool->meta.uid = "uid-of-" + pool->meta.name;
  pool->meta.generation = 1 + how % 2;
  // As the API server does: the generation says which of two forms the spec has.
  pool->weight = static_cast<int>(how % 2);
  pool->template_.taints =
      how % 2 == 0 ? std::vector<model::Taint>{}
                   : std::vector<model::Taint>{{.key = "x", .value = "", .effect = "NoSchedule"}};
  PoolOption result{std::move(pool), option.types};
  if (how % 5 == 0) {
    auto types = *option.types;
    types.front().offerings.front().price *= 2;
    result.types = std::make_shared<const std::vector<InstanceType>>(std::move(types));
  }
  return result;
}

void change(Problem& problem, std::mt19937& random) {
  const auto one_of = [&](auto& list) -> auto& { return list[random() % list.size()]; };
  switch (random() % 7) {
    case 0:
      if (!problem.pods.empty()) {
        problem.pods.erase(problem.pods.begin() +
                           static_cast<std::ptrdiff_t>(random() % problem.pods.size()));
      }
      break;
    case 1:
      if (!problem.nodes.empty()) {
        auto& record = one_of(problem.nodes);
        const auto counted =
            std::find(problem.counted_nodes.begin(), problem.counted_nodes.end(), record);
        record = changed(record, random());
        *counted = record;
      }
      break;
    case 2:
      if (!problem.nodes.empty()) {
        problem.nodes.pop_back();
      }
      break;
    case 3: {
      auto& option = one_of(problem.pools);
      option = changed(option, random());
      break;
    }
    case 4:
      if (random() % 2 == 0) {
        problem.daemon_sets.clear();
      } else {
        problem.kept.clear();
      }
      break;
    case 5:
      if (const auto known = problem.options.device_templates; known && !known->empty()) {
        auto templates = *known;
        one_of(templates).devices.pop_back();
        std::erase_if(templates, [](const auto& each) { return each.devices.empty(); });
        problem.options.device_templates =
            std::make_shared<const std::vector<model::DeviceTemplate>>(std::move(templates));
      }
      break;
    default:
      std::reverse(problem.nodes.begin(), problem.nodes.end());
      std::reverse(problem.pools.begin(), problem.pools.end());
  }
}

TEST(PlanMemory, DoesNotShowInThePlan) {
  constexpr std::uint32_t kWorlds = 300;
  constexpr int kChanges = 8;
  for (std::uint32_t seed = 1; seed <= kWorlds && !testing::Test::HasFailure(); ++seed) {
    Problem problem = seed % 3 == 0   ? random_world_with_volume_limits(seed)
                      : seed % 3 == 1 ? random_world_with_devices(seed)
                                      : random_world(seed);
    std::mt19937 random(seed);
    PlanMemory memory;
    for (int i = 0; i < kChanges; ++i) {
      ASSERT_EQ(text_of(solve(problem, memory)), text_of(solve(problem)))
          << "SEED=" << seed << ", change " << i;
      change(problem, random);
    }
  }
}

}  // namespace
}  // namespace millwright::checker
