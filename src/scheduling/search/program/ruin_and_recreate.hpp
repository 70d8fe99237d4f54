// Makes a plan cheaper by taking a few of its fills apart and packing their pods again, as long as
// that saves something and the work allows (ruin and recreate, Schrimpf et al.).
//
// Which fills? What a fill costs more than its pods are worth is lost. All that a plan costs more
// than the bound is lost on some fill, so those with the largest losses are taken apart first, with
// others that their pods could be on.
#pragma once

#include "scheduling/search/program/fill_search.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millwright::scheduling {

class RuinAndRecreate {
 public:
  explicit RuinAndRecreate(const FillSearch::Market& market) : market_(market) {}

  // Puts cheaper fills in place of some. They hold the same pods. Returns whether it found any.
  // Ends before `work` is spent when it saves too little for what it does.
  bool run(std::vector<Fill>& fills, std::size_t work);

 private:
  bool run_stretch(std::vector<Fill>& fills, std::size_t& work);
  double cost_of(const std::vector<Fill>& fills) const;
  double loss(const Fill& fill) const;
  bool loses_more(const Fill& a, const Fill& b) const;
  // Those that lose most come first. recreate() keeps the order: there may be many.
  void rank(std::vector<Fill>& fills) const;
  // The fill at `seed` and others, as places in `fills`, in ascending order.
  std::vector<std::size_t> choose(const std::vector<Fill>& fills, std::size_t seed);
  bool recreate(std::vector<Fill>& fills, const std::vector<std::size_t>& ruined,
                std::size_t& work) const;
  std::uint32_t random();

  const FillSearch::Market market_;
  std::uint32_t state_ = 2463534242;  // of the generator: the same numbers for every plan
};

}  // namespace millwright::scheduling
