// Base64 as Kubernetes uses it: standard alphabet, padded.
#pragma once

#include "millwright/base/result.hpp"

#include <string>
#include <string_view>

namespace millwright::base {

std::string encode_base64(std::string_view bytes);
// White space is allowed (kubeconfigs wrap lines), missing padding is not. The error never shows
// the text, which may be a secret.
Result<std::string> decode_base64(std::string_view text);

}  // namespace millwright::base
