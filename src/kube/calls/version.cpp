#include "millwright/kube/version.hpp"

#include "millwright/model/json_fields.hpp"

#include <boost/json.hpp>

namespace millwright::kube {
namespace {

// Some providers write "33+".
std::string_view leading_digits(std::string_view text) {
  return text.substr(0, text.find_first_not_of("0123456789"));
}

}  // namespace

base::Task<base::Result<std::string>> ask_version(std::shared_ptr<Transport> transport) {
  ApiRequest request;
  request.path = "/version";
  MW_CO_TRY(answer, co_await transport->call(std::move(request), {}));
  const auto version = model::parse_json(answer.status == 200 ? answer.body : "");
  const auto major = version ? leading_digits(model::text_at(*version, "major")) : "";
  const auto minor = version ? leading_digits(model::text_at(*version, "minor")) : "";
  if (major.empty() || minor.empty()) {
    co_return base::fail(
        base::ErrorKind::Unavailable,
        "GET /version: HTTP " + std::to_string(answer.status) + " without a version of Kubernetes");
  }
  co_return std::string(major).append(".").append(minor);
}

}  // namespace millwright::kube
