// `millwright replay`: a recorded day on the command line.
#pragma once

#include "app/replay/replay.hpp"

#include <string>

namespace millwright::app {

struct ReplayArguments {
  ReplayRequest request;
  std::string svg;           // a file for the picture; empty: none
  std::string decision_log;  // a file for the decisions; empty: none
  std::string output = "text";
};

// Prints the report; the exit status is 1 when something is wrong with the recording or a file.
int run_replay(const ReplayArguments& arguments);

}  // namespace millwright::app
