#include "scheduling/devices/device_amounts.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace millwright::scheduling {
namespace {

QueryMask bit_of(std::size_t query) {
  return QueryMask{1} << query;
}

// All queries that meet `mask` on devices, in a chain or directly.
QueryMask all_meeting(QueryMask mask, const std::set<QueryMask>& seen) {
  for (QueryMask before = 0; before != mask;) {
    before = mask;
    for (const QueryMask device : seen) {
      mask |= (device & mask) != 0 ? device : 0;
    }
  }
  return mask;
}

// The same within `set`: two parts that no device joins add up to what each says alone.
bool is_joined(QueryMask set, const std::set<QueryMask>& seen) {
  QueryMask reached = set & -set;
  for (QueryMask before = 0; before != reached;) {
    before = reached;
    for (const QueryMask device : seen) {
      reached |= (device & reached) != 0 ? device & set : 0;
    }
  }
  return reached == set;
}

bool same_devices(QueryMask a, QueryMask b, const std::set<QueryMask>& seen) {
  return std::all_of(seen.begin(), seen.end(),
                     [&](QueryMask device) { return ((device & a) != 0) == ((device & b) != 0); });
}

model::Quantity quantity_of(std::int64_t count) {
  return model::Quantity::from_units(count);
}

}  // namespace

DeviceAmounts::DeviceAmounts(const std::vector<std::string>& queries,
                             const std::set<QueryMask>& seen) {
  QueryMask done = 0;
  for (std::size_t query = 0; query < queries.size(); ++query) {
    if ((done & bit_of(query)) != 0) {
      continue;
    }
    const QueryMask meeting = all_meeting(bit_of(query), seen);
    done |= meeting;
    if (static_cast<std::size_t>(std::popcount(meeting)) > kMostMeeting) {
      tangled_ |= meeting;
    } else {
      add_sets(meeting, queries, seen);
    }
  }
}

void DeviceAmounts::add_sets(QueryMask meeting, const std::vector<std::string>& queries,
                             const std::set<QueryMask>& seen) {
  std::vector<QueryMask> sets;
  for (QueryMask set = meeting; set != 0; set = (set - 1) & meeting) {
    if (is_joined(set, seen)) {
      sets.push_back(set);
    }
  }
  for (const QueryMask set : sets) {
    const bool said_by_larger = std::any_of(sets.begin(), sets.end(), [&](QueryMask other) {
      return other != set && (other & set) == set && same_devices(set, other, seen);
    });
    if (said_by_larger) {
      continue;
    }
    Kind kind{.queries = set, .name = "devices of "};
    for (std::size_t query = 0; query < queries.size(); ++query) {
      if ((set & bit_of(query)) != 0) {
        kind.name += (kind.name.ends_with(' ') ? "" : " or ") + queries[query];
      }
    }
    names_.insert(kind.name);
    kinds_.push_back(std::move(kind));
  }
}

model::ResourceList DeviceAmounts::offered(const std::vector<QueryMask>& devices) const {
  model::ResourceList list;
  for (const Kind& kind : kinds_) {
    const auto count = std::count_if(devices.begin(), devices.end(), [&](QueryMask device) {
      return (device & kind.queries) != 0;
    });
    if (count > 0) {
      list.emplace(kind.name, quantity_of(count));
    }
  }
  return list;
}

model::ResourceList DeviceAmounts::asked(const DeviceCounts& counts) const {
  model::ResourceList list;
  for (const Kind& kind : kinds_) {
    std::int64_t sum = 0;
    for (const auto& [query, count] : counts) {
      sum += (kind.queries & bit_of(query)) != 0 ? count : 0;
    }
    if (sum > 0) {
      list.emplace(kind.name, quantity_of(sum));
    }
  }
  return list;
}

}  // namespace millwright::scheduling
