#include "schema/kinds/kubelet_names.hpp"

namespace millwright::schema {

const std::vector<std::string>& reservable_resources() {
  static const std::vector<std::string> kNames{"cpu", "memory", "ephemeral-storage", "pid"};
  return kNames;
}

const std::vector<std::string>& eviction_signals() {
  static const std::vector<std::string> kNames{"memory.available",   "nodefs.available",
                                               "nodefs.inodesFree",  "imagefs.available",
                                               "imagefs.inodesFree", "pid.available"};
  return kNames;
}

const Pattern& eviction_threshold() {
  static const Pattern kPattern(
      R"(^((\d{1,2}(\.\d{1,2})?|100(\.0{1,2})?)%|)"
      R"((\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+)))"
      R"((([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?)$)",
      "a percentage such as \"5%\" or a quantity such as \"100Mi\"");
  return kPattern;
}

}  // namespace millwright::schema
