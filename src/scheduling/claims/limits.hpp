// NodePool limits while planning. A claim's size is not known until the cloud has chosen, so each
// is charged the largest of its instance types in every limited resource, as Karpenter does.
#pragma once

#include "scheduling/compile/pools/pool_template.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::scheduling {

// One pool's limits and what counts against them.
class Limits {
 public:
  Limits() = default;
  Limits(const PoolTemplate& pool, const Problem& problem);

  bool limited() const { return max_nodes_.has_value() || !resources_.empty(); }
  // Takes out the rows that would exceed a limit.
  void keep_within(RowSet& rows) const;
  bool nodes_exhausted() const { return max_nodes_ && nodes_ >= *max_nodes_; }
  void charge(const RowSet& rows);
  void refund(const RowSet& rows);
  // Charged as `before`, now only `after` can be bought.
  void recharge(const RowSet& before, const RowSet& after);
  // Of `rows`, those no larger than `row` in any limited resource.
  RowSet no_larger_than(std::size_t row, RowSet rows) const;

  // What a claim that may become any of these rows is charged, in every limited resource.
  model::ResourceList charge_of(const RowSet& rows) const;
  // Below zero where more is used than allowed.
  model::ResourceList left() const;

  struct Shortage {
    std::string_view resource;
    model::Quantity limit;
    model::Quantity needed;  // the limit that would do
  };
  // What keeps `row` out; empty when nothing does.
  std::vector<Shortage> shortages(std::size_t row) const;

 private:
  struct Resource {
    std::string name;
    std::int64_t limit = 0;
    std::int64_t used = 0;
    std::vector<std::int64_t> by_row;
  };
  void count(const NodeRecord& node, const PoolTemplate& pool);
  std::int64_t largest(const Resource& resource, const RowSet& rows) const;

  std::vector<Resource> resources_;
  std::optional<std::int64_t> max_nodes_;
  std::int64_t nodes_ = 0;
};

}  // namespace millwright::scheduling
