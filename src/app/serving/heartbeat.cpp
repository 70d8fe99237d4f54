#include "app/serving/heartbeat.hpp"

namespace millwright::app {

base::Task<void> Heartbeat::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    last_ = loop_.now();
    co_await base::sleep(loop_, std::chrono::seconds(1), stop);
  }
}

}  // namespace millwright::app
