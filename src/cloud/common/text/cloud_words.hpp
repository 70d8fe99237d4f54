// What a cloud says in free text, made fit for an event or a log that others may read. Pure.
#pragma once

#include <string>
#include <string_view>

namespace millwright::cloud {

// The value after a name that tells of a secret (password, token, userData, ...) is "***": a cloud
// may repeat the request that it could not carry out. At most a thousand bytes.
std::string without_secrets(std::string_view text);

}  // namespace millwright::cloud
