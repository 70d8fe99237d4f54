// The file in which an earlier process saved the prices that it learned: they serve until the cloud
// has answered. A file that cannot be read or written is warned of and done without. Loop thread
// only.
#pragma once

#include "cloud/common/catalog/prices.hpp"
#include "cloud/common/environment.hpp"
#include "millwright/base/log.hpp"

#include <string>

namespace millwright::cloud {

class SavedPrices {
 public:
  struct Parts {
    Prices& prices;
    ProcessEnvironment environment;
    std::string file;  // empty: nothing is saved
    base::Logger log;
  };
  explicit SavedPrices(Parts parts) : parts_(std::move(parts)) {}

  void load();
  void save();

 private:
  Parts parts_;
};

}  // namespace millwright::cloud
