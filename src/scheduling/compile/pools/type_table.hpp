// One pool's instance types compiled to rows: bitsets per label value, offerings by kind (equal
// requirements: usually one zone with one capacity type). Immutable once built.
#pragma once

#include "millwright/scheduling/instance_type.hpp"
#include "scheduling/compile/pools/row_set.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::scheduling {

// An instance type; or, where offerings override capacity (Karpenter's allocatable groups), the
// part of a type whose offerings share one override.
struct TypeRow {
  const InstanceType* type = nullptr;
  std::optional<model::ResourceList> own_capacity;  // where its offerings override the type's
  model::ResourceList allocatable;

  const model::ResourceList& capacity() const {
    return own_capacity ? *own_capacity : type->capacity;
  }
};

// Available offerings with equal requirements.
struct OfferingKind {
  Requirements requirements;
  bool reserved = false;
  std::string reservation;  // which reservation a reserved kind draws from
  int reservation_capacity = 0;
  RowSet rows;                // those that sell it
  std::vector<double> price;  // by row, with what a node costs itself; meaningful for `rows` only
};

class TypeTable {
 public:
  TypeTable(InstanceTypes types, double node_overhead);

  // The list that it was compiled from.
  const InstanceTypes& types() const { return types_; }
  // Part of all its prices.
  double node_overhead() const { return node_overhead_; }
  std::size_t size() const { return rows_.size(); }
  const TypeRow& row(std::size_t index) const { return rows_[index]; }
  // All rows, by the names of their types.
  const std::vector<std::uint32_t>& by_name() const { return by_name_; }
  // All rows, by their least price where nothing is reserved, then by name.
  const std::vector<std::uint32_t>& by_price() const { return by_price_; }
  const std::vector<OfferingKind>& kinds() const { return kinds_; }

  // Rows whose own requirements intersect these; keys that a row does not define do not matter.
  RowSet admitted(const Requirement& requirement) const;
  RowSet admitted(const Requirements& requirements) const;
  // All values that some row lists for a key, sorted.
  std::vector<std::string_view> values(std::string_view key) const;
  // How many distinct values the rows list that the requirement admits, as minValues counts them.
  std::size_t distinct_values(const Requirement& requirement, const RowSet& rows) const;
  RowSet all() const { return RowSet::all(rows_.size()); }

 private:
  struct Key {
    RowSet undefined;                                     // rows that lack the key
    std::map<std::string, RowSet, std::less<>> by_value;  // rows that list the value
    std::vector<std::pair<Requirement, RowSet>> open;     // requirements other than In
  };
  void add_rows(const InstanceType& type);
  OfferingKind& kind_of(const InstanceType& type, const Offering& offering);
  void index_labels();
  void sort_rows();

  InstanceTypes types_;
  double node_overhead_;
  std::vector<TypeRow> rows_;
  std::vector<std::uint32_t> by_name_;
  std::vector<std::uint32_t> by_price_;
  std::map<std::string, Key, std::less<>> keys_;
  std::vector<OfferingKind> kinds_;
  std::map<std::string, std::size_t, std::less<>> kind_by_signature_;
  std::size_t last_kind_ = 0;
};

}  // namespace millwright::scheduling
