// An exchange whose answer a test looks at.
#pragma once

#include "millwright/net/server.hpp"

#include <functional>
#include <string>
#include <utility>

namespace millwright::net::test {

class Taken final : public Exchange {
 public:
  void respond(Response given) override {
    response = std::move(given);
    answered = true;
  }
  void start(int /*status*/, Headers /*headers*/) override {}
  void write(std::string /*chunk*/) override {}
  void finish() override {}
  void on_close(std::function<void()> /*callback*/) override {}
  std::string peer() const override { return from; }
  std::string from;
  Response response;
  bool answered = false;
};

}  // namespace millwright::net::test
