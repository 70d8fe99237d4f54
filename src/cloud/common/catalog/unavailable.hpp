// Offerings to leave out for a while because the cloud answered that it has no capacity, and zones
// that the cluster is shifted away from. Loop thread only.
#pragma once

#include "millwright/base/time.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::cloud {

// A mark for a placement group, or one of its partitions, that is full: elsewhere there may be
// capacity. Or for one NodeClass, whose spec is to blame: others may get what it cannot.
struct MarkScope {
  std::string_view placement_group = {};
  int partition = 0;  // 0: all of them
  std::string_view node_class = {};
};

class UnavailableOfferings {
 public:
  static constexpr base::Duration kTtl = std::chrono::minutes(3);  // as Karpenter's on AWS

  // Marks end after `ttl`.
  explicit UnavailableOfferings(base::Duration ttl = kTtl) : ttl_(ttl) {}

  // An empty type or zone stands for all of them.
  void mark(std::string_view type, std::string_view zone, std::string_view capacity_type,
            base::TimePoint now, const MarkScope& scope = MarkScope());
  // True also for a wider mark: one of no placement group, or of all partitions of the group,
  // or of all NodeClasses.
  bool is_marked(std::string_view type, std::string_view zone, std::string_view capacity_type,
                 base::TimePoint now, const MarkScope& scope = MarkScope()) const;
  // Replaces the zones, by id, that the cluster is shifted away from, and until when. True when
  // that changed something.
  bool set_shifted(std::map<std::string, base::TimePoint, std::less<>> zones);
  bool is_shifted(std::string_view zone_id, base::TimePoint now) const;
  // Removes marks whose time is over. True when there were any.
  bool sweep(base::TimePoint now);
  // When the first mark ends; nullopt when there is none.
  std::optional<base::TimePoint> next_end() const;

 private:
  base::Duration ttl_;
  std::map<std::string, base::TimePoint, std::less<>> until_;
  std::map<std::string, base::TimePoint, std::less<>> shifted_until_;
};

}  // namespace millwright::cloud
