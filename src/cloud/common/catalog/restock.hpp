// Makes offerings that were sold out available again when the time of their marks is over. Loop
// thread only.
#pragma once

#include "cloud/common/catalog/unavailable.hpp"
#include "millwright/base/task.hpp"

#include <functional>
#include <stop_token>

namespace millwright::cloud {

class Restock {
 public:
  // `changed` is called whenever the catalog is another for it: marks were set, or are over.
  Restock(base::Loop& loop, UnavailableOfferings& unavailable, std::function<void()> changed)
      : loop_(loop), unavailable_(unavailable), changed_(std::move(changed)), marked_(loop) {}

  // To be called after marks were set.
  void marked();
  base::Task<void> run(std::stop_token stop);

 private:
  base::Loop& loop_;
  UnavailableOfferings& unavailable_;
  std::function<void()> changed_;
  base::Signal marked_;
};

}  // namespace millwright::cloud
