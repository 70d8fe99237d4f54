// An AWS that is a function: its keys, answers and errors.
#pragma once

#include "cloud/aws/calls/api.hpp"
#include "unit/cloud/fakes/fake_http.hpp"

#include <string>

namespace millwright::cloud::aws {

struct FixedCredentials final : CredentialSource {
  base::Task<base::Result<Credentials>> get() override {
    Credentials credentials{.access_key_id = "AKIDFAKE", .secret_access_key = "secret"};
    credentials.session_token = renewed ? "second" : "";
    co_return credentials;
  }
  void invalidate() override { renewed = true; }
  bool renewed = false;
};

inline std::string read_test_data(const std::string& name) {
  return read_data_file("aws/" + name);
}

inline net::Response xml(std::string body, int status = 200) {
  auto response = net::Response::text(status, std::move(body));
  response.headers.set("Content-Type", "text/xml");
  return response;
}

inline net::Response ec2_error(const std::string& code, int status = 400,
                               const std::string& message = "no") {
  return xml("<Response><Errors><Error><Code>" + code + "</Code><Message>" + message +
                 "</Message></Error></Errors><RequestID>req-1</RequestID></Response>",
             status);
}

}  // namespace millwright::cloud::aws
