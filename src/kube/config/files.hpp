// Small files and the encodings of what is in them: certificates, tokens, kubeconfigs.
#pragma once

#include "millwright/base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace millwright::kube {

inline constexpr std::size_t kMaxFileSize = 4U << 20;

// NotFound when there is no such file, else Invalid with the path and the reason.
base::Result<std::string> read_file(const std::string& path);

// `path` itself when absolute.
std::string resolve_path(const std::string& directory, const std::string& path);

// Without white space at either end; Invalid when it could not be part of an HTTP header.
base::Result<std::string> clean_token(std::string_view text);

// Whether `text` has at least one PEM block whose label ends in `label`.
bool has_pem(std::string_view text, std::string_view label);

}  // namespace millwright::kube
