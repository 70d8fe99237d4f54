#include "millwright/kube/read_only.hpp"

#include <utility>

namespace millwright::kube {
namespace {

class ReadOnly final : public Transport {
 public:
  explicit ReadOnly(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

  base::Task<base::Result<net::Response>> call(ApiRequest request, std::stop_token stop) override {
    if (request.method != "GET") {
      return refuse(std::move(request));
    }
    return transport_->call(std::move(request), std::move(stop));
  }

  base::Task<base::Result<net::Response>> stream(ApiRequest request,
                                                 std::function<void(std::string_view)> on_chunk,
                                                 std::stop_token stop) override {
    if (request.method != "GET") {
      return refuse(std::move(request));
    }
    return transport_->stream(std::move(request), std::move(on_chunk), std::move(stop));
  }

 private:
  static base::Task<base::Result<net::Response>> refuse(ApiRequest request) {
    co_return base::fail(
        base::ErrorKind::Denied,
        "not sent: " + request.method + " " + request.path + " would write, and this only reads");
  }

  std::shared_ptr<Transport> transport_;
};

}  // namespace

std::shared_ptr<Transport> read_only(std::shared_ptr<Transport> transport) {
  return std::make_shared<ReadOnly>(std::move(transport));
}

}  // namespace millwright::kube
