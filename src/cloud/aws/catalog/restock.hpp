// Makes offerings that were sold out available again when the time of their marks is over. Loop
// thread only.
#pragma once

#include "cloud/aws/catalog/catalog.hpp"
#include "millwright/base/task.hpp"

#include <stop_token>

namespace millwright::cloud::aws {

class Restock {
 public:
  Restock(base::Loop& loop, Catalog& catalog) : loop_(loop), catalog_(catalog), marked_(loop) {}

  // To be called after marks were set: the catalog has changed.
  void marked();
  base::Task<void> run(std::stop_token stop);

 private:
  base::Loop& loop_;
  Catalog& catalog_;
  base::Signal marked_;
};

}  // namespace millwright::cloud::aws
