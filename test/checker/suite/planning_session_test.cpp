// A plan that is revised with every event stays legal, misses nobody and costs little more than a
// plan from scratch; what each call reports adds up to the plan. SEQUENCES=5000 follows more
// worlds, SEED=7 SEQUENCES=1 a single one.
#include "checker/plan/checker.hpp"
#include "checker/plan/plan_text.hpp"
#include "checker/plan/random_changes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

namespace millwright::checker {
namespace {

using namespace scheduling;  // NOLINT: a test about nothing else

std::uint32_t from_environment(const char* name, std::uint32_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

double price_of(const Plan& plan) {
  double price = 0;
  for (const PlannedClaim& claim : plan.claims) {
    price += claim.price;
  }
  return price;
}

double dearest(const Plan& plan) {
  double price = 0;
  for (const PlannedClaim& claim : plan.claims) {
    price = std::max(price, claim.price);
  }
  return price;
}

// The plan as somebody sees it who only reads revisions.
class Reader {
 public:
  explicit Reader(const PlanningSession& session) { start(session.plan()); }

  void read(const PlanningSession& session, const Revision& revision) {
    if (revision.from_scratch) {
      start(session.plan());
      return;
    }
    for (const auto& [number, claim] : revision.claims) {
      claims_[number] = claim;
    }
    for (const auto& placement : revision.placements) {
      if (const auto* name = std::get_if<std::string>(&placement.target)) {
        nodes_[placement.pod_uid] = *name;
      } else {
        nodes_.erase(placement.pod_uid);
      }
    }
  }

  // What differs from the plan; empty when nothing does.
  std::string difference(const Plan& plan) const {
    std::multiset<std::string> mine;
    std::multiset<std::string> theirs;
    for (const auto& [number, claim] : claims_) {
      if (!claim.pod_uids.empty()) {
        mine.insert(text_of(Plan{.claims = {claim}}));
      }
    }
    for (const auto& claim : plan.claims) {
      theirs.insert(text_of(Plan{.claims = {claim}}));
    }
    if (mine != theirs) {
      return "claims differ";
    }
    for (const auto& placement : plan.placements) {
      const auto* name = std::get_if<std::string>(&placement.target);
      const auto known = nodes_.find(placement.pod_uid);
      if (name != nullptr && (known == nodes_.end() || known->second != *name)) {
        return "nobody said that " + placement.pod_uid + " is on " + *name;
      }
    }
    return {};
  }

 private:
  void start(const Plan& plan) {
    claims_.clear();
    nodes_.clear();
    for (const auto& claim : plan.claims) {
      claims_[claims_.size()] = claim;
    }
    for (const auto& placement : plan.placements) {
      if (const auto* name = std::get_if<std::string>(&placement.target)) {
        nodes_[placement.pod_uid] = *name;
      }
    }
  }

  std::map<std::size_t, PlannedClaim> claims_;
  std::map<std::string, std::string> nodes_;  // by pod
};

struct Tally {
  int steps = 0;
  int in_place = 0;
  std::size_t refused = 0;
  std::size_t refused_from_scratch = 0;
  double price = 0;  // where as many pods are refused
  double price_from_scratch = 0;
  double fast_price = 0;  // of the fast pass alone
  int priced = 0;
  int dear = 0;  // of those, beyond the bound that is aimed at
};

void follow(std::uint32_t seed, ChangeOptions changes, SessionOptions options, Tally& tally) {
  constexpr int kSteps = 16;
  RandomChanges world(seed, changes);
  PlanningSession session(world.start(), options);
  Reader reader(session);
  std::string history;
  for (int step = 0; step < kSteps; ++step) {
    std::string what;
    const Revision revision = world.make_one(session, what);
    history += "\n" + what + (revision.from_scratch ? " (from scratch)" : "");
    const Problem problem = session.problem();
    const Plan plan = session.plan();
    auto found = violations(problem, plan, {.seed = seed});
    if (found.empty()) {
      found = missed(problem, plan);
    }
    reader.read(session, revision);
    if (found.empty()) {
      found = {reader.difference(plan)};
    }
    ASSERT_EQ(found.front(), "") << "SEED=" << seed << history << "\n" << describe(problem, plan);
    const Plan scratch = solve(problem);
    Problem fast = problem;
    fast.options.economise = false;
    const Plan fast_plan = solve(fast);
    ++tally.steps;
    tally.in_place += revision.from_scratch || what == "nothing" ? 0 : 1;
    tally.refused += plan.refusals.size();
    tally.refused_from_scratch += scratch.refusals.size();
    if (plan.refusals.size() == fast_plan.refusals.size() &&
        plan.refusals.size() == scratch.refusals.size()) {
      tally.price += price_of(plan);
      tally.price_from_scratch += price_of(scratch);
      tally.fast_price += price_of(fast_plan);
      ++tally.priced;
      const double bound = (1 + 2 * options.allowance) * price_of(fast_plan) + dearest(plan);
      tally.dear += price_of(plan) > bound ? 1 : 0;
    }
  }
}

Tally follow_many(ChangeOptions changes, SessionOptions options, std::uint32_t fallback) {
  const std::uint32_t first = from_environment("SEED", 1);
  const std::uint32_t count = from_environment("SEQUENCES", fallback);
  Tally tally;
  for (std::uint32_t seed = first; seed < first + count && !testing::Test::HasFatalFailure();
       ++seed) {
    follow(seed, changes, options, tally);
  }
  std::printf(
      "%d steps, %d in place; refused %zu, from scratch %zu; price %.2f, from scratch %.2f, fast "
      "pass %.2f; %d of %d dear\n",
      tally.steps, tally.in_place, tally.refused, tally.refused_from_scratch, tally.price,
      tally.price_from_scratch, tally.fast_price, tally.dear, tally.priced);
  return tally;
}

constexpr SessionOptions kNeverAnew{.allowance = std::numeric_limits<double>::infinity()};

TEST(PlanningSession, RevisionsOfPlainWorldsAreLegalAndMissNobody) {
  const Tally tally = follow_many({.plain = true}, kNeverAnew, 300);
  EXPECT_GT(tally.in_place * 2, tally.steps);
}

TEST(PlanningSession, RevisionsOfAnyWorldAreLegalAndMissNobody) {
  const Tally tally = follow_many({}, kNeverAnew, 600);
  EXPECT_GT(tally.in_place * 8, tally.steps);
}

// The estimate by which a session decides to plan from scratch is no proof: a pod that leaves may
// have been the only one to need a dear machine.
TEST(PlanningSession, RevisionsStayNearThePriceOfAPlanFromScratch) {
  const Tally tally = follow_many({.plain = true}, {}, 300);
  EXPECT_GT(tally.in_place * 3, tally.steps);
  EXPECT_LT(tally.price, 1.03 * tally.price_from_scratch);
  EXPECT_LE(tally.price, tally.fast_price);
  EXPECT_LE(tally.dear * 100, tally.priced);
}

TEST(PlanningSession, TheSameCallsGiveTheSamePlans) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    std::string plans[2];
    for (std::string& text : plans) {
      RandomChanges world(seed, {.plain = seed % 2 == 0});
      PlanningSession session(world.start());
      std::string what;
      for (int step = 0; step < 12; ++step) {
        world.make_one(session, what);
        text += what + "\n" + text_of(session.plan());
      }
    }
    ASSERT_EQ(plans[0], plans[1]) << "SEED=" << seed;
  }
}

}  // namespace
}  // namespace millwright::checker
