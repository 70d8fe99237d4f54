#include "cloud/aws/catalog/restock.hpp"

#include <algorithm>

namespace millwright::cloud::aws {

void Restock::marked() {
  marked_.notify();
  catalog_.changed();
}

base::Task<void> Restock::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    std::optional<base::Duration> wait;
    if (const auto end = catalog_.unavailable().next_end()) {
      wait = std::max(*end - loop_.now(), base::Duration::zero());
    }
    co_await marked_.wait(stop, wait);
    if (catalog_.unavailable().sweep(loop_.now())) {
      catalog_.changed();
    }
  }
}

}  // namespace millwright::cloud::aws
