// One call for many callers: items that arrive close together share it, as Karpenter batches
// launches, descriptions and terminations. Loop thread only.
#pragma once

#include "millwright/base/metrics.hpp"
#include "millwright/base/result.hpp"
#include "millwright/base/task.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace millwright::cloud {

struct BatchLimits {
  base::Duration idle = std::chrono::milliseconds(100);  // call when nothing new came for so long
  base::Duration longest = std::chrono::seconds(1);      // the first item never waits longer
  std::size_t items = 500;
};

struct BatcherParts {
  base::Loop& loop;
  base::Metrics& metrics;
  std::string name;  // of the metrics' label "batcher"
  BatchLimits limits;
};

template <class Item, class Reply>
class Batcher {
 public:
  using Replies = std::vector<base::Result<Reply>>;
  // Answers every item, in their order.
  using Flush = std::function<base::Task<Replies>(std::vector<Item>)>;

  Batcher(BatcherParts parts, Flush flush)
      : parts_(std::move(parts)), flush_(std::move(flush)), group_(parts_.loop) {}

  // Only items of equal key share a call.
  base::Task<base::Result<Reply>> ask(Item item, std::string key = {}) {
    const base::Promise<base::Result<Reply>> answer(parts_.loop);
    auto& queue = queues_[key];
    queue.items.push_back(std::move(item));
    queue.answers.push_back(answer);
    queue.last = parts_.loop.now();
    if (queue.items.size() == 1) {
      queue.first = queue.last;
      queue.number = ++numbers_;
      group_.spawn(collect(key, queue.number));
    } else if (queue.items.size() >= parts_.limits.items) {
      group_.spawn(send(take(key)));
    }
    co_return co_await answer.get();
  }

 private:
  struct Queue {
    std::vector<Item> items;
    std::vector<base::Promise<base::Result<Reply>>> answers;
    base::TimePoint first{};
    base::TimePoint last{};
    std::uint64_t number = 0;
  };

  Queue take(const std::string& key) {
    auto taken = queues_.extract(key);
    return std::move(taken.mapped());
  }

  base::Task<void> collect(std::string key, std::uint64_t number) {
    while (true) {
      const auto found = queues_.find(key);
      if (found == queues_.end() || found->second.number != number) {
        co_return;  // the batch was full and has been sent
      }
      const auto& queue = found->second;
      const auto due =
          std::min(queue.last + parts_.limits.idle, queue.first + parts_.limits.longest);
      if (parts_.loop.now() >= due) {
        auto ready = take(key);
        co_await send(std::move(ready));
        co_return;
      }
      co_await base::sleep(parts_.loop, due - parts_.loop.now());
    }
  }

  base::Task<void> send(Queue queue) {
    note(queue);
    auto replies = co_await flush_(std::move(queue.items));
    for (std::size_t i = 0; i < queue.answers.size() && i < replies.size(); ++i) {
      queue.answers[i].set(std::move(replies[i]));
    }
  }

  void note(const Queue& queue) {
    const std::chrono::duration<double> waited = parts_.loop.now() - queue.first;
    parts_.metrics.observe("karpenter_cloudprovider_batcher_batch_time_seconds",
                           "How long the first request of a batch waited for others.",
                           {{"batcher", parts_.name}}, waited.count(),
                           {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2});
    parts_.metrics.observe("karpenter_cloudprovider_batcher_batch_size",
                           "How many requests shared one call.", {{"batcher", parts_.name}},
                           static_cast<double>(queue.items.size()),
                           {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000});
  }

  BatcherParts parts_;
  Flush flush_;
  std::map<std::string, Queue> queues_;
  std::uint64_t numbers_ = 0;
  base::TaskGroup group_;
};

}  // namespace millwright::cloud
