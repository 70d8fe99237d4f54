#include "millwright/net/client.hpp"

#include "net/client/multi.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

namespace millwright::net {
namespace {

using base::ErrorKind;
using base::Promise;
using base::Result;
using base::Task;

// What a stream has received and its reader has not yet taken. Beyond this the transfer pauses,
// and TCP tells the peer.
constexpr std::size_t kStreamBufferLimit = 4U << 20;

base::Error cancelled(const ClientRequest& request) {
  return {ErrorKind::Cancelled, request.method + " request: cancelled before it was sent"};
}

// Cancels its transfer when the coroutine that waits for it goes away.
class Carried {
 public:
  Carried(std::shared_ptr<Multi> multi, std::shared_ptr<Transfer> transfer)
      : multi_(std::move(multi)), transfer_(std::move(transfer)) {
    multi_->start(transfer_);
  }
  Carried(const Carried&) = delete;
  Carried& operator=(const Carried&) = delete;
  ~Carried() {
    if (!done_) {
      cancel();
    }
  }
  void cancel() const { multi_->cancel(transfer_); }
  void resume() const { multi_->resume(transfer_); }
  void set_done() { done_ = true; }

 private:
  std::shared_ptr<Multi> multi_;
  std::shared_ptr<Transfer> transfer_;
  bool done_ = false;
};

// Coroutines take the loop by reference because a loop outlives everything that runs on it.
Task<Result<Response>> run_send(base::Loop& loop, std::shared_ptr<Multi> multi,
                                ClientRequest request, std::stop_token stop) {
  if (stop.stop_requested()) {
    co_return tl::unexpected(cancelled(request));
  }
  const Promise<Result<Response>> promise(loop);
  Carried carried(multi,
                  std::make_shared<Transfer>(
                      std::move(request), multi->setup(), Transfer::OnData(),
                      [promise](Result<Response> result) { promise.set(std::move(result)); }));
  const std::stop_callback on_stop(stop, [&carried] { carried.cancel(); });
  auto result = co_await promise.get();
  carried.set_done();
  co_return result;
}

// Between the transfer's thread, which fills it, and the loop, which empties it.
class StreamInbox {
 public:
  // Transfer's thread. No bytes: the answer has begun. False: full, the bytes were not taken.
  bool put(std::string_view bytes) {
    const std::scoped_lock lock(mutex_);
    begins_ = begins_ || bytes.empty();
    if (!pending_.empty() && pending_.size() + bytes.size() > kStreamBufferLimit) {
      paused_ = true;
      return false;
    }
    pending_.append(bytes);
    wake_locked();
    return true;
  }
  void finish(Result<Response> result) {
    const std::scoped_lock lock(mutex_);
    outcome_.emplace(std::move(result));
    wake_locked();
  }

  // Loop. The promise is set as soon as there is something to take.
  void await(Promise<bool> ready) {
    const std::scoped_lock lock(mutex_);
    reader_.emplace(std::move(ready));
    if (begins_ || !pending_.empty() || outcome_) {
      wake_locked();
    }
  }
  struct Taken {
    std::string bytes;
    bool begins = false;
    bool was_paused = false;
    std::optional<Result<Response>> outcome;
  };
  Taken take() {
    const std::scoped_lock lock(mutex_);
    return {.bytes = std::exchange(pending_, {}),
            .begins = std::exchange(begins_, false),
            .was_paused = std::exchange(paused_, false),
            .outcome = std::exchange(outcome_, std::nullopt)};
  }

 private:
  void wake_locked() {
    if (const auto reader = std::exchange(reader_, std::nullopt)) {
      reader->set(true);
    }
  }
  std::mutex mutex_;
  std::string pending_;
  bool begins_ = false;
  bool paused_ = false;
  std::optional<Result<Response>> outcome_;
  std::optional<Promise<bool>> reader_;
};

Task<Result<Response>> run_stream(base::Loop& loop, std::shared_ptr<Multi> multi,
                                  ClientRequest request,
                                  std::function<void(std::string_view)> on_chunk,
                                  std::stop_token stop) {
  if (stop.stop_requested()) {
    co_return tl::unexpected(cancelled(request));
  }
  const auto inbox = std::make_shared<StreamInbox>();
  Carried carried(multi,
                  std::make_shared<Transfer>(
                      std::move(request), multi->setup(),
                      [inbox](std::string_view bytes) { return inbox->put(bytes); },
                      [inbox](Result<Response> result) { inbox->finish(std::move(result)); }));
  const std::stop_callback on_stop(stop, [&carried] { carried.cancel(); });
  while (true) {
    const Promise<bool> ready(loop);
    inbox->await(ready);
    co_await ready.get();
    auto taken = inbox->take();
    if (taken.was_paused && !taken.outcome) {
      carried.resume();
    }
    if ((taken.begins || !taken.bytes.empty()) && !stop.stop_requested()) {
      on_chunk(taken.bytes);
    }
    if (taken.outcome) {
      carried.set_done();
      co_return std::move(*taken.outcome);
    }
  }
}

class CurlClient final : public Client {
 public:
  CurlClient(base::Loop& loop, ClientSetup setup)
      : loop_(loop), multi_(std::make_shared<Multi>(std::move(setup))) {}
  CurlClient(const CurlClient&) = delete;
  CurlClient& operator=(const CurlClient&) = delete;
  // Tasks that still run keep the multi alive, but it carries nothing any more.
  ~CurlClient() override { multi_->stop(); }

  Task<Result<Response>> send(ClientRequest request, std::stop_token stop) override {
    return run_send(loop_, multi_, std::move(request), std::move(stop));
  }

  Task<Result<Response>> stream(ClientRequest request,
                                std::function<void(std::string_view)> on_chunk,
                                std::stop_token stop) override {
    return run_stream(loop_, multi_, std::move(request), std::move(on_chunk), std::move(stop));
  }

  Result<Response> send_blocking(ClientRequest request) override {
    struct Answer {
      std::mutex mutex;
      std::condition_variable arrived;
      bool has_arrived = false;
      Result<Response> result;
    };
    const auto answer = std::make_shared<Answer>();
    multi_->start(std::make_shared<Transfer>(std::move(request), multi_->setup(),
                                             Transfer::OnData(), [answer](Result<Response> result) {
                                               const std::scoped_lock lock(answer->mutex);
                                               answer->result = std::move(result);
                                               answer->has_arrived = true;
                                               answer->arrived.notify_one();
                                             }));
    std::unique_lock lock(answer->mutex);
    answer->arrived.wait(lock, [&] { return answer->has_arrived; });
    return std::move(answer->result);
  }

 private:
  base::Loop& loop_;
  std::shared_ptr<Multi> multi_;
};

}  // namespace

std::unique_ptr<Client> make_client(base::Loop& loop, ClientTls tls, ClientOptions options) {
  return std::make_unique<CurlClient>(loop, ClientSetup{std::move(tls), options});
}

}  // namespace millwright::net
