// Volumes of pods that have their place already: how many a reservation will attach, and how many
// more a node can. For a few questions about one snapshot; nothing is looked up before the first.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <cstdint>
#include <memory>

namespace millwright::scheduling {

class Attachments {
 public:
  // Keeps a reference.
  explicit Attachments(const Snapshot& snapshot);
  ~Attachments();
  Attachments(const Attachments&) = delete;
  Attachments& operator=(const Attachments&) = delete;

  // What so many pods of the group attach to one node, beside the volumes of pods that are there. A
  // volume that several of them share counts once. Which of the group's pods they are is not known,
  // so these are the last of its demand.
  VolumeCounts of_group(const GroupId& group, std::int32_t pods, const NodeRecord* node = nullptr);
  // What the node can attach beside the volumes of its pods. Drivers without a limit in its CSINode
  // are absent; less than nothing is nothing.
  VolumeCounts free_on(const NodeRecord& node);

 private:
  struct Impl;
  const Snapshot& snapshot_;
  std::unique_ptr<Impl> impl_;
};

// Nothing is more than its limit.
bool fits(const VolumeCounts& volumes, const VolumeCounts& limits);

}  // namespace millwright::scheduling
