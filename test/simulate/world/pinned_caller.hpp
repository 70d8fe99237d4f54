// kube-scheduler's way to the Service: a connection stays with the endpoint that it was made to,
// and ends when it is refused, answered with 503, or not answered in time.
#pragma once

#include "millwright/sandbox/callers.hpp"
#include "simulate/world/world.hpp"

#include <map>
#include <string>

namespace millwright::test {

class PinnedCaller final : public sandbox::ExtenderCaller {
 public:
  // `scheduler`: its number, from 1.
  PinnedCaller(SimulatedWorld& world, int scheduler)
      : world_(world), scheduler_(scheduler), random_(world.random_.fork()) {}

  base::Task<base::Result<std::string>> call(std::string verb, std::string body) override;

 private:
  Replica* endpoint();
  // The nodes that the leader has closed, and since when.
  std::map<std::string, base::TimePoint> fences() const;

  SimulatedWorld& world_;
  int scheduler_;
  base::Random random_;
  Replica* pinned_ = nullptr;
};

}  // namespace millwright::test
