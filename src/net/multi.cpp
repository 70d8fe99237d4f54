#include "net/multi.hpp"

#include <algorithm>

namespace millwright::net {
namespace {

using base::Error;
using base::ErrorKind;

// HTTP/1.1 peers get at most so many connections; more transfers wait for one of them.
constexpr long kConnectionsPerHost = 256;
constexpr int kLongestWaitMs = 60'000;

Error cancelled() {
  return {ErrorKind::Cancelled, "the request was cancelled"};
}

}  // namespace

Multi::Multi(ClientTls tls) : tls_(std::move(tls)) {
  static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (kReady == CURLE_OK) {
    multi_.reset(curl_multi_init());
  }
  if (!multi_) {
    stopping_ = true;
    return;
  }
  curl_multi_setopt(multi_.get(), CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  curl_multi_setopt(multi_.get(), CURLMOPT_MAX_HOST_CONNECTIONS, kConnectionsPerHost);
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
    const int wait = check_idle();
    curl_multi_poll(multi_.get(), nullptr, 0, wait, nullptr);
  }
  while (!active_.empty()) {
    end(active_.begin()->first, [](Transfer& transfer) { transfer.fail(cancelled()); });
  }
}

void Multi::obey(const Command& command) {
  if (command.action == Action::Start) {
    begin(command.transfer);
    return;
  }
  Transfer* transfer = command.transfer.get();
  if (!active_.contains(transfer)) {
    return;
  }
  if (command.action == Action::Resume) {
    transfer->resume();
  } else {
    end(transfer, [](Transfer& ended) { ended.fail(cancelled()); });
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
}

void Multi::end(Transfer* transfer, const std::function<void(Transfer&)>& report) {
  const auto found = active_.find(transfer);
  if (found == active_.end()) {
    return;
  }
  const std::shared_ptr<Transfer> kept = std::move(found->second);
  active_.erase(found);
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

int Multi::check_idle() {
  const auto now = Transfer::Clock::now();
  int wait = kLongestWaitMs;
  std::vector<Transfer*> idle;
  for (const auto& [transfer, kept] : active_) {
    const auto deadline = transfer->idle_deadline();
    if (!deadline) {
      continue;
    }
    if (*deadline <= now) {
      idle.push_back(transfer);
    } else {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - now).count();
      wait = static_cast<int>(std::min<long>(wait, left));
    }
  }
  for (Transfer* transfer : idle) {
    end(transfer, [](Transfer& ended) { ended.fail(ended.idle_error()); });
  }
  return wait;
}

}  // namespace millwright::net
