// `what-if` of the console: of a cluster as its API server has it now, asked with somebody's own
// rights, and worked out in this process. The controller has no part in it. Loop thread only.
#pragma once

#include "app/whatif/request.hpp"
#include "millwright/kube/client.hpp"
#include "millwright/net/server.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace millwright::app {

inline constexpr std::string_view kWhatIfPath = "/what-if";

// The changes that a page may ask for, as words of the command's own language: `drain NODE`,
// `price TYPE=PRICE`, `scale deployment/NAME=N -n NAMESPACE`, `zone-out ZONE`; none: what will
// happen anyway. Whatever would read or write files here is Invalid.
base::Result<WhatIfRequest> parse_page_what_if(std::string_view changes);

class LiveWhatIf {
 public:
  // Reads with the client's rights; the client outlives the object.
  explicit LiveWhatIf(kube::Client& client) : client_(client), group_(client.loop()) {}

  // GET /what-if?change=WORDS, answered as text: 400 for a question that cannot be read, 429 while
  // another one is being worked out, 502 when the cluster cannot be read.
  void answer(const net::Request& request, std::shared_ptr<net::Exchange> exchange);

 private:
  base::Task<void> work(WhatIfRequest question, std::shared_ptr<net::Exchange> exchange);
  base::Task<base::Result<std::string>> read_cluster();

  kube::Client& client_;
  bool busy_ = false;
  base::ComputeThreads compute_;
  base::TaskGroup group_;  // last, so that it ends first
};

}  // namespace millwright::app
