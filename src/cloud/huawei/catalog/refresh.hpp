// Refreshes the catalog from Huawei Cloud: flavors and zones from ECS, prices from BSS. Loop thread
// only.
#pragma once

#include "cloud/common/catalog/saved_prices.hpp"
#include "cloud/huawei/calls/operations.hpp"
#include "cloud/huawei/catalog/catalog.hpp"
#include "millwright/base/log.hpp"

#include <stop_token>
#include <string>

namespace millwright::cloud::huawei {

class CatalogRefresh {
 public:
  struct Parts {
    Api& api;
    Catalog& catalog;
    ProcessEnvironment environment;
    std::string price_cache;
    base::Logger log;
  };
  explicit CatalogRefresh(Parts parts);

  // Prices that an earlier process learned.
  void load() { saved_.load(); }
  // Twice a day; a minute after a failure.
  base::Task<void> run(std::stop_token stop);

 private:
  base::Task<bool> refresh_flavors();
  base::Task<bool> refresh_prices();

  Parts parts_;
  SavedPrices saved_;
};

}  // namespace millwright::cloud::huawei
