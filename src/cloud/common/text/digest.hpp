// The digests that signatures and content hashes are made of, over OpenSSL.
#pragma once

#include <string>
#include <string_view>

namespace millwright::cloud {

// Raw bytes.
std::string sha256(std::string_view data);
std::string hmac_sha256(std::string_view key, std::string_view data);
// Only for signatures that a cloud defined long ago.
std::string hmac_sha1(std::string_view key, std::string_view data);
// Lower case.
std::string to_hex(std::string_view bytes);

}  // namespace millwright::cloud
