// The requirements algebra: what a set of label requirements admits, and how two sets combine.
// Operator for operator as Karpenter's pkg/scheduling Requirement and Requirements.
#pragma once

#include "millwright/model/labels.hpp"
#include "millwright/model/pod.hpp"
#include "millwright/model/selector.hpp"
#include "millwright/scheduling/shared_list.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::scheduling {

// One key's admissible values: a finite set or the complement of one, within optional inclusive
// integer bounds. Immutable after construction but for min_values.
class Requirement {
 public:
  // Keys are normalised (beta labels to stable). Gt MaxInt becomes DoesNotExist. Values that an
  // operator cannot use (Gt with text) admit nothing.
  Requirement(std::string_view key, model::Operator op, std::span<const std::string> values = {},
              std::optional<std::int32_t> min_values = std::nullopt);
  static Requirement in(std::string_view key, std::vector<std::string> values);

  const std::string& key() const { return key_; }
  bool is_complement() const { return complement_; }
  // Sorted; excluded values when is_complement().
  const std::vector<std::string>& values() const { return values_.list(); }
  std::optional<std::int64_t> gte() const { return gte_; }
  std::optional<std::int64_t> lte() const { return lte_; }
  std::optional<std::int32_t> min_values() const { return min_values_; }
  void set_min_values(std::optional<std::int32_t> value) { min_values_ = value; }

  // In, NotIn, Exists or DoesNotExist; bounds count as Exists.
  model::Operator op() const;
  // NotIn and DoesNotExist: a thing without the key meets them. Not so once intersected with an
  // operator that wants the key to be there: Karpenter forgets that ("Exists and NotIn [a]" is
  // plain "NotIn [a]" to it) and then counts on nodes that kube-scheduler turns down.
  bool admits_absence() const;
  // Nothing meets it, not even absence: "In [a] and In [b]", "Gt text".
  bool is_impossible() const { return must_exist_ && !complement_ && values_.empty(); }
  bool has(std::string_view value) const;
  Requirement intersection(const Requirement& other) const;
  bool has_intersection(const Requirement& other) const;
  // The selector form; bounds are items of their own.
  std::vector<model::SelectorRequirement> to_selectors() const;
  // "key In [a b c d e and 3 others] minValues 2"
  std::string to_string() const;
  friend bool operator==(const Requirement&, const Requirement&) = default;

 private:
  Requirement() = default;
  std::string key_;
  bool complement_ = false;
  bool must_exist_ = false;
  SharedList<std::string> values_;
  std::optional<std::int64_t> gte_;
  std::optional<std::int64_t> lte_;
  std::optional<std::int32_t> min_values_;
};

enum class AllowUndefined : std::uint8_t { None, WellKnown };

// Requirements by key, sorted. Adding to a present key intersects.
class Requirements {
 public:
  Requirements() = default;
  explicit Requirements(std::span<const model::SelectorRequirement> selectors);
  // Every label as In.
  static Requirements from_labels(const model::StringMap& labels);

  void add(Requirement requirement);
  void add(const Requirements& others);
  void replace(Requirement requirement);
  void remove(std::string_view key);
  const Requirement* find(std::string_view key) const;
  // A missing key is Exists.
  Requirement get(std::string_view key) const;
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  std::size_t size() const { return items_.size(); }
  bool has_min_values() const;

  // The reason why a thing with these requirements cannot serve `wanted`; empty when it can.
  // Keys of `wanted` that are absent here must be well known (if allowed), NotIn or DoesNotExist.
  std::string incompatibility(const Requirements& wanted, AllowUndefined allow) const;
  bool compatible(const Requirements& wanted, AllowUndefined allow) const;
  // Shared keys only.
  bool intersects(const Requirements& other) const;
  std::vector<model::SelectorRequirement> to_selectors() const;
  std::string to_string() const;
  friend bool operator==(const Requirements&, const Requirements&) = default;

 private:
  std::vector<Requirement> items_;
};

// nodeSelector, the heaviest preferred and the first required node affinity term.
Requirements pod_requirements(const model::PodSpec& spec);
// The same without preferences.
Requirements strict_pod_requirements(const model::PodSpec& spec);

}  // namespace millwright::scheduling
