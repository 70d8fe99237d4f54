// The network between one replica and the API server, and what the API server answers in trouble.
#pragma once

#include "millwright/base/random.hpp"
#include "millwright/kube/transport.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace millwright::test {

// What all replicas get from the API server beyond sandbox::Faults.
struct ApiTrouble {
  bool down = false;       // nobody listens
  double storm = 0;        // 429
  double late_commit = 0;  // done, and answered 504
  double gone_pages = 0;   // 410 in the middle of a list
  enum class Forbidden : std::uint8_t { Nothing, Everything, Writes, OwnKinds };
  Forbidden forbidden = Forbidden::Nothing;  // 403
  bool webhooks_fail = false;                // 500 for writes of Karpenter's kinds
};

// What `answer` is set to; Timeout after `timeout`, and Cancelled when the stop is requested. The
// request goes on all the same.
base::Task<base::Result<net::Response>> await_answer(
    base::Loop& loop, base::Promise<base::Result<net::Response>> answer,
    std::chrono::milliseconds timeout, std::stop_token stop);

class Network final : public kube::Transport {
 public:
  Network(base::Loop& loop, std::shared_ptr<kube::Transport> inner, const ApiTrouble& trouble,
          base::Random random);

  base::Task<base::Result<net::Response>> call(kube::ApiRequest request,
                                               std::stop_token stop) override;
  base::Task<base::Result<net::Response>> stream(kube::ApiRequest request,
                                                 std::function<void(std::string_view)> on_chunk,
                                                 std::stop_token stop) override;
  void set_latency(base::Duration most) { latency_ = most; }
  void lose_requests(bool lose);
  // What watches deliver meanwhile comes later.
  void lose_replies(bool lose);
  void clog(bool clog);
  // 401 until the token is read again.
  void expire_token(bool expired) { token_expired_ = expired; }
  // No new connection is made; watches go on.
  void distrust(bool distrusts) { distrusts_ = distrusts; }

 private:
  using Reply = base::Result<net::Response>;
  // What a request becomes on its way, whether or not anybody still waits for it.
  base::Task<void> deliver(kube::ApiRequest request, base::Promise<Reply> reply);
  base::Duration draw_latency();
  // What is said to it before anything is done; nullopt: nothing.
  std::optional<Reply> turn_away(const kube::ApiRequest& request);
  bool chance(double rate) { return rate > 0 && random_.unit() < rate; }
  bool holds_replies() const { return clogged_ || loses_replies_; }
  void let_go();

  base::Loop& loop_;
  std::shared_ptr<kube::Transport> inner_;
  const ApiTrouble& trouble_;
  base::Random random_;
  base::Duration latency_{};
  bool loses_requests_ = false;
  bool loses_replies_ = false;
  bool clogged_ = false;
  bool token_expired_ = false;
  bool distrusts_ = false;
  base::Signal changed_;
  std::deque<std::function<void()>> held_;
  base::TaskGroup on_the_way_;
};

}  // namespace millwright::test
