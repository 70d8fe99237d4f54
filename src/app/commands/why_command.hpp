// `millwright why`: what was decided about a pod, a node or a NodePool, and what would change it.
#pragma once

#include "app/asking/remote.hpp"

#include <string>

namespace millwright::app {

struct WhyArguments {
  std::string kind;  // "pod", "node", "nodeclaim", "nodepool"
  std::string name;
  std::string namespace_ = "default";
  std::string decisions;        // a file with lines of --decision-log, or of the log; "-": stdin
  RemoteServer server;          // or a controller's asking port
  std::string output = "text";  // or "json"
};

// Exit status 0 with an answer, 1 when nothing is known about the object, 2 for a wrong question.
int run_why(const WhyArguments& arguments);

}  // namespace millwright::app
