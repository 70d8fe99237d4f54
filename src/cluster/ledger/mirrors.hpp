// Reads the ledger's mirror annotations, each text once: reservations from NodeClaims, fences from
// NodeClaims and Nodes.
#pragma once

#include "cluster/node_table.hpp"
#include "millwright/cluster/ledger.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace millwright::cluster {

class Mirrors {
 public:
  using Problem = std::function<void(const std::string& message)>;

  using Clock = std::function<base::TimePoint()>;

  // All outlive the mirrors. `problem` is called when an annotation cannot be read. What is read
  // before the state is synced was written by an earlier process.
  Mirrors(Ledger& ledger, const Problem& problem, const Clock& now, const bool& synced)
      : ledger_(ledger), problem_(problem), now_(now), synced_(synced) {}

  void read(const model::Node& node);
  // `node_name` is empty while the claim has no node.
  void read(const model::NodeClaim& claim, const std::string& node_name);
  // The object is gone, or another took its name.
  void forget(std::string_view kind, std::string_view name);

 private:
  // Hashes of the texts read last: an event that repeats a text must not bring back what ended
  // since.
  struct Seen {
    std::size_t reservations = 0;
    std::size_t fence = 0;
    std::string fenced_node;
  };
  // Where an object's annotations count.
  struct Place {
    std::string target;      // of its reservations; empty: it keeps none
    std::string fence_node;  // empty: the object has no node
  };
  void read(const std::string& source, const model::ObjectMeta& meta, const Place& place);
  void read_reservations(const std::string& source, const std::string& text,
                         const std::string& target);
  void read_fence(const std::string& source, const std::string& text, const std::string& node);
  void report(const std::string& source, std::string_view annotation, const base::Error& error);

  Ledger& ledger_;
  const Problem& problem_;
  const Clock& now_;
  const bool& synced_;
  std::map<std::string, Seen, std::less<>> seen_;
};

}  // namespace millwright::cluster
