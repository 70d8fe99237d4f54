// The text of /metrics: the counters and, while this replica leads, gauges of the cluster state.
// Only the loop knows what pools can buy, so a page has the prices of the last refresh; whoever
// serves the page posts a refresh to the loop with each request.
#pragma once

#include "millwright/controllers/services.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

namespace millwright::app {

class MetricsPage {
 public:
  // Any thread.
  std::string render(const controllers::Services& services);
  // What pools can buy changed. Loop thread only.
  void refresh(const controllers::Services& services);
  // As of the last refresh. Any thread; never nullptr.
  std::shared_ptr<const scheduling::Catalog> catalog() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const scheduling::Catalog> catalog_ =
      std::make_shared<const scheduling::Catalog>();
  std::atomic<std::size_t> size_{0};  // of the last page
};

}  // namespace millwright::app
