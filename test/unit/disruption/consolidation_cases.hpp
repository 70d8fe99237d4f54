// Words that tests of consolidation share.
#pragma once

#include "cluster_builder.hpp"

#include <cstdint>
#include <string>
#include <utility>

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

}  // namespace millwright::disruption
