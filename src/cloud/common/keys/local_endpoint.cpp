#include "cloud/common/keys/local_endpoint.hpp"

namespace millwright::cloud {
namespace {

constexpr std::chrono::milliseconds kLocalTimeout{5'000};
constexpr std::chrono::milliseconds kLocalConnectTimeout{1'000};
constexpr std::size_t kLocalBodyLimit = 64U << 10;
constexpr int kLocalAttempts = 3;
constexpr auto kLocalPause = std::chrono::milliseconds(200);

}  // namespace

net::ClientRequest local_request(std::string url, std::string method) {
  net::ClientRequest request;
  request.method = std::move(method);
  request.url = std::move(url);
  request.timeout = kLocalTimeout;
  request.connect_timeout = kLocalConnectTimeout;
  request.body_limit = kLocalBodyLimit;
  return request;
}

base::Task<base::Result<std::string>> ask_locally(LocalQuestion question) {
  for (int tried = 1;; ++tried) {
    auto sent = co_await question.client.send(question.request);
    if (sent && sent->status == 200) {
      co_return std::move(sent->body);
    }
    const bool again = !sent || sent->status >= 500 || sent->status == 429;
    if (!again || tried == kLocalAttempts) {
      if (!sent) {
        co_return base::with_context(question.what, std::move(sent).error());
      }
      const auto kind =
          sent->status == 404 ? base::ErrorKind::NotFound : base::ErrorKind::Unavailable;
      co_return base::fail(kind, question.what + ": HTTP " + std::to_string(sent->status));
    }
    co_await base::sleep(question.loop, kLocalPause);
  }
}

}  // namespace millwright::cloud
