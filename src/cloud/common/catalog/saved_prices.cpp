#include "cloud/common/catalog/saved_prices.hpp"

namespace millwright::cloud {

void SavedPrices::load() {
  const auto& path = parts_.file;
  if (path.empty()) {
    return;
  }
  const auto text = parts_.environment.read_file(path);
  if (!text) {
    if (text.error().kind != base::ErrorKind::NotFound) {
      parts_.log.warn("the saved prices cannot be read", {{"error", text.error().message}});
    }
    return;
  }
  auto saved = parse_price_file(*text, path);
  if (!saved) {
    parts_.log.warn("the saved prices are damaged and not used",
                    {{"error", saved.error().message}});
    return;
  }
  parts_.prices.set_on_demand(std::move(saved->on_demand));
  parts_.prices.set_spot(std::move(saved->spot));
}

void SavedPrices::save() {
  const auto& path = parts_.file;
  if (path.empty() || !parts_.environment.write_file) {
    return;
  }
  const auto text = write_price_file(parts_.prices.learned());
  const auto written = parts_.environment.write_file(path, text);
  if (!written) {
    parts_.log.warn("prices cannot be saved for the next start",
                    {{"error", written.error().message}});
  }
}

}  // namespace millwright::cloud
