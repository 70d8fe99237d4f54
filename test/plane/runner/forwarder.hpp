// A TCP port on 127.0.0.1 whose connections go on to another one. As kube-proxy's: where one goes
// is settled when it is made, and it stays there until an end closes it.
#pragma once

#include "millwright/base/result.hpp"

#include <functional>
#include <memory>

namespace millwright::plane {

class Forwarder {
 public:
  // `target` says to which port on 127.0.0.1 a new connection goes; 0: it is refused. Called on a
  // thread of the forwarder's own.
  static base::Result<std::unique_ptr<Forwarder>> start(std::function<int()> target);
  ~Forwarder();
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  int port() const;
  // Ends every connection that is open, and refuses new ones until it is mended.
  void cut();
  void mend();

 private:
  struct State;
  Forwarder() = default;
  std::unique_ptr<State> state_;
};

}  // namespace millwright::plane
