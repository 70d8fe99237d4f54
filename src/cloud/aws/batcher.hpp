// Many callers, one call: items that arrive close together are asked for at once, as Karpenter
// batches DescribeInstances and TerminateInstances. Loop thread only.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/base/task.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace millwright::cloud::aws {

struct BatchLimits {
  base::Duration idle = std::chrono::milliseconds(100);  // nothing new for so long: go
  base::Duration longest = std::chrono::seconds(1);      // the first never waits longer
  std::size_t items = 500;
};

template <class Reply>
class Batcher {
 public:
  using Replies = std::vector<base::Result<Reply>>;
  // Answers every item, in their order. Must outlive the batcher's tasks.
  using Flush = std::function<base::Task<Replies>(std::vector<std::string>)>;

  Batcher(base::Loop& loop, Flush flush, BatchLimits limits = {})
      : loop_(loop), flush_(std::move(flush)), limits_(limits), group_(loop) {}

  base::Task<base::Result<Reply>> ask(std::string item) {
    const base::Promise<base::Result<Reply>> answer(loop_);
    items_.push_back(std::move(item));
    answers_.push_back(answer);
    last_ = loop_.now();
    if (items_.size() == 1) {
      first_ = last_;
      group_.spawn(collect());
    } else if (items_.size() >= limits_.items) {
      group_.spawn(send(std::exchange(items_, {}), std::exchange(answers_, {})));
    }
    auto result = co_await answer.get();
    co_return result;
  }

 private:
  using Answers = std::vector<base::Promise<base::Result<Reply>>>;

  base::Task<void> collect() {
    const auto mine = first_;
    while (!items_.empty() && first_ == mine) {
      const auto due = std::min(last_ + limits_.idle, first_ + limits_.longest);
      if (loop_.now() >= due) {
        co_await send(std::exchange(items_, {}), std::exchange(answers_, {}));
        co_return;
      }
      co_await base::sleep(loop_, due - loop_.now());
    }
  }

  base::Task<void> send(std::vector<std::string> items, Answers answers) {
    auto replies = co_await flush_(std::move(items));
    for (std::size_t i = 0; i < answers.size() && i < replies.size(); ++i) {
      answers[i].set(std::move(replies[i]));
    }
  }

  base::Loop& loop_;
  Flush flush_;
  BatchLimits limits_;
  std::vector<std::string> items_;
  Answers answers_;
  base::TimePoint first_{};
  base::TimePoint last_{};
  base::TaskGroup group_;
};

}  // namespace millwright::cloud::aws
