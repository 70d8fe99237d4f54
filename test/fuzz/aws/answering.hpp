// An AWS whose every first answer is what the fuzzer made up; later ones are empty, so that a
// NextToken in it leads to an end.
#pragma once

#include "cloud/aws/calls/ec2.hpp"
#include "cloud/aws/calls/services.hpp"
#include "unit/cloud/aws/fakes/fake_http.hpp"

#include <cstdint>
#include <string>

namespace millwright::cloud::aws {

// The first two bytes choose what is asked and the answer's status; the rest is the body.
struct Input {
  Input(const std::uint8_t* data, std::size_t size) {
    const std::string all(data, data + size);
    choice = all.empty() ? 0U : static_cast<unsigned char>(all[0]);
    const auto kind = all.size() < 2 ? 0U : static_cast<unsigned char>(all[1]);
    status = kind % 8 == 1 ? 400 : kind % 8 == 2 ? 503 : kind % 8 == 3 ? 404 : 200;
    body = all.size() < 2 ? std::string() : all.substr(2);
  }
  unsigned choice = 0;
  int status = 200;
  std::string body;
};

class Answering {
 public:
  explicit Answering(Input input, const char* empty)
      : loop(kStart),
        http(loop),
        endpoints(*Endpoints::make("us-west-2", machine.environment())),
        api({.loop = loop, .client = http, .endpoints = endpoints, .log = {}, .seed = 1}),
        ec2(api) {
    http.script({net::Response::text(input.status, std::move(input.body)),
                 net::Response::text(200, empty)});
  }

  FakeMachine machine;
  base::VirtualLoop loop;
  FakeHttp http;
  Endpoints endpoints;
  Api api;
  Ec2 ec2;
};

// An error that says nothing helps nobody.
template <class Answer>
void expect_explained(const Answer& answer) {
  if (!answer && answer.error().message.empty()) {
    __builtin_trap();
  }
}

}  // namespace millwright::cloud::aws
