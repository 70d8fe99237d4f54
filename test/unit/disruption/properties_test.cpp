// What must hold of every decision, whatever the cluster.
#include "cluster_builder.hpp"
#include "disruption/candidates/selection.hpp"
#include "disruption/methods/consolidation/consolidation.hpp"
#include "disruption/methods/methods.hpp"
#include "disruption/simulation/carried_out.hpp"

#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>

namespace millwright::disruption {
namespace {

Cluster any_cluster() {
  Cluster cluster;
  cluster.options.spot_to_spot = true;
  cluster.pool().budgets = {{.nodes = std::to_string(*rc::gen::element(0, 1, 2, 4, 8, 8))}};
  cluster.pool().consolidation_policy = *rc::gen::element<std::string>(
      "WhenEmpty", "WhenEmptyOrUnderutilized", "WhenEmptyOrUnderutilized", "Balanced");
  if (*rc::gen::arbitrary<bool>()) {
    cluster.pool().template_.requirements[0].values = {"on-demand", "spot"};
  }
  const int nodes = *rc::gen::inRange(1, 8);
  for (int n = 0; n < nodes; ++n) {
    const std::string name = "n" + std::to_string(n);
    const auto type = *rc::gen::element<std::string>("small", "medium", "large");
    std::vector<std::shared_ptr<model::Pod>> pods;
    std::int64_t free = type == "small" ? 2000 : (type == "medium" ? 4000 : 8000);
    const int wanted = *rc::gen::element(0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6);
    for (int p = 0; p < wanted; ++p) {
      const std::int64_t size = *rc::gen::inRange(1, 30) * 100;
      if (size <= free) {
        free -= size;
        pods.push_back(pod(name + "-p" + std::to_string(p), size));
      }
    }
    auto& member =
        cluster.add_node(name, pods,
                         {.type = type,
                          .zone = *rc::gen::element<std::string>("a", "b"),
                          .capacity_type = *rc::gen::element<std::string>("on-demand", "spot")});
    if (*rc::gen::inRange(0, 20) == 0) {
      member.claim->conditions.push_back({.type = "Drifted",
                                          .status = model::ConditionStatus::True,
                                          .last_transition_time = kLongAgo});
    }
    if (*rc::gen::inRange(0, 30) == 0) {
      cluster.busy.insert(member.claim->meta.name);
    }
  }
  const int pending = *rc::gen::element(0, 0, 0, 1, 2);
  for (int p = 0; p < pending; ++p) {
    cluster.add_pending(pod("pending" + std::to_string(p), *rc::gen::inRange(1, 40) * 100));
  }
  if (*rc::gen::inRange(0, 3) == 0) {
    cluster.reserve(*pod("stranger", *rc::gen::inRange(1, 15) * 100),
                    "n" + std::to_string(*rc::gen::inRange(0, nodes)), kNow + std::chrono::hours(1),
                    *rc::gen::inRange(1, 4));
  }
  return cluster;
}

bool same(const Decisions& a, const Decisions& b) {
  const auto texts = [](const Decisions& decisions) {
    std::vector<std::string> all;
    for (const auto& command : decisions.commands) {
      all.push_back(command.summary);
    }
    for (const auto& blocked : decisions.blocked) {
      all.push_back(blocked.claim + ": " + blocked.why.message);
    }
    return all;
  };
  return texts(a) == texts(b) && a.next_check == b.next_check;
}

RC_GTEST_PROP(Decisions, StayWithinBudgetsAndTouchNoNodeTwice, ()) {
  const auto cluster = any_cluster();
  const auto input = cluster.input();
  const auto claims = claims_of(decide(input));
  const std::set<std::string> unique(claims.begin(), claims.end());
  RC_ASSERT(unique.size() == claims.size());
  for (const auto& claim : claims) {
    RC_ASSERT(!input.busy_claims.contains(claim));
  }
  const int limit = std::stoi(input.snapshot->node_pools[0]->budgets[0].nodes);
  RC_ASSERT(claims.empty() || static_cast<int>(claims.size() + input.busy_claims.size()) <= limit);
}

RC_GTEST_PROP(Decisions, PlanAPlaceForEveryPodThatMustMove, ()) {
  const auto input = any_cluster().input();
  const auto decisions = decide(input);
  for (const auto& command : decisions.commands) {
    const std::set<std::string> going(command.claims.begin(), command.claims.end());
    std::map<std::string, model::ResourceList> used;
    std::map<std::string, model::ResourceList> moved;  // by pod uid
    std::set<std::string> takers;
    for (const auto& record : input.snapshot->nodes) {
      used[record->name()] = record->pod_requests;
      for (const auto& each : record->pods) {
        if (going.contains(record->claim_name()) && command.reason != Reason::Empty) {
          moved.emplace(each->meta.uid, scheduling::effective_requests(*each));
        }
      }
    }
    RC_ASSERT(command.placements.size() == moved.size());
    for (const auto& placement : command.placements) {
      RC_ASSERT(moved.contains(placement.pod_uid));
      if (const auto* index = std::get_if<std::size_t>(&placement.target)) {
        RC_ASSERT(*index < command.replacements.size());
        const auto& uids = command.replacements[*index].pod_uids;
        RC_ASSERT(std::find(uids.begin(), uids.end(), placement.pod_uid) != uids.end());
        continue;
      }
      const auto& name = std::get<std::string>(placement.target);
      RC_ASSERT(!going.contains(name + "-claim"));
      RC_ASSERT(!input.busy_claims.contains(name + "-claim"));
      model::add_to(used[name], moved[placement.pod_uid]);
      takers.insert(name);
    }
    for (const auto& kept : input.snapshot->reservations) {
      RC_ASSERT(!going.contains(kept.target + "-claim"));
      if (takers.contains(kept.target)) {
        model::add_to(used[kept.target], model::multiplied(kept.requests, kept.count));
      }
    }
    for (const auto& record : input.snapshot->nodes) {
      RC_ASSERT(model::fits(used[record->name()], record->allocatable()));
    }
  }
}

RC_GTEST_PROP(Decisions, SaveMoneyWhenTheyConsolidate, ()) {
  auto cluster = any_cluster();
  cluster.options.node_overhead = *rc::gen::element(0.0, 0.01, 0.5);
  const auto input = cluster.input();
  for (const auto& command : decide(input).commands) {
    if (command.reason != Reason::Underutilized) {
      continue;
    }
    double saved = -input.options.node_overhead * static_cast<double>(command.replacements.size());
    for (const auto& claim : command.replacements) {
      saved -= claim.price;
    }
    for (const auto& record : input.snapshot->nodes) {
      const auto& claims = command.claims;
      if (std::find(claims.begin(), claims.end(), record->claim_name()) != claims.end()) {
        const auto price = scheduling::price_of(input.catalog.at("pool"), record->labels());
        saved += price.value_or(0) + input.options.node_overhead;
      }
    }
    RC_ASSERT(command.savings > 0);
    RC_ASSERT(std::abs(command.savings - saved) < 1e-9);
  }
}

RC_GTEST_PROP(Decisions, NoGroupOfFirstNodesIsWorthMoreThanTheChosenOne, ()) {
  const auto input = any_cluster().input();
  Survey survey(input, {});
  const auto chosen = consolidate_many(survey);
  auto first = eligible_candidates(survey, Reason::Underutilized);
  Allowance allowance(survey, Reason::Underutilized);
  std::erase_if(first, [&](const auto* each) { return !allowance.take(*each->pool); });
  for (std::size_t size = 2; size <= first.size(); ++size) {
    const auto tried = consolidate(survey, Candidates(first).first(size));
    RC_ASSERT(!tried.with_one_node || tried.command);
    RC_ASSERT(!tried.command || (!chosen.empty() && !is_better(*tried.command, chosen.front())));
  }
}

double price_of_candidates(const Input& input) {
  const Survey survey(input, {});
  double price = 0;
  for (const auto& candidate : survey.candidates()) {
    price += candidate.price;
  }
  return price;
}

template <class Next>
double price_at_the_end(Input input, Next next) {
  for (int step = 0; step < 100; ++step) {
    Survey survey(input, {});
    const auto command = next(survey);
    if (!command) {
      return price_of_candidates(input);
    }
    auto after = carried_out(survey, *command);
    input = std::move(after);
  }
  ADD_FAILURE() << "it never ends";
  return 0;
}

// What the cluster costs when nothing is left to do.
struct Ends {
  double ours = 0;
  double theirs = 0;  // by Karpenter's rules
};

Ends ends_of(const Input& input) {
  return {.ours = price_at_the_end(input,
                                   [](Survey& survey) {
                                     auto decisions = decide(survey.input());
                                     return decisions.commands.empty()
                                                ? std::nullopt
                                                : std::optional(decisions.commands.front());
                                   }),
          .theirs = price_at_the_end(input, [](Survey& survey) {
            auto command = remove_empty(survey);
            return command ? std::move(command) : consolidate_as_karpenter(survey);
          })};
}

// Drift is not about money.
RC_GTEST_PROP(Decisions, EndNoDearerThanThoseOfKarpentersRules, ()) {
  const auto input = any_cluster().input();
  const auto& nodes = input.snapshot->nodes;
  if (std::any_of(nodes.begin(), nodes.end(), [](const auto& record) {
        return model::find_condition(record->claim->conditions, model::kDrifted) != nullptr;
      })) {
    return;
  }
  const auto ends = ends_of(input);
  RC_ASSERT(ends.ours <= ends.theirs + 1e-9);
}

// The cheapest plan puts the pod that waits on the new node, beside the pods that move, and another
// one on n2 instead. Karpenter's leaves it to n2.
TEST(Decisions, LeaveRoomToAPodThatWaitsWhereThatIsWhatItTakes) {
  Cluster cluster;
  cluster.pool().budgets = {{.nodes = "1"}};
  cluster.pool().template_.requirements[0].values = {"on-demand", "spot"};
  cluster.add_node("n1", {pod("a", 100), pod("b", 1700), pod("c", 1100), pod("d", 100)},
                   {.type = "medium"});
  cluster.add_node("n2", {pod("e", 1500), pod("f", 100), pod("g", 900)}, {.type = "large"});
  cluster.node("n1").record->pods.push_back(pod("h", 1000));
  cluster.add_pending(pod("waits", 1700));
  cluster.reserve(*pod("stranger", 1200), "n2", kNow + std::chrono::hours(1));
  const auto ends = ends_of(cluster.input());
  EXPECT_DOUBLE_EQ(ends.ours, ends.theirs);
}

// n0 can be replaced by a smaller node only when n2 is gone: the pod that waits has had n2's room
// till then, and goes to another node now.
TEST(Decisions, KnowThatANodeMayGoWhenAPodThatWaitsLosesItsRoom) {
  Cluster cluster;
  cluster.pool().budgets = {{.nodes = "2"}};
  cluster.add_node("n0", {pod("a", 1700), pod("b", 900), pod("c", 2000), pod("d", 2300)},
                   {.type = "large"});
  cluster.add_node("n1",
                   {pod("e", 100), pod("f", 100), pod("g", 100), pod("h", 1900), pod("i", 700)},
                   {.type = "medium", .capacity_type = "spot"});
  cluster.add_node("n2", {pod("j", 1200)}, {.type = "small", .capacity_type = "spot"});
  cluster.add_node("n3", {pod("k", 900)}, {.type = "large", .capacity_type = "spot"});
  cluster.add_pending(pod("waits", 1200));
  const auto ends = ends_of(cluster.input());
  EXPECT_DOUBLE_EQ(ends.theirs, 3);
  EXPECT_LE(ends.ours, ends.theirs);
}

RC_GTEST_PROP(Decisions, AreTheSameForTheSameInputAndValidAtOnce, ()) {
  const auto input = any_cluster().input();
  const auto decisions = decide(input);
  RC_ASSERT(same(decisions, decide(input)));
  for (const auto& command : decisions.commands) {
    RC_ASSERT(still_valid(command, input));
  }
}

}  // namespace
}  // namespace millwright::disruption
