// The thread that does all transfers of one client. Thread-safe.
#pragma once

#include "net/client/transfer.hpp"

#include <curl/curl.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace millwright::net {

class Multi {
 public:
  explicit Multi(ClientSetup setup);
  ~Multi();
  Multi(const Multi&) = delete;
  Multi& operator=(const Multi&) = delete;

  const ClientSetup& setup() const { return setup_; }

  void start(std::shared_ptr<Transfer> transfer);
  // The outcome is Cancelled; nothing happens when there is an outcome already.
  void cancel(std::shared_ptr<Transfer> transfer);
  void resume(std::shared_ptr<Transfer> transfer);
  // Cancels everything and ends the thread. What is started later is cancelled at once.
  void stop();

 private:
  enum class Action { Start, Cancel, Resume };
  struct Command {
    Action action;
    std::shared_ptr<Transfer> transfer;
  };
  struct Free {
    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
  };

  void post(Command command);
  void run();
  void obey(const Command& command);
  void begin(const std::shared_ptr<Transfer>& transfer);
  void begin_waiting();
  void end(Transfer* transfer, const std::function<void(Transfer&)>& report);
  void collect_finished();
  // Gives up idle streams and requests that waited too long for their turn; returns in how many
  // milliseconds the next may be due.
  int check_deadlines();

  const ClientSetup setup_;
  std::unique_ptr<CURLM, Free> multi_;
  std::mutex mutex_;
  std::vector<Command> commands_;
  bool stopping_ = false;
  // The thread's own:
  std::map<Transfer*, std::shared_ptr<Transfer>> active_;
  std::deque<std::shared_ptr<Transfer>> waiting_;
  std::size_t requests_ = 0;  // of `active_`, those that are no streams
  std::thread thread_;
};

}  // namespace millwright::net
