// `millwright convert`: reads a file, converts its legacy objects and prints the result.
#pragma once

#include <string>

namespace millwright::app {

struct ConvertArguments {
  std::string file;                // "-": standard input
  std::string node_role;           // empty: the controller's default
  std::string kubernetes_version;  // "1.33"; empty: not known
  std::string ecs_group;           // of ECSNodeClasses; empty: the one that is served
};

// Objects go to standard output, remarks and problems to standard error. The exit status: 0, 1 when
// an object could not be converted as it stands, 2 when the arguments or the file are wrong.
int run_convert(const ConvertArguments& arguments);

}  // namespace millwright::app
