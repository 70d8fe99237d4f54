// Base64 as Kubernetes uses it: standard alphabet, padded.
#pragma once

#include "millwright/base/result.hpp"

#include <string>
#include <string_view>

namespace millwright::base {

std::string encode_base64(std::string_view bytes);
// Ignores white space, since kubeconfigs wrap lines; requires padding. The error does not show the
// text, which may be a secret.
Result<std::string> decode_base64(std::string_view text);

}  // namespace millwright::base
