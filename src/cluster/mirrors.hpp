// Reads the ledger's mirror annotations from NodeClaims and Nodes, each text once.
#pragma once

#include "cluster/node_table.hpp"
#include "cluster/pod_table.hpp"
#include "millwright/cluster/ledger.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace millwright::cluster {

class Mirrors {
 public:
  using Problem = std::function<void(const std::string& message)>;

  explicit Mirrors(Ledger& ledger) : ledger_(ledger) {}

  void read(const model::Node& node, const PodTable& pods, const Problem& problem);
  // `node_name` is empty while the claim has no node.
  void read(const model::NodeClaim& claim, const std::string& node_name, const PodTable& pods,
            const Problem& problem);
  // The object is gone, or another took its name.
  void forget(std::string_view kind, std::string_view name);

 private:
  // What was read last, by hash: an event that repeats it must not bring back what ended since.
  struct Seen {
    std::size_t holds = 0;
    std::size_t fence = 0;
    std::string target;
    std::string fenced_node;
  };
  void read(const std::string& source, const model::ObjectMeta& meta, const std::string& target,
            const std::string& fence_node, const PodTable& pods, const Problem& problem);
  void read_holds(const std::string& source, const std::string& text, const std::string& target,
                  const PodTable& pods, const Problem& problem);
  void read_fence(const std::string& source, const std::string& text, const std::string& node,
                  const Problem& problem);

  Ledger& ledger_;
  std::map<std::string, Seen, std::less<>> seen_;
};

}  // namespace millwright::cluster
