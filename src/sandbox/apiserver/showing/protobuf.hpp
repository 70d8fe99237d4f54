// Reads the protobuf form of API objects, which typed Go clients prefer for writing. Answers are
// always JSON, which they accept as well.
#pragma once

#include "sandbox/apiserver/rest/errors.hpp"
#include "sandbox/json.hpp"

#include <string_view>

namespace millwright::sandbox {

std::string_view protobuf_schema();

// The body of an application/vnd.kubernetes.protobuf request as the JSON it stands for. Bad request
// names the kind or the field that is not known here, or says that the bytes are broken.
ApiResult<Json> decode_protobuf(std::string_view body);

}  // namespace millwright::sandbox
