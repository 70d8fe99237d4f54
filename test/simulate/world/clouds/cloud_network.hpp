// The way from one replica to the API of its cloud, in virtual time. A request that arrives takes
// effect although nobody may wait for its answer any more.
#pragma once

#include "millwright/base/loop.hpp"
#include "millwright/base/random.hpp"
#include "millwright/base/task.hpp"
#include "millwright/net/client.hpp"
#include "simulate/world/clouds/world_cloud.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace millwright::test {

// What is the same for all replicas.
struct CloudApi {
  std::function<base::Result<net::Response>(const net::ClientRequest&)> answer;
  net::Response throttled;  // in the cloud's own words
  // What the request asks the cloud to change, in the cloud's own word; empty: nothing.
  std::function<std::string(const net::ClientRequest&)> changes;
  // How long the answer waits for something to tell (SQS's long polling); nullptr: it never does.
  std::function<base::Duration(const net::ClientRequest&)> holds;
  CloudTrouble trouble;
};

class CloudNetwork final : public net::Client {
 public:
  // `api` and `world` outlive it. Requests travel on `world`, so that they outlive the process that
  // sent them; answers arrive on `loop`, the replica's. `on_change` hears of each change that the
  // cloud is asked for, as it is sent.
  CloudNetwork(base::Loop& loop, base::Loop& world, const CloudApi& api, base::Random random,
               std::function<void(std::string)> on_change)
      : loop_(loop),
        world_(world),
        api_(api),
        random_(random),
        on_change_(std::move(on_change)),
        on_the_way_(world) {}

  base::Task<base::Result<net::Response>> send(net::ClientRequest request,
                                               std::stop_token stop) override;
  base::Task<base::Result<net::Response>> stream(net::ClientRequest request,
                                                 std::function<void(std::string_view)> on_chunk,
                                                 std::stop_token stop) override;
  base::Result<net::Response> send_blocking(net::ClientRequest request) override;

 private:
  using Reply = base::Result<net::Response>;
  base::Task<void> deliver(net::ClientRequest request, base::Promise<Reply> reply);
  bool chance(double rate) { return rate > 0 && random_.unit() < rate; }
  base::Duration draw_latency();

  base::Loop& loop_;
  base::Loop& world_;
  const CloudApi& api_;
  base::Random random_;
  std::function<void(std::string)> on_change_;
  base::TaskGroup on_the_way_;
};

}  // namespace millwright::test
