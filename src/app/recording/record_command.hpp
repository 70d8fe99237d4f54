// `millwright record`: a recording of a cluster in a file.
#pragma once

#include "millwright/app/settings.hpp"

#include <cstdint>
#include <string>

namespace millwright::app {

struct RecordArguments {
  std::string output;
  std::string duration;  // a Go duration; empty: until it is stopped
  bool hash_names = false;
  std::uint64_t most_megabytes = 1024;
  std::string kubeconfig;  // empty: as a pod where there is a service account, else kubectl's own
  std::string context;
};

// Blocks until it ends; the exit status.
int run_record(const RecordArguments& arguments, const Environment& environment);

}  // namespace millwright::app
