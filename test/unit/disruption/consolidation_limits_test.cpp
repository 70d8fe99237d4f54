// What consolidation does not do, and what does not stop it: other pools in trouble, capacity
// reservations, minValues and preferences (Karpenter's conformance cases DIS-12 and DIS-20).
#include "consolidation_cases.hpp"

namespace millwright::disruption {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kReservationId = "provider.example.com/reservation-id";

TEST(ConsolidationLimits, APoolInTroubleStopsNoOther) {
  struct Trouble {
    std::string name;
    std::vector<scheduling::InstanceType> types;
    bool ready = true;
    bool known = true;
  };
  const std::vector<Trouble> troubles{
      {.name = "sells nothing"},
      {.name = "is not ready", .types = {instance_type("small", 2, 1)}, .ready = false},
      {.name = "the cloud's answer for it is missing", .known = false},
  };
  for (const auto& trouble : troubles) {
    SCOPED_TRACE(trouble.name);
    Cluster cluster;
    const auto other = cluster.add_pool(node_pool("other"), trouble.types);
    if (!trouble.ready) {
      other->conditions = {{.type = "Ready", .status = model::ConditionStatus::False}};
    }
    cluster.add_node("a", {pod("p")}, {.type = "large"});
    auto input = cluster.input();
    if (!trouble.known) {
      input.catalog.erase("other");
    }
    const auto decisions = decide(input);
    ASSERT_THAT(decisions.commands, SizeIs(1));
    EXPECT_THAT(decisions.commands[0].claims, ElementsAre("a-claim"));
    EXPECT_THAT(decisions.commands[0].replacements, SizeIs(1));
  }
}

// Provisioning waits a moment for such a node; pods that run need not.
TEST(ConsolidationLimits, NoPodMovesToANodeThatIsNotReady) {
  for (const auto ready : {model::ConditionStatus::True, model::ConditionStatus::False}) {
    Cluster cluster;
    cluster.add_node("a", {pod("p")}, {.type = "small"});
    add_keeper(cluster, "b", 1000, {.type = "large"});
    cluster.node("b").node->conditions.front().status = ready;
    const auto decisions = decide(cluster.input());
    const bool moves = std::any_of(
        decisions.commands.begin(), decisions.commands.end(), [](const Command& command) {
          return std::any_of(command.placements.begin(), command.placements.end(),
                             [](const auto& placement) {
                               const auto* name = std::get_if<std::string>(&placement.target);
                               return name != nullptr && *name == "b";
                             });
        });
    EXPECT_EQ(moves, ready == model::ConditionStatus::True);
  }
}

// Its startup taint stays, for example. Until it is given up, it is not bought beside.
TEST(ConsolidationLimits, ANodeThatNeverComesUpStopsNoOther) {
  for (const auto since : {kNow - std::chrono::minutes(5), kNow - std::chrono::minutes(15)}) {
    Cluster cluster;
    cluster.add_node("a", {pod("p")}, {.type = "large"});
    begin_to_start(cluster.add_node("stuck", {}, {.type = "small"}), since);
    EXPECT_EQ(claims_of(cluster.decide()).size(),
              since == kNow - std::chrono::minutes(15) ? 1U : 0U)
        << cluster.why_not("a");
  }
}

// A type that is sold from one capacity reservation only.
scheduling::InstanceType reserved_type(std::string name, double price) {
  model::register_well_known_label(kReservationId);
  auto type = instance_type(std::move(name), 4, price, {"a"});
  type.requirements.replace(
      scheduling::Requirement::in(model::kCapacityTypeLabel, {std::string(model::kReserved)}));
  type.offerings.resize(1);
  auto& offering = type.offerings.front();
  offering.requirements.replace(
      scheduling::Requirement::in(model::kCapacityTypeLabel, {std::string(model::kReserved)}));
  offering.requirements.add(scheduling::Requirement::in(kReservationId, {"of-" + type.name}));
  offering.reservation_capacity = 10;
  return type;
}

std::vector<std::string> replacement_types(double present, double other) {
  Cluster cluster;
  cluster.pool().template_.requirements[0].values = {"reserved"};
  cluster.set_types("pool", {reserved_type("present", present), reserved_type("other", other)});
  auto& node = cluster.add_node("n", {pod("p")}, {.type = "present", .capacity_type = "reserved"});
  node.node->meta.labels[std::string(kReservationId)] = "of-present";
  const auto decisions = cluster.decide();
  if (decisions.commands.empty()) {
    return {};
  }
  const auto& types = decisions.commands.front().replacements.at(0).instance_types;
  return {types.begin(), types.end()};
}

TEST(ConsolidationLimits, OneReservationIsLeftForAnotherOnlyIfThatIsCheaper) {
  EXPECT_THAT(replacement_types(0.002, 0.001), ElementsAre("other"));
  EXPECT_THAT(replacement_types(0.001, 0.001), IsEmpty());
  EXPECT_THAT(replacement_types(0.001, 0.002), IsEmpty());
}

TEST(ConsolidationLimits, MinValuesAreNotRelaxedToSaveMoney) {
  Cluster cluster;
  cluster.options.solve.min_values = scheduling::MinValuesPolicy::BestEffort;
  cluster.pool().template_.requirements.push_back({.key = std::string(model::kInstanceTypeLabel),
                                                   .op = model::Operator::Exists,
                                                   .min_values = 3});
  cluster.add_node("a", {pod("p")}, {.type = "large"});
  EXPECT_TRUE(cluster.decide().commands.empty()) << "small and medium are two";
  cluster.pool().template_.requirements.back().min_values = 2;
  EXPECT_THAT(only_command(cluster).replacements.at(0).instance_types, SizeIs(2));
}

// A claim of spot alone that wants two capacity types would be refused by the API server. So it
// stays open to both, if neither costs too much: when spot has run out, on-demand is launched.
TEST(ConsolidationLimits, MinValuesOfTheCapacityTypeKeepTheReplacementOpen) {
  const auto replacing = [](const std::string& type) {
    Cluster cluster;
    auto& capacity_type = cluster.pool().template_.requirements[0];
    capacity_type.values = {"on-demand", "spot"};
    capacity_type.min_values = 2;
    cluster.add_node("a", {pod("p")}, {.type = type});
    return cluster.decide().commands;
  };
  const auto commands = replacing("large");
  ASSERT_THAT(commands, SizeIs(1));
  EXPECT_THAT(commands[0].replacements.at(0).requirements.get(model::kCapacityTypeLabel).values(),
              ElementsAre("on-demand", "spot"));
  EXPECT_THAT(commands[0].replacements.at(0).instance_types, ElementsAre("small", "medium"));
  EXPECT_THAT(replacing("small"), IsEmpty()) << "on-demand it would cost the same";
}

// A preference for a dear machine keeps that machine, where preferences are respected.
TEST(ConsolidationLimits, PreferencesThatAreIgnoredKeepNoNode) {
  Cluster cluster;
  auto picky = pod("p");
  model::PreferredNodeTerm large;
  large.term.match_expressions = {{.key = std::string(model::kInstanceTypeLabel),
                                   .op = model::Operator::In,
                                   .values = {"large"}}};
  picky->spec.affinity.preferred_node_terms.push_back(large);
  cluster.add_node("a", {picky}, {.type = "large"});
  EXPECT_TRUE(cluster.decide().commands.empty());
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("No cheaper instance type"));
  cluster.options.solve.preferences = scheduling::PreferencePolicy::Ignore;
  EXPECT_THAT(only_command(cluster).replacements.at(0).instance_types,
              ElementsAre("small", "medium"));
}

}  // namespace
}  // namespace millwright::disruption
