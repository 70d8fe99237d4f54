// The way of a browser to the console: a port on 127.0.0.1 that only who has its address can use.
// A browser shows no token by itself, so the token stays here, in this process, and the address
// holds a secret instead, new with each start. There are no cookies, so another page cannot use
// what the browser knows; and no other page can know the secret.
#pragma once

#include "millwright/base/loop.hpp"
#include "millwright/base/result.hpp"
#include "millwright/net/server.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace millwright::app {

class ConsoleDoor {
 public:
  // `backend` gets, on the loop, each request that may pass, its target without the secret:
  // "/console/". It and the loop outlive the door. `port` 0: any free one. The error says why the
  // port cannot be opened.
  static base::Result<std::unique_ptr<ConsoleDoor>> open(base::Loop& loop, std::uint16_t port,
                                                         net::Handler backend);

  // "http://127.0.0.1:PORT/SECRET/console/"
  const std::string& url() const { return url_; }
  void stop(std::chrono::milliseconds grace) { server_->stop(grace); }

 private:
  std::string url_;
  std::unique_ptr<net::Server> server_;
};

// The target of a request at the door, without the secret. What may not pass is answered with the
// error: 403 where the browser says that another site asks or that the host is none of ours (a
// name that somebody made to lead here), 404 without the secret, 405 for anything but GET.
tl::expected<std::string, net::Response> past_the_door(const net::Request& request,
                                                       std::string_view secret);

}  // namespace millwright::app
