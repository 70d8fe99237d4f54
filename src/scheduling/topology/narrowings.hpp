// What a topology decision adds to a claim: "zone In [b]", "zone NotIn [a, c]". Each is made once
// per packing, so that pods that are decided alike share it.
#pragma once

#include "scheduling/topology/topology.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace millwright::scheduling {

struct Narrowing {
  struct Part {
    KeyId key;
    DomainSet domains;
    bool excluded = false;  // any but these; with all domains: none, the label is absent
  };
  std::uint32_t id = 0;  // apart from those of rungs
  std::vector<Part> parts;
  Requirements requirements;

  bool admits(KeyId key, std::int32_t domain) const;
};

class Narrowings {
 public:
  // Ids start after those of the rungs.
  Narrowings(const Topology& topology, std::uint32_t first_id)
      : topology_(topology), next_id_(first_id) {}

  // The same parts give the same object, whose address does not change.
  const Narrowing& of(std::span<const Narrowing::Part> parts);
  const Narrowing& one(KeyId key, std::int32_t domain);

 private:
  const Topology& topology_;
  std::uint32_t next_id_;
  std::deque<Narrowing> all_;
  std::map<std::vector<std::uint64_t>, const Narrowing*> known_;
  ById<KeyId, std::vector<const Narrowing*>> single_;  // by key, by domain
};

}  // namespace millwright::scheduling
