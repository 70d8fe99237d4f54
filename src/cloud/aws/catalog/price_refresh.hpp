// Refreshes the catalog's prices from AWS, and saves them in a file for the next start. Loop thread
// only.
#pragma once

#include "cloud/aws/calls/ec2.hpp"
#include "cloud/aws/catalog/catalog.hpp"
#include "cloud/common/catalog/saved_prices.hpp"
#include "millwright/base/log.hpp"

#include <stop_token>
#include <string>

namespace millwright::cloud::aws {

class PriceRefresh {
 public:
  struct Parts {
    Api& api;
    Catalog& catalog;
    ProcessEnvironment environment;
    std::string cache_file;  // empty: nothing is saved
    bool isolated_vpc;       // the Pricing API cannot be reached
    base::Logger log;
  };
  explicit PriceRefresh(Parts parts)
      : parts_(std::move(parts)),
        ec2_(parts_.api),
        saved_({.prices = parts_.catalog.prices(),
                .environment = parts_.environment,
                .file = parts_.cache_file,
                .log = parts_.log}) {}

  // Reads the prices that an earlier process saved.
  void load() { saved_.load(); }
  base::Task<void> run(std::stop_token stop);

 private:
  base::Task<bool> refresh();

  Parts parts_;
  Ec2 ec2_;
  SavedPrices saved_;
};

}  // namespace millwright::cloud::aws
