// plan_fingerprints [NAME]: whether two builds make the same plans. Prints a line for each problem
// as it is planned: its name, how many pods wait, and a number for all that is in its plan.
// Karpenter's recipe and preferences, the workloads of plan_cost.hpp at 1,000 pods, the corners; or
// those whose names have NAME in them. Fails where a plan with a memory is another one. For work on
// the planner's speed, which leaves plans as they are, and for other processors.
#include "aws_types.hpp"
#include "corner_worlds.hpp"
#include "millwright/scheduling/plan_memory.hpp"
#include "mixes.hpp"
#include "recipe.hpp"
#include "worlds.hpp"

#include <bit>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace millwright::scheduling::bench {
namespace {

constexpr std::uint32_t kSeed = 42;  // that of beside_peer.cpp

// FNV-1a; the length of what varies in length goes before it.
class Fingerprint {
 public:
  std::uint64_t value() const { return value_; }

  void add(std::string_view text) {
    add(text.size());
    for (const char each : text) {
      value_ = (value_ ^ static_cast<unsigned char>(each)) * 0x100000001b3;
    }
  }
  void add(std::uint64_t number) {
    for (int byte = 0; byte < 8; ++byte, number >>= 8) {
      value_ = (value_ ^ (number & 0xff)) * 0x100000001b3;
    }
  }
  void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
  void add(const model::Quantity& amount) { add(amount.to_string()); }
  void add(const Requirement& requirement) {
    add(requirement.key());
    add(std::uint64_t{requirement.is_complement()});
    add_all(requirement.values());
    add(static_cast<std::uint64_t>(requirement.gte().value_or(-1)));
    add(static_cast<std::uint64_t>(requirement.lte().value_or(-1)));
    add(static_cast<std::uint64_t>(requirement.min_values().value_or(-1)));
  }
  template <class Key, class Value>
  void add(const std::pair<Key, Value>& pair) {
    add(pair.first);
    add(pair.second);
  }
  template <class Range>
  void add_all(const Range& range) {
    add(std::uint64_t{range.size()});
    for (const auto& each : range) {
      add(each);
    }
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

void add(Fingerprint& all, const PlannedClaim& claim) {
  all.add(claim.node_pool);
  all.add_all(claim.instance_types);
  for (const Requirement& requirement : claim.requirements) {
    all.add(requirement);
  }
  all.add_all(claim.requests);
  all.add_all(claim.labels);
  all.add_all(claim.annotations);
  all.add_all(claim.pod_uids);
  all.add(claim.price);
  all.add_all(claim.limit_charge);
  all.add_all(claim.limit_left);
}

std::uint64_t fingerprint_of(const Plan& plan) {
  Fingerprint all;
  for (const PlannedClaim& claim : plan.claims) {
    add(all, claim);
  }
  for (const Placement& placement : plan.placements) {
    all.add(placement.pod_uid);
    if (const auto* claim = std::get_if<std::size_t>(&placement.target)) {
      all.add(std::uint64_t{*claim});
    } else {
      all.add(std::get<std::string>(placement.target));
    }
    all.add(std::uint64_t{placement.step});
  }
  for (const Refusal& refusal : plan.refusals) {
    all.add(refusal.pod_uid);
    all.add(refusal.reason);
    all.add(refusal.remedy);
    all.add(std::uint64_t{refusal.changes.size()});
    all.add(std::uint64_t{refusal.postponed});
  }
  return all.value();
}

class PrintedFingerprints {
 public:
  explicit PrintedFingerprints(std::string only) : only_(std::move(only)) {}

  void add(const std::string& name, const std::function<Problem()>& make) {
    if (name.find(only_) == std::string::npos) {
      return;
    }
    const Problem problem = make();
    const std::uint64_t fresh = fingerprint_of(solve(problem));
    PlanMemory memory;
    solve(problem, memory);
    if (fingerprint_of(solve(problem, memory)) != fresh) {
      other_with_memory_ += " " + name;
    }
    std::printf("%-32s %7zu %016" PRIx64 "\n", name.c_str(), problem.pods.size(), fresh);
    std::fflush(stdout);
    any_ = true;
  }

  // Says what is wrong, if something is.
  bool are_good() const {
    if (!any_) {
      std::fprintf(stderr, "plan_fingerprints: no problem is called %s\n", only_.c_str());
    }
    if (!other_with_memory_.empty()) {
      std::fprintf(stderr, "plan_fingerprints: plans with a memory differ:%s\n",
                   other_with_memory_.c_str());
    }
    return any_ && other_with_memory_.empty();
  }

 private:
  std::string only_;
  std::string other_with_memory_;
  bool any_ = false;
};

Problem preferences(PreferencePolicy policy) {
  Problem problem = problem_of(recipe_types(), preference_pods(4000));
  problem.options.preferences = policy;
  return problem;
}

bool print_all(const std::string& only) {
  PrintedFingerprints plans(only);
  for (const int pods : {1, 50, 100, 200, 500, 1000, 2000, 5000, 10'000, 20'000}) {
    plans.add("recipe", [&] { return problem_of(recipe_types(), diverse_pods(pods)); });
  }
  plans.add("preferences-respected", [] { return preferences(PreferencePolicy::Respect); });
  plans.add("preferences-ignored", [] { return preferences(PreferencePolicy::Ignore); });
  for (const auto& [catalog, types] :
       {std::pair{std::string("kwok"), kwok_types()}, {"aws", aws_like_types()}}) {
    for (const WorkloadMix& mix : workload_mixes()) {
      plans.add(catalog + "/" + mix.name, [&] { return problem_of(mix, types, 1000, kSeed); });
    }
  }
  for (const Corner& corner : all_corners()) {
    plans.add(std::string("corner/") + corner.name, corner.make);
  }
  return plans.are_good();
}

}  // namespace
}  // namespace millwright::scheduling::bench

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  return millwright::scheduling::bench::print_all(only) ? 0 : 1;
}
