// Which fills of machines to buy, how often: the linear program "cover all pods of every lot with
// fills at least price", where a fill may be bought by the fraction. Fills are added as they are
// found; the dual prices, what a pod of each lot is worth, tell which are worth finding (column
// generation, Gilmore and Gomory).
//
//              fill 1   fill 2   fill 3                   a machine of row 7 for 0.21 with
//     lot a      3        ·        1       ≥ 17 pods      3 pods of lot a and 2 of lot b
//     lot b      2        5        ·       ≥ 40 pods      is one column
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace millwright::scheduling {

// Lot and how many of its pods; by lot.
using FillPods = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

class FillProgram {
 public:
  struct Column {
    double price = 0;
    FillPods pods;
  };

  // By lot: how many pods there are, and the price of a machine for one of them, which is where it
  // starts. Of the last `exact` lots there may not be too many.
  FillProgram(const std::vector<std::size_t>& pods, const std::vector<double>& alone,
              std::size_t exact = 0);

  void add(double price, FillPods pods);
  // To the optimum over the fills that it has, or until `work` is used up, of which it takes its
  // part.
  void solve(std::size_t& work);
  double price() const;
  // Of one pod; no fill that was added is worth more than its price.
  double value(std::size_t lot) const { return values_[lot]; }
  // The first ones are one pod alone each.
  const std::vector<Column>& columns() const { return columns_; }
  // How often each is bought, by column.
  std::vector<double> shares() const;

 private:
  std::size_t lots() const { return values_.size(); }
  // The column that saves most, a surplus of a lot after all others; false when none saves any.
  bool find_entering(std::size_t& column) const;
  bool pivot(std::size_t column);

  std::vector<Column> columns_;
  std::size_t exact_;
  std::vector<double> values_;
  std::vector<double> inverse_;     // of the basis, row by row
  std::vector<double> taken_;       // by row of the basis
  std::vector<std::size_t> basis_;  // column by row; kSurplus + lot: too many of the lot
  // Of the pivot: the column in terms of the basis, and where its line is not zero.
  std::vector<double> entering_;
  std::vector<std::size_t> filled_;
};

}  // namespace millwright::scheduling
