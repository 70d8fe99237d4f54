#include "millwright/kube/leader_only.hpp"

#include "millwright/base/mutant.hpp"

#include <utility>

namespace millwright::kube {
namespace {

class LeaderOnly final : public Transport {
 public:
  LeaderOnly(std::shared_ptr<Transport> transport, const base::Leadership& leadership)
      : transport_(std::move(transport)), leadership_(leadership) {}

  base::Task<base::Result<net::Response>> call(ApiRequest request, std::stop_token stop) override {
    if (request.method == "GET") {
      return transport_->call(std::move(request), std::move(stop));
    }
    return write(std::move(request), std::move(stop));
  }

  base::Task<base::Result<net::Response>> stream(ApiRequest request,
                                                 std::function<void(std::string_view)> on_chunk,
                                                 std::stop_token stop) override {
    return transport_->stream(std::move(request), std::move(on_chunk), std::move(stop));
  }

 private:
  base::Task<base::Result<net::Response>> write(ApiRequest request, std::stop_token stop) {
    if (base::planted(base::Mutant::WritesAfterTerm)) {
      co_return co_await transport_->call(std::move(request), std::move(stop));
    }
    if (!leadership_.holds()) {
      co_return base::fail(base::ErrorKind::Denied,
                           "not sent: this replica does not lead, or no longer");
    }
    const base::EitherStop either(stop, leadership_.over());
    auto reply = co_await transport_->call(std::move(request), either.token());
    const bool cut = !reply && reply.error().kind == base::ErrorKind::Cancelled;
    if (cut && !stop.stop_requested()) {
      co_return base::fail(base::ErrorKind::Timeout,
                           "given up: this replica's term of leadership ended before the answer");
    }
    co_return reply;
  }

  std::shared_ptr<Transport> transport_;
  const base::Leadership& leadership_;
};

}  // namespace

std::shared_ptr<Transport> leader_only(std::shared_ptr<Transport> transport,
                                       const base::Leadership& leadership) {
  return std::make_shared<LeaderOnly>(std::move(transport), leadership);
}

}  // namespace millwright::kube
