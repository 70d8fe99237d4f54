#include "app/serving/metrics_page.hpp"

#include "millwright/telemetry/page.hpp"

namespace millwright::app {

std::string MetricsPage::render(const controllers::Services& services) {
  std::string counted = services.metrics.render();
  if (!services.chronicle.leading()) {
    return counted;
  }
  const auto snapshot = services.state.latest();
  const auto sold = catalog();
  std::string page = telemetry::render_page({.snapshot = *snapshot,
                                             .catalog = *sold,
                                             .chronicle = services.chronicle,
                                             .now = services.loop.now()},
                                            size_);
  // The counters are the smaller part: appending them copies less.
  page.append(counted);
  size_ = page.size();
  return page;
}

void MetricsPage::refresh(const controllers::Services& services) {
  auto fresh = std::make_shared<const scheduling::Catalog>(
      controllers::catalog_of(services, *services.state.latest()));
  const std::scoped_lock lock(mutex_);
  catalog_ = std::move(fresh);
}

std::shared_ptr<const scheduling::Catalog> MetricsPage::catalog() const {
  const std::scoped_lock lock(mutex_);
  return catalog_;
}

}  // namespace millwright::app
