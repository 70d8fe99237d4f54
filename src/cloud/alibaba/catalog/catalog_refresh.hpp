// Keeps the catalog fresh: types and prices twice a day, stock every few minutes. Loop thread only.
#pragma once

#include "cloud/alibaba/calls/ecs.hpp"
#include "cloud/alibaba/catalog/catalog.hpp"
#include "cloud/common/catalog/saved_prices.hpp"
#include "millwright/base/log.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace millwright::cloud::alibaba {

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

  base::Task<void> run_types(std::stop_token stop);
  base::Task<void> run_stock(std::stop_token stop);
  // Asks for one type after another: hundreds of calls, at a rate that ECS allows.
  base::Task<void> run_prices(std::stop_token stop);

  // True when it succeeded. After a failure the last good answers serve.
  base::Task<bool> refresh_types();
  base::Task<bool> refresh_stock();
  // Asks for the types whose prices could not be read last time; once those are read, or after half
  // a day, for all. A type that ECS refuses to price fails nothing.
  base::Task<bool> refresh_prices(std::stop_token stop);
  // Prices that an earlier process learned.
  void load() { saved_.load(); }

 private:
  struct Found {
    TypePrices prices;
    bool has_spot = false;  // spot is known, if only as none
    bool is_whole = true;   // nothing failed that may be read in a minute
  };
  base::Task<Found> read_prices(std::string type);
  std::vector<std::string> names_sold() const;
  // Adds the types of before that these lack.
  void add_known(std::vector<TypeFacts>& types) const;

  Parts parts_;
  Ecs ecs_;
  SavedPrices saved_;
  std::vector<std::string> unread_;  // types, those first that were not asked for
  base::TimePoint all_again_{};      // when prices of all types are asked for again
};

}  // namespace millwright::cloud::alibaba
