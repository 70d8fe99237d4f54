// A real loop for tests of what talks over sockets.
#pragma once

#include "millwright/base/loop.hpp"
#include "millwright/base/task.hpp"

#include <functional>
#include <future>
#include <memory>
#include <thread>

namespace millwright::test {

// A loop on a thread of its own; tasks are run on it one after the other.
class LoopThread {
 public:
  LoopThread() : thread_([this] { loop.run(); }) {
    call([this] { group_ = std::make_unique<base::TaskGroup>(loop); });
  }
  ~LoopThread() {
    call([this] { group_.reset(); });
    loop.stop();
    thread_.join();
  }
  void call(const std::function<void()>& work) {
    std::promise<void> done;
    loop.post([&] {
      work();
      done.set_value();
    });
    done.get_future().get();
  }
  template <class T>
  T run(std::function<base::Task<T>()> make) {
    std::promise<T> done;
    auto future = done.get_future();
    loop.post([&] { group_->spawn(keep(make(), done)); });
    return future.get();
  }
  void spawn(std::function<base::Task<void>(std::stop_token)> make) {
    call([&] { group_->spawn(make(group_->stop_token())); });
  }
  base::RealLoop loop;

 private:
  template <class T>
  static base::Task<void> keep(base::Task<T> task, std::promise<T>& done) {
    auto value = co_await std::move(task);
    done.set_value(std::move(value));
  }
  std::unique_ptr<base::TaskGroup> group_;
  std::thread thread_;
};

}  // namespace millwright::test
