// Scheduling attempts in flight, indexed so that one answer looks at no more of them than matter to
// it. Guarded by the ledger's mutex for attempts; bounded in memory (Ledger::kDetailedPasses and
// the constants after it).
#pragma once

#include "cluster/ledger/earlier_passes.hpp"
#include "millwright/base/hash_index.hpp"
#include "millwright/cluster/ledger.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::cluster {

class Attempts {
 public:
  void begin(std::string_view pod_uid, base::TimePoint now, bool seen);
  void put(Pass pass);
  // The pod's attempt is followed by another, or by a refusal of it everywhere.
  void give_way(std::string_view pod_uid, base::TimePoint now);
  // Nothing can come of the pod's attempts any more.
  void end_all(std::string_view pod_uid);
  // The pod is bound or gone, and the snapshot will say so.
  void settle(std::string_view pod_uid);
  // kube-scheduler reports that it did not place the pod.
  void fail(std::string_view pod_uid);
  void forget_old(base::TimePoint now);
  void compare_unseen(const Ledger::FindPod& find);
  // Whether the pod has an attempt that unseen pods leave alone.
  bool has_seen(std::string_view pod_uid) const;

  PassPtr of(std::string_view pod_uid) const;
  std::vector<PassPtr> alive(base::TimePoint now) const;
  std::vector<std::string> in_doubt(std::uint64_t node_hash, base::TimePoint now) const;
  bool any_in_doubt(std::uint64_t node_hash, base::TimePoint now) const;

  struct OfGroup {
    std::set<PassPtr> passes;
    Crowd crowd;
  };
  std::uint64_t settled() const { return settled_; }
  const std::map<std::string, OfGroup, std::less<>>& by_group() const { return by_group_; }
  const std::map<model::ResourceList, Crowd>& by_requests() const { return by_requests_; }
  std::uint32_t number_of(std::uint64_t node_hash) const { return numbers_.find(node_hash); }

 private:
  using ByPod = std::map<std::string, PassPtr, std::less<>>;
  void end(std::string_view pod_uid);
  void remove(ByPod::iterator known);
  bool has_room_for(const Pass& pass);
  void add_to_index(const PassPtr& pass);
  void add_to_crowd(Crowd& crowd, const Pass& pass, const std::vector<std::uint32_t>& nodes);
  void remove_from_index(const PassPtr& pass);
  const std::vector<std::uint32_t>& numbers_of(const Pass& pass);
  void number_anew();

  ByPod by_pod_;
  EarlierPasses earlier_;
  std::set<std::pair<base::TimePoint, std::string>> by_end_;  // each pass's end and pod
  std::set<std::pair<base::TimePoint, std::string>> unseen_;  // begin and pod
  std::map<std::string, OfGroup, std::less<>> by_group_;
  std::map<model::ResourceList, Crowd> by_requests_;
  base::HashIndex numbers_;  // of nodes
  std::size_t most_numbers_ = 1024;
  std::size_t named_ = 0;     // nodes, by all passes together
  std::size_t counters_ = 0;  // of all crowds
  std::vector<std::uint32_t> scratch_;
  std::uint64_t settled_ = 0;
  base::TimePoint newest_;  // that anybody told of
};

}  // namespace millwright::cluster
