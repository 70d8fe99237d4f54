// The API server's errors: metav1.Status with the reasons, details and wording of a real server,
// since kubectl and client-go act on them.
#pragma once

#include "millwright/base/result.hpp"
#include "sandbox/apiserver/store/resources.hpp"
#include "sandbox/json.hpp"

#include <tl/expected.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace millwright::sandbox {

struct Cause {
  std::string field;
  std::string reason;  // FieldValueInvalid, FieldValueRequired, ...
  std::string message;
};

struct ApiError {
  int code = 500;
  std::string reason;
  std::string message;
  Json details;  // null or StatusDetails
  int retry_after = 0;
};

template <class T = void>
using ApiResult = tl::expected<T, ApiError>;
using Refused = tl::unexpected<ApiError>;

Json to_status(const ApiError& error);
base::Error to_base(const ApiError& error);

Refused not_found(const ResourceInfo& info, std::string_view name);
Refused already_exists(const ResourceInfo& info, std::string_view name);
// Without `why`: the wording of a lost optimistic lock.
Refused conflict(const ResourceInfo& info, std::string_view name, std::string_view why = {});
Refused invalid(const ResourceInfo& info, std::string_view name, std::vector<Cause> causes);
Refused bad_request(std::string message);
Refused forbidden(const ResourceInfo& info, std::string_view name, std::string_view why);
Refused expired(std::string message);
Refused method_not_allowed();
Refused unsupported_media_type(std::string_view got);
// The 404 of a path that no resource serves.
Refused no_such_path();

}  // namespace millwright::sandbox
