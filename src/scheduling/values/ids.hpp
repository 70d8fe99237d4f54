// Ids of the things in one problem. Each is an index into the list that owns the thing, as a type
// of its own: a NodeId cannot be passed where a ClaimId is wanted, nor index what is kept by claim.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace millwright::scheduling {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : index_(static_cast<std::uint32_t>(index)) {}

  // In place of an id where there is no such thing.
  static constexpr Id none() { return Id(std::numeric_limits<std::uint32_t>::max()); }

  constexpr std::uint32_t index() const { return index_; }
  constexpr Id& operator++() {
    ++index_;
    return *this;
  }
  friend constexpr auto operator<=>(const Id&, const Id&) = default;

 private:
  std::uint32_t index_ = 0;
};

using PodId = Id<struct PodTag>;                      // PodClasses::pods
using ClaimId = Id<struct ClaimTag>;                  // ClaimDrafts::claims()
using NodeId = Id<struct NodeTag>;                    // ExistingNodes::nodes()
using TopologyGroupId = Id<struct TopologyGroupTag>;  // TopologyGroups::groups()
using KeyId = Id<struct KeyTag>;                      // TopologyGroups::keys(), Topology::keys()
using ShapeId = Id<struct ShapeTag>;                  // ClaimShapes
using LotId = Id<struct LotTag>;                      // PodLots::lots()
using PoolId = Id<struct PoolTag>;                    // CompiledProblem::pools

// A vector with one element per id.
template <class Key, class T>
class ById : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  ById() = default;
  explicit ById(std::vector<T> items) : std::vector<T>(std::move(items)) {}

  decltype(auto) operator[](Key id) { return std::vector<T>::operator[](id.index()); }
  decltype(auto) operator[](Key id) const { return std::vector<T>::operator[](id.index()); }
  // The id that the next element added will have.
  Key end_id() const { return Key(this->size()); }
};

}  // namespace millwright::scheduling

template <class Tag>
struct std::hash<millwright::scheduling::Id<Tag>> {
  std::size_t operator()(millwright::scheduling::Id<Tag> id) const noexcept {
    return std::hash<std::uint32_t>()(id.index());
  }
};
