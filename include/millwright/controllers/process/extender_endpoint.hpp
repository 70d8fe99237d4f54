// Leads kube-scheduler to the leader: Service kExtenderService has no selector, and the leader
// writes its own address as the one endpoint. A follower knows neither the fences that the leader
// made a moment ago nor the leader's attempts in flight, so it must not answer.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/task.hpp"
#include "millwright/kube/client.hpp"

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

namespace millwright::controllers {

// The Service that kube-scheduler calls, and its EndpointSlice.
inline constexpr std::string_view kExtenderService = "millwright-extender";

struct ExtenderEndpointOptions {
  std::string namespace_ = "kube-system";  // of the Service
  std::string address;                     // of this pod: IPv4 or IPv6
  int port = 8444;                         // where it serves the extender
  // Somebody may have changed or deleted the EndpointSlice.
  base::Duration look_again = std::chrono::seconds(10);
  base::Logger log;
};

class ExtenderEndpoint {
 public:
  // `client` writes for the leader alone. `can_answer` says whether this process serves the
  // extender and knows the cluster: until then nobody is led to it. `on_led` is called when the
  // EndpointSlice names this process for the first time in a term. Everything outlives the object.
  ExtenderEndpoint(kube::Client& client, ExtenderEndpointOptions options,
                   std::function<bool()> can_answer, std::function<void()> on_led);

  // One term. What it wrote stays: the next leader's address takes its place.
  base::Task<void> run(std::stop_token stop);

 private:
  base::Task<base::Result<>> write(std::stop_token stop);
  base::Task<base::Result<>> create(std::stop_token stop);

  kube::Client& client_;
  ExtenderEndpointOptions options_;
  std::function<bool()> can_answer_;
  std::function<void()> on_led_;
};

}  // namespace millwright::controllers
