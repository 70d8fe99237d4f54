// `millwright crds`: the CustomResourceDefinitions as YAML.
#pragma once

#include <string>

namespace millwright::app {

// Writes one file a kind into `directory`, or all to standard output when it is empty. The exit
// status.
int run_crds(const std::string& directory);

}  // namespace millwright::app
