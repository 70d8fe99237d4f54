#include "net/client/multi.hpp"

#include <algorithm>

namespace millwright::net {
namespace {

using base::Error;
using base::ErrorKind;

// More requests wait for their turn, so that a burst neither opens a connection each (HTTP/1.1)
// nor, with the streams, exceeds what servers allow on one (HTTP/2; Go's allow 250). Streams never
// wait: they last, and would starve each other.
constexpr std::size_t kRequestsAtOnce = 128;
constexpr long kStreamsPerConnection = 250;
constexpr std::chrono::seconds kLongestWait{60};

Error cancelled() {
  return {ErrorKind::Cancelled, "the request was cancelled"};
}

}  // namespace

Multi::Multi(ClientSetup setup) : setup_(std::move(setup)) {
  static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (kReady == CURLE_OK) {
    multi_.reset(curl_multi_init());
  }
  if (!multi_) {
    stopping_ = true;
    return;
  }
  curl_multi_setopt(multi_.get(), CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  curl_multi_setopt(multi_.get(), CURLMOPT_MAX_CONCURRENT_STREAMS, kStreamsPerConnection);
  thread_ = std::thread([this] { run(); });
}

Multi::~Multi() {
  stop();
}

void Multi::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  if (thread_.joinable()) {
    curl_multi_wakeup(multi_.get());
    thread_.join();
  }
}

void Multi::start(std::shared_ptr<Transfer> transfer) {
  post({Action::Start, std::move(transfer)});
}
void Multi::cancel(std::shared_ptr<Transfer> transfer) {
  post({Action::Cancel, std::move(transfer)});
}
void Multi::resume(std::shared_ptr<Transfer> transfer) {
  post({Action::Resume, std::move(transfer)});
}

void Multi::post(Command command) {
  {
    const std::scoped_lock lock(mutex_);
    if (!stopping_) {
      commands_.push_back(std::move(command));
      // Under the lock: after stop() has seen it the multi handle may be gone.
      curl_multi_wakeup(multi_.get());
      return;
    }
  }
  if (command.action == Action::Start) {
    command.transfer->fail(cancelled());
  }
}

void Multi::run() {
  while (true) {
    std::vector<Command> commands;
    bool stopping = false;
    {
      const std::scoped_lock lock(mutex_);
      commands.swap(commands_);
      stopping = stopping_;
    }
    for (const Command& command : commands) {
      obey(command);
    }
    if (stopping) {
      break;
    }
    int running = 0;
    curl_multi_perform(multi_.get(), &running);
    collect_finished();
    const int wait = check_deadlines();
    begin_waiting();
    curl_multi_poll(multi_.get(), nullptr, 0, wait, nullptr);
  }
  for (const auto& transfer : waiting_) {
    transfer->fail(cancelled());
  }
  while (!active_.empty()) {
    end(active_.begin()->first, [](Transfer& transfer) { transfer.fail(cancelled()); });
  }
}

void Multi::obey(const Command& command) {
  const auto& transfer = command.transfer;
  switch (command.action) {
    case Action::Start:
      if (transfer->is_stream()) {
        begin(transfer);
      } else {
        waiting_.push_back(transfer);
        begin_waiting();
      }
      break;
    case Action::Resume:
      if (active_.contains(transfer.get())) {
        transfer->resume();
      }
      break;
    case Action::Cancel:
      if (std::erase(waiting_, transfer) > 0) {
        transfer->fail(cancelled());
      } else {
        end(transfer.get(), [](Transfer& ended) { ended.fail(cancelled()); });
      }
      break;
  }
}

void Multi::begin_waiting() {
  while (!waiting_.empty() && requests_ < kRequestsAtOnce) {
    const auto next = std::move(waiting_.front());
    waiting_.pop_front();
    begin(next);
  }
}

void Multi::begin(const std::shared_ptr<Transfer>& transfer) {
  auto ready = transfer->prepare();
  if (!ready) {
    transfer->fail(std::move(ready).error());
    return;
  }
  if (curl_multi_add_handle(multi_.get(), transfer->handle()) != CURLM_OK) {
    transfer->fail({ErrorKind::Internal, "libcurl took no further request"});
    return;
  }
  active_.emplace(transfer.get(), transfer);
  requests_ += transfer->is_stream() ? 0 : 1;
}

void Multi::end(Transfer* transfer, const std::function<void(Transfer&)>& report) {
  const auto found = active_.find(transfer);
  if (found == active_.end()) {
    return;
  }
  const std::shared_ptr<Transfer> kept = std::move(found->second);
  active_.erase(found);
  requests_ -= kept->is_stream() ? 0 : 1;
  report(*kept);
  curl_multi_remove_handle(multi_.get(), kept->handle());
}

void Multi::collect_finished() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) {
      continue;
    }
    const CURLcode code = message->data.result;
    char* transfer = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    end(static_cast<Transfer*>(static_cast<void*>(transfer)),
        [code](Transfer& ended) { ended.finish(code); });
  }
}

int Multi::check_deadlines() {
  const auto now = Transfer::Clock::now();
  auto next = now + kLongestWait;
  // True when it has passed.
  const auto is_over = [&](const std::optional<Transfer::Clock::time_point>& deadline) {
    if (!deadline || *deadline > now) {
      next = std::min(next, deadline.value_or(next));
      return false;
    }
    return true;
  };
  std::vector<Transfer*> idle;
  for (const auto& [transfer, kept] : active_) {
    if (is_over(transfer->idle_deadline())) {
      idle.push_back(transfer);
    }
  }
  for (Transfer* transfer : idle) {
    end(transfer, [](Transfer& ended) { ended.fail(ended.idle_error()); });
  }
  std::erase_if(waiting_, [&](const auto& transfer) {
    if (!is_over(transfer->turn_deadline())) {
      return false;
    }
    transfer->fail(transfer->turn_error());
    return true;
  });
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(next - now).count());
}

}  // namespace millwright::net
