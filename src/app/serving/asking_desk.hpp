// What answers questions about one engine (docs/asking.md): on the asking port, and at the
// console of the sandbox.
#pragma once

#include "app/asking/asking_routes.hpp"
#include "app/console/console_feed.hpp"
#include "millwright/app/engine.hpp"

#include <functional>
#include <memory>
#include <string>

namespace millwright::app {

class AskingDesk {
 public:
  struct Parts {
    base::Loop& loop;
    Engine& engine;
    CheckCaller check;
    std::function<bool()> leads;
    std::string lease;
    bool console = false;                           // its page and its stream, too
    base::Duration pace = std::chrono::seconds(1);  // of the stream, in the loop's time
  };
  explicit AskingDesk(Parts parts);

  // Refers to the desk, which outlives it and its requests.
  std::shared_ptr<net::Router> router();

 private:
  const Parts parts_;
  // In the order in which they may end, the last first.
  ConsoleFeed feed_;
  base::TaskGroup group_;
  base::ComputeThreads compute_;
};

}  // namespace millwright::app
