// The offerings for sale now: list prices with noise, without the offerings that failed lately.
#include "cloud/simulated/catalog.hpp"
#include "cloud/simulated/state.hpp"

#include <algorithm>

namespace millwright::cloud {

namespace {

bool matches(const OfferingPattern& pattern, const SimulatedCloud::State::OfferingKey& offering) {
  const auto part = [](const std::string& wanted, const std::string& value) {
    return wanted.empty() || wanted == value;
  };
  return part(pattern.instance_type, offering.instance_type) && part(pattern.zone, offering.zone) &&
         part(pattern.capacity_type, offering.capacity_type);
}

}  // namespace

scheduling::InstanceTypes SimulatedCloud::State::catalog(const simulated::Sale& sale) const {
  const auto& zones = sale.zones;
  auto& cached = catalogs_[sale];
  if (cached) {
    return cached;
  }
  auto result = std::make_shared<std::vector<scheduling::InstanceType>>(types);
  for (auto& type : *result) {
    if (sale.official) {
      type.requirements = simulated::with_official_labels(type.requirements);
    }
    for (auto& offering : type.offerings) {
      const OfferingKey key{type.name, std::string(offering.zone()),
                            std::string(offering.capacity_type())};
      offering.price *= price_factor(key);
      offering.available =
          offering.available &&
          (zones.empty() || std::binary_search(zones.begin(), zones.end(), key.zone)) &&
          !unavailable_until.contains(key);
    }
  }
  cached = std::move(result);
  return cached;
}

bool SimulatedCloud::State::is_sold_out(const OfferingKey& offering) const {
  return std::any_of(settings.sold_out.begin(), settings.sold_out.end(),
                     [&](const auto& pattern) { return matches(pattern, offering); });
}

void SimulatedCloud::State::mark_unavailable(const OfferingKey& offering) {
  const auto until = loop.now() + settings.unavailable_ttl;
  unavailable_until[offering] = until;
  schedule(settings.unavailable_ttl, [offering](State& self) {
    const auto found = self.unavailable_until.find(offering);
    // Another failure may have moved the end since then.
    if (found != self.unavailable_until.end() && found->second <= self.loop.now()) {
      self.unavailable_until.erase(found);
      self.catalog_changed();
    }
  });
  catalog_changed();
}

void SimulatedCloud::State::move_prices() {
  if (settings.price_noise > 0) {
    ++price_epoch_;
    catalog_changed();
  }
}

// Depends on the seed, the offering and how often prices moved, not on the order of calls.
double SimulatedCloud::State::price_factor(const OfferingKey& offering) const {
  if (settings.price_noise <= 0) {
    return 1;
  }
  const auto name = offering.instance_type + "/" + offering.zone + "/" + offering.capacity_type +
                    "/" + std::to_string(settings.seed) + "/" + std::to_string(price_epoch_);
  const auto unit = base::Random(simulated::stable_hash(name)).unit();
  return 1 + std::min(settings.price_noise, 0.95) * (2 * unit - 1);
}

std::size_t SimulatedCloud::State::set_price(const OfferingPattern& pattern, double price) {
  std::size_t changed = 0;
  for (auto& type : types) {
    for (auto& offering : type.offerings) {
      const OfferingKey key{type.name, std::string(offering.zone()),
                            std::string(offering.capacity_type())};
      if (matches(pattern, key)) {
        offering.price = price;
        ++changed;
      }
    }
  }
  catalog_changed();
  return changed;
}

std::vector<OfferingPattern> SimulatedCloud::State::offerings() const {
  std::vector<OfferingPattern> all;
  for (const auto& type : types) {
    for (const auto& offering : type.offerings) {
      all.push_back(
          {type.name, std::string(offering.zone()), std::string(offering.capacity_type())});
    }
  }
  return all;
}

void SimulatedCloud::State::catalog_changed() {
  catalogs_.clear();
  if (std::exchange(change_posted_, true)) {
    return;
  }
  loop.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) {
      return;
    }
    self->change_posted_ = false;
    // By index: a callback may register another.
    for (std::size_t i = 0; i < self->catalog_callbacks.size(); ++i) {
      self->catalog_callbacks[i]();
    }
  });
}

}  // namespace millwright::cloud
