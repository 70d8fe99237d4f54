// What the console shows: the cluster as `millwright top` has it, the pods on each node, the room
// kept there and for whom, and the newest decisions. As JSON, whole or as what changed. Pure.
#pragma once

#include "app/top/cluster_view.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace millwright::app {

// One picture. Everything but `time` and `pods` is JSON, so that two pictures compare as text.
struct ConsoleView {
  // The pods of a record, which never changes: the next picture has them without counting anew.
  struct Pods {
    scheduling::NodeRecordPtr record;
    std::string json;
  };
  base::TimePoint time{};
  std::string totals;
  std::map<std::string, std::string> nodes;  // by name
  std::map<std::string, Pods> pods;          // by the node's name
  std::size_t pods_of_each = 0;              // that are named on one node at most
  std::string waiting;
  std::vector<std::pair<std::uint64_t, std::string>> decisions;  // by number, oldest first
};

// Of what is decided the newest; of nodes that merely stay, fewer.
inline constexpr std::size_t kMostShownDecisions = 200;
inline constexpr std::size_t kMostShownKept = 100;
// Pods named in one picture; the others are counted. It keeps a picture below 8 MiB up to 15,000
// nodes.
inline constexpr std::size_t kMostNamedPods = 60'000;
inline constexpr std::size_t kMostNamedOnANode = 110;

// `before` may be nullptr; it only saves work.
ConsoleView console_view(const ViewParts& parts, const ConsoleView* before);

// {"time", "totals", "nodes": [...], "waiting": [...], "decisions": [...]}
std::string whole_json(const ConsoleView& view);
// The same members, those that changed: nodes that are new or changed, decisions that are new, and
// "gone", the names of nodes that are there no more. Empty when nothing changed but the time.
std::string changes_json(const ConsoleView& before, const ConsoleView& after);

}  // namespace millwright::app
