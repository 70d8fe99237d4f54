// `millwright console`: the page of a running controller in a browser on this machine, with the
// user's own rights.
#pragma once

#include "app/asking/remote.hpp"

#include <cstdint>

namespace millwright::app {

struct ConsoleArguments {
  RemoteServer server;
  std::uint16_t port = 0;  // on 127.0.0.1; 0: any free one
};

// Prints the address and serves it until a signal. Exit status 0, or 2 when the controller does not
// serve the page to this user, or the port cannot be opened.
int run_console(const ConsoleArguments& arguments);

}  // namespace millwright::app
