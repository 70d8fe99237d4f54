// `millwright cloud`: simulated clouds in a process of their own, for controllers that are started
// with --simulated-cloud-url. Their instances outlive every controller, as those of a real cloud
// do.
#pragma once

#include <string>
#include <vector>

namespace millwright::app {

struct CloudArguments {
  std::vector<std::string> profiles{"kwok"};
  int port = 8090;  // on 127.0.0.1
  std::string kubeconfig;
  // In place of the profile's own delays; Go durations, empty: the profile's.
  std::string launch;
  std::string boot;
  std::string termination;
  double lost_replies = 0;  // share of launches that succeed but are answered with a time-out
  double errors = 0;        // share of calls that fail
};

// The process's exit status; returns after SIGINT or SIGTERM, or when it could not start.
int run_cloud(const CloudArguments& arguments);

}  // namespace millwright::app
