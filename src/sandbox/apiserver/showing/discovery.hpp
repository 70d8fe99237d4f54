// Answers discovery: API groups and resources, OpenAPI, version, health.
#pragma once

#include "millwright/net/http.hpp"

#include <optional>
#include <string>

namespace millwright::sandbox {

// nullopt: not a discovery path.
std::optional<net::Response> serve_discovery(const net::Request& request,
                                             const std::string& git_version);
std::optional<net::Response> serve_openapi(const net::Request& request);

}  // namespace millwright::sandbox
