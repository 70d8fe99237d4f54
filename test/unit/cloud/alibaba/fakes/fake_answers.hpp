// What Alibaba Cloud answers, and keys to ask it with.
#pragma once

#include "cloud/alibaba/calls/api.hpp"
#include "unit/cloud/fakes/fake_http.hpp"

#include <string>

namespace millwright::cloud::alibaba {

inline Credentials first_keys() {
  Credentials credentials;
  credentials.access_key_id = "LTAIfake";
  credentials.secret_access_key = "secret";
  return credentials;
}

struct FixedCredentials final : CredentialSource {
  base::Task<base::Result<Credentials>> get() override {
    auto credentials = first_keys();
    credentials.session_token = renewed ? "second" : "";
    co_return credentials;
  }
  void invalidate() override { renewed = true; }
  bool renewed = false;
};

inline net::Response rpc_error(const std::string& code, int status) {
  return net::Response::json(status,
                             R"({"Code":")" + code + R"(","Message":"no","RequestId":"req-1"})");
}

}  // namespace millwright::cloud::alibaba
