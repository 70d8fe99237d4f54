// Runs a credential plugin and returns its output. Blocks, so it must not run on the loop's thread.
#pragma once

#include "millwright/base/result.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace millwright::kube {

struct ProcessSpec {
  std::string command;  // a path, or a name to look up in PATH
  std::vector<std::string> args;
  std::map<std::string, std::string> env;  // added to our own environment
  std::chrono::milliseconds timeout{60'000};
  std::size_t output_limit = 1U << 20;
};

// What it wrote to standard output, if it ended with 0. It has no standard input, and it and its
// children are killed on `stop`, after the time-out and beyond the output limit. Errors: NotFound
// (no such program), Timeout, Cancelled, Unavailable (it failed; the message has the end of what
// it wrote to standard error, long words masked since they may be secrets).
base::Result<std::string> run_process(const ProcessSpec& spec, std::stop_token stop);

}  // namespace millwright::kube
