// `millwright why`: what was decided about a pod, a node or a NodePool, and what would change it.
#pragma once

#include <string>

namespace millwright::app {

struct WhyArguments {
  std::string kind;  // "pod", "node", "nodeclaim", "nodepool"
  std::string name;
  std::string namespace_ = "default";
  std::string decisions;   // a file with lines of --decision-log, or of the log; "-": stdin
  std::string server;      // or the URL of a controller's asking port, with the credentials of
  std::string kubeconfig;  // this file's user; empty: $KUBECONFIG, ~/.kube/config
  std::string context;     // empty: the current one
  std::string token_file;  // in place of that user
  std::string certificate_authority;  // file with the CA of the server; empty: the system's
  std::string output = "text";        // or "json"
};

// Exit status 0 with an answer, 1 when nothing is known about the object, 2 for a wrong question.
int run_why(const WhyArguments& arguments);

}  // namespace millwright::app
