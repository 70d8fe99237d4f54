// Somebody who asks the extender as kube-scheduler does, beside it: one connection, one call after
// another, at a steady rate, and how long each took on his side of the wire. On a thread of its own
// from construction to finish().
#pragma once

#include "millwright/net/client.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace millwright::plane {

struct SteadyCallerOptions {
  net::ClientTls tls;
  std::string url;
  std::string body;
  std::chrono::milliseconds beat{20};  // from one call's begin to the next one's
  // Far beyond what any call takes: whoever counts failures must not count slowness.
  std::chrono::milliseconds time_limit{120'000};
};

class SteadyCaller {
 public:
  explicit SteadyCaller(SteadyCallerOptions options);
  ~SteadyCaller();
  SteadyCaller(const SteadyCaller&) = delete;
  SteadyCaller& operator=(const SteadyCaller&) = delete;

  struct Calls {
    std::vector<double> milliseconds;  // of those that were answered, sorted
    std::size_t failed = 0;            // no answer, or another status than 200
    std::string first_failure;
  };
  // Makes no more calls.
  Calls finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The value below which a share of them lies; 0 when there are none.
double quantile_of(const std::vector<double>& sorted, double share);

}  // namespace millwright::plane
