// NodeClaims on their way into the API server. Decisions are made from snapshots, which show a
// claim once the API server has answered: what was bought after a decision's snapshot, or is being
// bought, is known here only.
#pragma once

#include "millwright/base/time.hpp"
#include "millwright/model/resources.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::controllers {

// Loop thread only.
class ClaimsInCreation {
 public:
  // How many claims the snapshots have come to show, whose names came from here.
  using Shown = std::uint64_t;

  struct Purchase {
    std::string name;
    std::string node_pool;
    std::string decision;        // a plan or command; what it buys was planned together
    model::ResourceList charge;  // scheduling::PlannedClaim::limit_charge
  };

  // Of a snapshot that is taken now.
  Shown shown() const { return shown_; }

  void begin(Purchase purchase);
  // The claim exists, and snapshots show it from now on.
  void succeed(std::string_view name, base::TimePoint now);
  void fail(std::string_view name);
  bool contains(std::string_view name) const;

  // A decision was made from a snapshot of that time. The limit of the pool that its claims and
  // those of others, bought since or being bought, would exceed together; `left` is what the
  // decision left of the limits. nullopt where it is none.
  std::optional<std::string> exceeded_limit(std::string_view node_pool, std::string_view decision,
                                            Shown snapshot, const model::ResourceList& left) const;

 private:
  struct Recent {
    Purchase purchase;
    Shown shown;
    base::TimePoint since;
  };

  std::map<std::string, Purchase, std::less<>> in_creation_;  // by name
  std::deque<Recent> recent_;  // shown by now, the oldest first; those that limits count
  Shown shown_ = 0;
};

}  // namespace millwright::controllers
