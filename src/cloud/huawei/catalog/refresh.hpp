// Refreshes the catalog from Huawei Cloud: flavors and zones from ECS, prices from BSS. Loop thread
// only.
#pragma once

#include "cloud/huawei/calls/operations.hpp"
#include "cloud/huawei/catalog/catalog.hpp"
#include "millwright/base/log.hpp"

#include <stop_token>

namespace millwright::cloud::huawei {

class CatalogRefresh {
 public:
  CatalogRefresh(Api& api, Catalog& catalog, base::Logger log)
      : api_(api), catalog_(catalog), log_(std::move(log)) {}

  // Twice a day; a minute after a failure.
  base::Task<void> run(std::stop_token stop);

 private:
  base::Task<bool> refresh_flavors();
  base::Task<bool> refresh_prices();

  Api& api_;
  Catalog& catalog_;
  base::Logger log_;
};

}  // namespace millwright::cloud::huawei
