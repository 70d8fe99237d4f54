// What is remembered of linear programs saves work and changes no plan.
#include "scheduling/search/program/program_memory.hpp"

#include "scheduling/packing/economising.hpp"
#include "search_world.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace millwright::scheduling::testing {
namespace {

struct Price {
  double price = 0;
  std::size_t claims = 0;
  friend bool operator==(const Price&, const Price&) = default;
};

Price pack(const CompiledProblem& compiled, const std::vector<PodId>& order,
           ProgramMemory& programs) {
  Allowance allowance(compiled.problem.options.allowance);
  Packing packing(compiled, {.order = order}, allowance);
  packing.run();
  repack(compiled, packing, programs);
  tidy_up(packing);
  Price result{0, packing.drafts().claims().size()};
  for (const ClaimDraft& claim : packing.drafts().claims()) {
    const auto cheapest =
        cheapest_row(compiled.pools[claim.pool], packing.drafts().shapes()[claim.shape], claim);
    result.price += cheapest ? cheapest->price : 0;
  }
  return result;
}

TEST(ProgramMemory, ChangesNoPlan) {
  std::mt19937 random(7);
  const auto from_to = [&](unsigned from, unsigned to) {
    return static_cast<int>(from + random() % (to - from + 1));
  };
  std::size_t remembered = 0;
  for (int i = 0; i < 20; ++i) {
    SCOPED_TRACE(i);
    std::vector<MachineOf> machines;
    for (int cpu = 2; cpu <= 32; cpu *= 2) {
      for (const int gib_per_cpu : {2, 4, 8}) {
        machines.push_back({cpu, cpu * gib_per_cpu, 60,
                            0.01 * cpu * (2 + gib_per_cpu) * from_to(80, 120) / 100.0});
      }
    }
    std::vector<LotOf> lots;
    for (int lot = 0; lot < 12; ++lot) {
      lots.push_back({from_to(1, 6), from_to(1, 24), from_to(3, 12)});
    }
    const ProblemBuilder builder = world_of(machines, lots);
    const CompiledProblem compiled(builder.problem());
    auto orders = other_orders(compiled.pods, compiled.pools);
    orders.insert(orders.begin(), karpenters_order(compiled.pods));
    ProgramMemory programs;
    for (const auto& order : orders) {
      const Price first = pack(compiled, order, programs);
      EXPECT_EQ(pack(compiled, order, programs), first);
      ProgramMemory nothing;
      EXPECT_EQ(pack(compiled, order, nothing), first);
    }
    remembered += programs.size();
  }
  EXPECT_GT(remembered, 0U);
}

// 150 workloads, more than two linear programs take, with six pods each.
ProblemBuilder many_workloads(bool apart) {
  std::mt19937 random(7);
  std::vector<MachineOf> machines;
  for (int cpu = 64; cpu <= 256; cpu *= 2) {
    for (const int gib_per_cpu : {2, 4, 8}) {
      const int noise = static_cast<int>(80 + random() % 40);
      machines.push_back({cpu, cpu * gib_per_cpu, 300, 0.0001 * cpu * (2 + gib_per_cpu) * noise});
    }
  }
  ProblemBuilder problem;
  problem.add(pool("default"), types_of(machines));
  for (int i = 0; i < 150; ++i) {
    const std::string name = "w" + std::to_string(i);
    const auto like = pod(name)
                          .cpu(std::to_string(100 + random() % 2900) + "m")
                          .memory(std::to_string(200 + random() % 12000) + "Mi")
                          .label("app", name);
    problem.add(pods(6, name, PodBuilder(like).with([&](model::Pod& p) {
      if (apart) {
        p.spec.affinity.required_pod_anti_affinity.push_back(
            {.label_selector = model::LabelSelector{.match_labels = {{"app", name}}},
             .topology_key = std::string(model::kHostnameLabel)});
      }
    })));
  }
  return problem;
}

std::size_t programs_for(const ProblemBuilder& builder) {
  const CompiledProblem compiled(builder.problem());
  ProgramMemory programs;
  pack(compiled, karpenters_order(compiled.pods), programs);
  return programs.size();
}

TEST(ProgramMemory, NoProgramsAreSolvedThatWouldEachKeepTheirPodsApartOnClaimsOfTheirOwn) {
  EXPECT_EQ(programs_for(many_workloads(false)), 1U);
  EXPECT_EQ(programs_for(many_workloads(true)), 0U);
}

}  // namespace
}  // namespace millwright::scheduling::testing
