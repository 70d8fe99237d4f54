// `millwright sandbox`: a story, or an empty cluster to play with, over real sockets in scaled
// time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace millwright::app {

struct SandboxArguments {
  std::string story;  // a name, "all", "list", or empty: no story
  std::string examples = "manifests/examples";
  bool keep = false;  // leave it up afterwards
  double speed = 20;  // seconds of its time per real second
  std::uint64_t seed = 1;
  std::string profile = "kwok";    // without a story: whose cloud
  std::string kubeconfig;          // where to write it; empty: a temporary file
  bool verbose = false;            // print what the controllers log
  std::string decision_log;        // file to which decisions are written; empty: none
  bool console = true;             // a page for a browser
  std::uint16_t console_port = 0;  // on 127.0.0.1; 0: any free one
  // Of `why --server`, `top` and `console`, on 127.0.0.1; 0: any free one; empty: there is none.
  std::optional<std::uint16_t> asking_port{};
  std::optional<std::uint16_t> metrics_port{};  // the same for /metrics
};

// The process's exit status: 0 only when every story's outcome held.
int run_sandbox(const SandboxArguments& arguments);

}  // namespace millwright::app
