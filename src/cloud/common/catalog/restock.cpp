#include "cloud/common/catalog/restock.hpp"

#include <algorithm>

namespace millwright::cloud {

void Restock::marked() {
  marked_.notify();
  changed_();
}

base::Task<void> Restock::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    std::optional<base::Duration> wait;
    if (const auto end = unavailable_.next_end()) {
      wait = std::max(*end - loop_.now(), base::Duration::zero());
    }
    co_await marked_.wait(stop, wait);
    if (unavailable_.sweep(loop_.now())) {
      changed_();
    }
  }
}

}  // namespace millwright::cloud
