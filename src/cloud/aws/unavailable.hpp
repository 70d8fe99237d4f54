// Offerings that EC2 said it cannot fill now (insufficient capacity errors), for a while, and zones
// that the cluster is shifted away from.
#pragma once

#include "millwright/base/time.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::cloud::aws {

// What is full is a placement group, or one of its partitions: elsewhere there may be capacity.
struct MarkScope {
  std::string_view placement_group = {};
  int partition = 0;  // 0: all of them
};

class UnavailableOfferings {
 public:
  static constexpr base::Duration kTtl = std::chrono::minutes(3);  // as Karpenter's

  // An empty type or zone stands for all of them.
  void mark(std::string_view type, std::string_view zone, std::string_view capacity_type,
            base::TimePoint now, const MarkScope& scope = MarkScope());
  // Also by a wider mark: of any placement group, of any partition of the group.
  bool is_marked(std::string_view type, std::string_view zone, std::string_view capacity_type,
                 base::TimePoint now, const MarkScope& scope = MarkScope()) const;
  // Zones, by id, that a zonal shift leads away from, until when; all that there are. True when
  // that was news.
  bool set_shifted(std::map<std::string, base::TimePoint, std::less<>> zones);
  bool is_shifted(std::string_view zone_id, base::TimePoint now) const;
  // Forgets what is over. True when something was.
  bool sweep(base::TimePoint now);
  // When the first mark ends; nullopt when there is none.
  std::optional<base::TimePoint> next_end() const;

 private:
  std::map<std::string, base::TimePoint, std::less<>> until_;
  std::map<std::string, base::TimePoint, std::less<>> shifted_until_;
};

}  // namespace millwright::cloud::aws
