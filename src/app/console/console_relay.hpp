// Hands the questions of a browser on to a controller's asking port, with the token of a user of
// the cluster. Loop thread only.
#pragma once

#include "millwright/base/task.hpp"
#include "millwright/kube/transport.hpp"
#include "millwright/net/server.hpp"

#include <memory>
#include <string>

namespace millwright::app {

class ConsoleRelay {
 public:
  // Requests of `transport` carry the token. Both outlive the object.
  ConsoleRelay(base::Loop& loop, kube::Transport& transport)
      : loop_(loop), transport_(transport), group_(loop) {}

  // The controller's answer; 502 when there is none.
  void answer(const net::Request& request, std::shared_ptr<net::Exchange> exchange);

 private:
  base::Task<void> call(std::string target, std::shared_ptr<net::Exchange> exchange);
  base::Task<void> stream(std::string target, std::shared_ptr<net::Exchange> exchange);

  base::Loop& loop_;
  kube::Transport& transport_;
  base::TaskGroup group_;  // last, so that it ends first
};

}  // namespace millwright::app
