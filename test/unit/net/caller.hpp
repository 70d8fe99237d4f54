// One client on one loop, driven from the test's thread.
#pragma once

#include "unit/net/support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millwright::net::test {

struct Caller {
  base::RealLoop loop;
  std::unique_ptr<Client> client;
  std::stop_source stop;

  explicit Caller(ClientTls tls = {}, ClientOptions options = {})
      : client(make_client(loop, std::move(tls), options)) {}
  base::Result<Response> blocking(ClientRequest request) const {
    return client->send_blocking(std::move(request));
  }
  base::Result<Response> send(ClientRequest request) {
    base::Result<Response> out;
    run_on(loop, send_task(std::move(request), out));
    return out;
  }
  base::Task<void> send_task(ClientRequest request, base::Result<Response>& out) {
    out = co_await client->send(std::move(request), stop.get_token());
  }
  base::Result<Response> stream(ClientRequest request,
                                std::function<void(std::string_view)> on_chunk) {
    base::Result<Response> out;
    run_on(loop, stream_task(std::move(request), std::move(on_chunk), out));
    return out;
  }
  base::Task<void> stream_task(ClientRequest request,
                               std::function<void(std::string_view)> on_chunk,
                               base::Result<Response>& out) {
    out = co_await client->stream(std::move(request), std::move(on_chunk), stop.get_token());
  }
};

inline void expect_error(const base::Result<Response>& result, base::ErrorKind kind,
                         const std::string& part, const std::string& what = "") {
  ASSERT_FALSE(result) << what;
  EXPECT_EQ(base::to_string(result.error().kind), base::to_string(kind))
      << what << ": " << result.error().message;
  EXPECT_THAT(result.error().message, testing::HasSubstr(part)) << what;
}

}  // namespace millwright::net::test
