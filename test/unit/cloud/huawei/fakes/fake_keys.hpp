// Keys of a made-up account of Huawei Cloud, and a machine that has a region.
#pragma once

#include "cloud/huawei/calls/api.hpp"
#include "unit/cloud/fakes/fake_http.hpp"

namespace millwright::cloud::huawei {

struct FixedKeys final : CredentialSource {
  base::Task<base::Result<Credentials>> get() override {
    Credentials credentials;
    credentials.access_key_id = "HWFAKEACCESSKEY00001";
    credentials.secret_access_key = "fakeSecret";
    credentials.session_token = renewed ? "second" : "";
    co_return credentials;
  }
  void invalidate() override { renewed = true; }
  bool renewed = false;
};

inline Endpoints test_endpoints() {
  FakeMachine machine;
  return Endpoints::make("cn-north-4", machine.environment()).value();
}

inline net::Response refusal(int status, const std::string& code, const std::string& message) {
  return net::Response::json(
      status, R"({"error_code":")" + code + R"(","error_msg":")" + message + R"("})");
}

}  // namespace millwright::cloud::huawei
