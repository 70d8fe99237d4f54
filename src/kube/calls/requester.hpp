// Sends one request to the API server, with the client's rate limit, a deadline, retries of what is
// safe to repeat, and metrics under client-go's names. Loop thread only.
#pragma once

#include "kube/calls/pacing.hpp"
#include "millwright/base/metrics.hpp"
#include "millwright/base/random.hpp"
#include "millwright/kube/client.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace millwright::kube {

// Of evictions there are as many as there are pods on all nodes that go, and budgets have them
// repeated for hours. Each waits for its like before it takes its turn among all, so that every
// other call finds a part of the rate left, and a part of the requests that the transport sends at
// once: a webhook may take ten seconds to refuse one. A pod whose time is up is deleted once, and
// within its grace: that call has the whole rate.
enum class Lane : std::uint8_t { Any, Evictions };

struct Call {
  std::string verb;  // "get", "list", "create", ... as the metrics name it
  std::string what;  // "get Pod default/web-1": begins every error message
  model::Resource resource;
  std::string subresource;
  ApiRequest request;
  Lane lane = Lane::Any;
  // Makes the body each time that the request is sent, for one that depends on when that is.
  std::function<std::string(base::TimePoint)> late_body{};
};

class Requester {
 public:
  Requester(base::Loop& loop, std::shared_ptr<Transport> transport, ClientOptions options,
            base::Metrics* metrics);

  // The parsed body of a 2xx answer; null when it was empty.
  base::Task<base::Result<boost::json::value>> run(Call call, std::stop_token stop);

  base::Loop& loop() const { return loop_; }
  Transport& transport() const { return *transport_; }
  const ClientOptions& options() const { return options_; }
  base::Random& random() { return random_; }

 private:
  // What is put into `place` is held until the answer comes. False: stopped.
  base::Task<bool> wait_for_turn(Lane lane, Places::Place* place, std::stop_token stop);
  base::Task<bool> wait_for_token(TokenBucket* bucket, std::stop_token stop);
  base::Task<base::Result<net::Response>> send_once(ApiRequest request, std::string what,
                                                    std::stop_token stop);
  void record(const Call& call, const base::Result<net::Response>& answer, base::Duration took);

  base::Loop& loop_;
  std::shared_ptr<Transport> transport_;
  ClientOptions options_;
  base::Metrics* metrics_;
  base::Random random_;
  TokenBucket bucket_;  // of all calls
  TokenBucket evictions_;
  std::shared_ptr<Places> eviction_places_;  // places outlive the requester, as their tasks may
};

}  // namespace millwright::kube
