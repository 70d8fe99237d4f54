// Refreshes the catalog's instance types, and the zones that sell them, from EC2. Loop thread only.
#pragma once

#include "cloud/aws/calls/ec2.hpp"
#include "cloud/aws/catalog/catalog.hpp"
#include "millwright/base/log.hpp"

#include <stop_token>

namespace millwright::cloud::aws {

class TypeRefresh {
 public:
  TypeRefresh(Api& api, Catalog& catalog, base::Logger log)
      : loop_(api.loop()), ec2_(api), catalog_(catalog), log_(std::move(log)), known_(loop_) {}

  base::Task<void> run(std::stop_token stop);
  // Returns when the catalog is known, or after `longest`.
  base::Task<void> wait_until_known(base::Duration longest);

 private:
  base::Task<bool> refresh();

  base::Loop& loop_;
  Ec2 ec2_;
  Catalog& catalog_;
  base::Logger log_;
  base::Signal known_;
};

}  // namespace millwright::cloud::aws
