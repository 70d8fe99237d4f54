// Many small tasks, so many of them at a time.
#pragma once

#include "millwright/base/task.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace millwright::controllers {

namespace at_once {

struct Queue {
  std::vector<base::Task<void>> tasks;
  std::size_t next = 0;
};

inline base::Task<void> take_turns(std::shared_ptr<Queue> queue) {
  while (queue->next < queue->tasks.size()) {
    co_await std::move(queue->tasks[queue->next++]);
  }
}

}  // namespace at_once

// Begins the tasks in order, at most `limit` at a time, and ends with the last of them.
inline base::Task<void> run_at_once(base::Loop& loop, std::vector<base::Task<void>> tasks,
                                    std::size_t limit) {
  const auto queue = std::make_shared<at_once::Queue>();
  queue->tasks = std::move(tasks);
  base::TaskGroup group(loop);
  for (std::size_t i = 0; i < std::min(limit, queue->tasks.size()); ++i) {
    group.spawn(at_once::take_turns(queue));
  }
  co_await group.join();
}

}  // namespace millwright::controllers
