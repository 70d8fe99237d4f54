// `millwright certs`: a CA and a serving certificate as files.
#pragma once

#include <string>
#include <vector>

namespace millwright::app {

struct CertsArguments {
  std::string directory = ".";
  std::vector<std::string> names{"localhost"};  // DNS names
  int days = 90;
};

// Writes ca.crt, ca.key, tls.crt and tls.key and prints their paths. The exit status.
int run_certs(const CertsArguments& arguments);

}  // namespace millwright::app
