// Whether the controller may launch what a class describes, found out by dry runs before any pod
// waits for it (Karpenter's nodeclass validation controller). Loop thread only.
#pragma once

#include "cloud/aws/launcher.hpp"

#include <map>
#include <optional>
#include <string>

namespace millwright::cloud::aws {

class Validation {
 public:
  Validation(Launcher& launcher, base::Loop& loop, base::Logger log)
      : launcher_(launcher), loop_(loop), log_(std::move(log)) {}

  // The condition ValidationSucceeded of the class, whose status is what resolve() found. Kept for
  // half an hour while class and cluster stay as they are, a refusal for less. nullopt: AWS could
  // not be asked; what was said last stands.
  base::Task<std::optional<NodeClassCondition>> judge(NodeClassPtr node_class,
                                                      ClusterFacts cluster);

 private:
  struct Kept {
    std::string of;  // what was judged
    base::TimePoint until;
    NodeClassCondition condition;
  };
  Launcher& launcher_;
  base::Loop& loop_;
  base::Logger log_;
  std::map<std::string, Kept> kept_;  // by the class's name
};

}  // namespace millwright::cloud::aws
