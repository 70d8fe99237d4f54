// An AWS whose every first answer is what the fuzzer made up; later ones are empty, so that a
// NextToken in it leads to an end.
#pragma once

#include "cloud/aws/calls/ec2.hpp"
#include "cloud/aws/calls/services.hpp"
#include "fuzz/answers.hpp"
#include "unit/cloud/aws/fakes/fake_http.hpp"

namespace millwright::cloud::aws {

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

}  // namespace millwright::cloud::aws
