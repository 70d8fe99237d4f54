// Finds out by dry runs, before any pod waits, whether the controller may launch a class's machines
// (Karpenter's nodeclass validation controller). Loop thread only.
#pragma once

#include "cloud/aws/catalog/type_refresh.hpp"
#include "cloud/aws/launch/launcher.hpp"

#include <map>
#include <optional>
#include <string>

namespace millwright::cloud::aws {

class Validation {
 public:
  struct Parts {
    Launcher& launcher;
    const Catalog& catalog;
    TypeRefresh& types;
    base::Loop& loop;
    base::Logger log;
    bool dry_run;  // false: a class is valid when its other conditions are good
  };
  explicit Validation(Parts parts) : parts_(std::move(parts)) {}

  // Adds the condition ValidationSucceeded, the last one, to what resolve() found of the class.
  // Adds none when AWS could not be asked: the condition that the class has remains, except that
  // one of DependenciesNotReady, which is over, becomes Unknown.
  base::Task<NodeClassState> validate(NodeClassPtr node_class, NodeClassState state,
                                      ClusterFacts cluster);

 private:
  base::Task<std::optional<NodeClassCondition>> try_launch(NodeClassPtr node_class,
                                                           ClusterFacts cluster);

  Parts parts_;
  // Used again for half an hour, refusals for less, unless the class or the cluster changes.
  struct Answer {
    std::string inputs;
    base::TimePoint until;
    NodeClassCondition condition;
  };
  std::map<std::string, Answer> answers_;  // by the class's name
};

}  // namespace millwright::cloud::aws
