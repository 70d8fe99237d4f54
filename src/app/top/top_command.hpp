// `millwright top`: the nodes, their price and fill, and the pods that wait, of a cluster whose
// controller answers on its asking port.
#pragma once

#include "app/asking/remote.hpp"

#include <string>

namespace millwright::app {

struct TopArguments {
  RemoteServer server;
  std::string sort = "name";
  std::string node_pool;        // only this one; empty: all
  std::string output = "text";  // or "json": printed once
  bool once = false;            // also where there is no terminal to draw on
  double interval = 2;          // seconds between two questions
};

// Exit status 0, or 2 when the server does not answer or the question is wrong.
int run_top(const TopArguments& arguments);

}  // namespace millwright::app
