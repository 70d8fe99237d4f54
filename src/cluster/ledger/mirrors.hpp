// Reads the ledger's mirror annotations, each text once. They count on NodeClaims alone: a kubelet
// may write on its own Node.
#pragma once

#include "cluster/node_table.hpp"
#include "millwright/cluster/ledger.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::cluster {

class Mirrors {
 public:
  using Problem = std::function<void(const std::string& message)>;
  using Clock = std::function<base::TimePoint()>;

  struct Facts {
    const Problem& problem;  // called when an annotation cannot be read
    const Clock& now;
    // What is read before the state is synced was written by an earlier process.
    const bool& synced;
    // No reservation that the program writes ends later than so long from now; nullopt: unknown.
    std::optional<base::Duration> longest_reservation;
  };

  // All outlive the mirrors.
  Mirrors(Ledger& ledger, Facts facts) : ledger_(ledger), facts_(facts) {}

  // `node_name` is empty while the claim has no node.
  void read(const model::NodeClaim& claim, const std::string& node_name);
  // The claim is gone, or another took its name.
  void forget(std::string_view claim);

 private:
  // Hashes of the texts read last: an event that repeats a text must not bring back what ended
  // since.
  struct Seen {
    std::size_t reservations = 0;
    std::size_t fence = 0;
    std::string fenced_node;
  };
  void read_reservations(const std::string& claim, const std::string& text,
                         const std::string& target);
  void read_fence(const std::string& claim, const std::string& text, const std::string& node);
  void report(const std::string& claim, std::string_view annotation, const base::Error& error);

  Ledger& ledger_;
  Facts facts_;
  std::map<std::string, Seen, std::less<>> seen_;  // by claim
};

}  // namespace millwright::cluster
