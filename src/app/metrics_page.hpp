// What /metrics answers: what was counted and, while this replica leads, what the cluster's picture
// shows. What pools sell is known to the loop only: a page shows the prices as of the last refresh,
// which its owner asks of the loop with every page.
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
  // Loop thread: what pools sell changed.
  void refresh(const controllers::Services& services);

 private:
  std::shared_ptr<const scheduling::Catalog> catalog() const;

  mutable std::mutex mutex_;
  std::shared_ptr<const scheduling::Catalog> catalog_ =
      std::make_shared<const scheduling::Catalog>();
  std::atomic<std::size_t> size_{0};  // of the last page
};

}  // namespace millwright::app
