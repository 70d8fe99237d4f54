// Words that tests of consolidation share.
#pragma once

#include "cluster_builder.hpp"
#include "disruption/methods/consolidation/consolidation.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace millwright::disruption {

inline const std::string kKeep(model::kDoNotDisruptAnnotation);

// Takes pods but does not go itself.
inline Member& add_keeper(Cluster& cluster, std::string name, std::int64_t used_millicores,
                          const NodeOptions& options = {}) {
  auto& member = cluster.add_node(name, {pod(name + "-resident", used_millicores)}, options);
  member.node->meta.annotations[kKeep] = "true";
  return member;
}

// An annotation of the cluster's NodePool.
inline void annotate(Cluster& cluster, std::string_view key, std::string value) {
  cluster.pool().meta.annotations[std::string(key)] = std::move(value);
}

inline Command only_command(const Cluster& cluster) {
  auto decisions = cluster.decide();
  EXPECT_THAT(decisions.commands, ::testing::SizeIs(1));
  return decisions.commands.empty() ? Command{} : decisions.commands.front();
}

inline Command removal_of(Survey& survey, const std::vector<std::string>& claims) {
  std::vector<const Candidate*> nodes;
  for (const auto& claim : claims) {
    nodes.push_back(survey.find(claim));
  }
  auto result = consolidate(survey, nodes);
  EXPECT_TRUE(result.command) << result.problem->message;
  return result.command.value_or(Command{});
}

// Room for the pods of "large", or for those of both "m1" and "m2"; the pods of "large" alone would
// do with a cheaper node, too.
inline Cluster room_for_one_of_two() {
  Cluster cluster;
  cluster.set_types("pool", {instance_type("small", 2, 1), instance_type("medium", 4, 2),
                             instance_type("six", 6, 2.5), instance_type("large", 8, 4)});
  cluster.add_node("large", {pod("l1", 3000), pod("l2", 3000)}, {.type = "large"});
  cluster.add_node("m1", {pod("p1", 3500)});
  cluster.add_node("m2", {pod("p2", 3500)});
  add_keeper(cluster, "keeper", 1000, {.type = "large"});
  return cluster;
}

}  // namespace millwright::disruption
