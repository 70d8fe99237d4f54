// How requests reach an API server: over HTTPS (make_transport() in config.hpp) or, in the sandbox,
// by a call within the process.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/base/task.hpp"
#include "millwright/net/http.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace millwright::kube {

struct ApiRequest {
  std::string method = "GET";
  std::string path;  // "/api/v1/pods?limit=500"
  std::string body;
  std::string content_type = "application/json";
  std::chrono::milliseconds timeout{30'000};
};

class Transport {
 public:
  virtual ~Transport() = default;
  // An answer of any HTTP status is a Response; an error means that there was no answer.
  virtual base::Task<base::Result<net::Response>> call(ApiRequest request,
                                                       std::stop_token stop) = 0;
  // Delivers the body of a 200 answer in pieces, on the loop; returns when it ended. The first
  // piece comes with the answer's head, and may be empty.
  virtual base::Task<base::Result<net::Response>> stream(
      ApiRequest request, std::function<void(std::string_view)> on_chunk, std::stop_token stop) = 0;
};

}  // namespace millwright::kube
